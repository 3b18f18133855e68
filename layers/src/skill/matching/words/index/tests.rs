//! Which of several skills the words of a text fit, and which fits better.

use super::*;
use crate::skill::{SkillId, SkillSource, SkillSourceKind};

/// A skill of this id, and what it says of itself.
type Said<'a> = (&'a str, &'a str);

fn summaries<'a>(all: impl IntoIterator<Item = Said<'a>>) -> Vec<SkillSummary> {
    let source = || SkillSource::new(SkillSourceKind::Bundled, "test");
    let summary = |(id, description)| SkillSummary::new(SkillId::new(id).unwrap(), description, source());
    all.into_iter().map(summary).collect()
}
/// What `text` is worth to each of the skills.
fn scores<'a>(all: impl IntoIterator<Item = Said<'a>>, text: &str) -> Vec<f32> {
    let summaries = summaries(all);
    let (words, typed) = (Words::of(&summaries), Typed::of(text));
    let fits = words.fits(&typed);
    (0..).zip(&summaries).map(|(skill, _)| fits.of(skill).map_or(0.0, |fit| fit.score)).collect()
}

#[test]
fn each_skill_that_says_a_word_is_told_it_as_the_reason() {
    let ids: Vec<String> = (0..9).map(|n| format!("gizmo-x{n}")).collect();
    let summaries = summaries(ids.iter().map(|id| (&**id, "")));
    let (words, typed) = (Words::of(&summaries), Typed::of("gizmo"));
    let fits = words.fits(&typed);
    assert_eq!(fits.iter().count(), 9);
    for fit in fits.iter() {
        let why: Vec<&str> = fits.why(fit).map(|(word, ..)| word).collect();
        assert_eq!(why, ["gizmo"], "of skill {}", fit.skill);
    }
}

#[test]
fn what_a_skill_is_not_for_speaks_against_it_though_its_name_has_the_word() {
    let [denies, says] = scores([("x1-gizmo-kit", "Not for a gizmo."), ("x2-gizmo-kit", "")], "a gizmo kit")[..] else { panic!() };
    assert!(says > denies && denies > 0.0, "{says} {denies}");
}

#[test]
fn saying_twice_what_a_skill_is_or_is_not_for_makes_no_difference() {
    let same = |a: f32, b: f32| a > 0.0 && (a - b).abs() < 1e-6;
    let denies = [("x1-gizmo-kit", "Not for a gizmo."), ("x2-gizmo-kit", "Not for a gizmo. Never use for gizmos.")];
    let [once, twice] = scores(denies, "a gizmo kit")[..] else { panic!() };
    assert!(same(once, twice), "{once} {twice}");
    let once = scores([("gizmo-kit", "Turns.")], "gizmo")[0];
    let twice = scores([("gizmo-kit", "Turns a gizmo. It is a good gizmo.")], "gizmo")[0];
    assert!(same(once, twice), "no skill is one of many that say the word by itself: {once} {twice}");
}

#[test]
fn what_a_text_says_besides_leaves_the_more_unexplained_the_more_it_names_a_thing() {
    let ids: Vec<String> = (0..40).map(|n| format!("x{n}")).collect();
    let says = |n: usize| match n {
        0 => "Turns a gizmo.",
        1 => "Turns a lathe.",
        // A widget is spoken of by most.
        2..34 => "Turns a widget.",
        _ => "Turns.",
    };
    let beside = |text: &str| scores((0..).zip(&ids).map(|(n, id)| (&**id, says(n))), &format!("a gizmo {text}"))[0];
    let texts = ["lathe", "zyzzyva", "widget", "file", ""];
    let worth = texts.map(beside);
    // What another skill alone says, what none says, what many say, what many tasks share, and nothing.
    assert!(worth[0] > 0.0 && worth.is_sorted_by(|less, more| less < more), "{texts:?}: {worth:?}");
    assert!(beside("file, list and line") > beside("zyzzyva"), "three words that many tasks share are less than a name");
}

#[test]
fn a_word_is_taken_for_a_slip_in_a_short_text_and_where_many_tasks_do_not_share_it() {
    let is_found = |text: &str| scores([("brunch-kit", "")], text)[0] > 0.0;
    assert!(is_found("make a brunhc"));
    assert!(!is_found("make a branch"), "that is what it says");
    let others = |count: usize| (0..count).map(|n| format!("x{n}")).collect::<Vec<_>>().join(" ");
    for (count, matches) in [(SHORT - 1, true), (SHORT, false)] {
        assert_eq!(is_found(&format!("{} brunhc", others(count))), matches, "beside {count} others");
        assert!(is_found(&format!("{} brunch", others(count))), "{count}");
    }
}

#[test]
fn what_some_hundreds_of_skills_all_say_is_worth_no_telling() {
    let ids: Vec<String> = (0..300).map(|n| format!("gizmo-x{n}")).collect();
    let worth = scores(ids.iter().map(|id| (&**id, "")), "gizmo");
    assert!(worth.iter().all(|score| *score < super::super::super::WORTH_TELLING), "{}", worth[0]);
}

#[test]
fn what_very_many_skills_say_and_more_than_an_eighth_of_them_finds_none() {
    let many = 8 * (COMMON + 2);
    let ids: Vec<String> = (0..many).map(|n| format!("x{n}")).collect();
    for (say, all, is_found) in
        [(COMMON, 2 * COMMON, true), (COMMON + 1, 2 * COMMON, false), (COMMON + 2, many, true), (COMMON + 3, many, false)]
    {
        let said = ids[..all].iter().enumerate().map(|(n, id)| (&**id, if n < say { "Turns a gizmo." } else { "" }));
        assert_eq!(scores(said, "gizmo")[0] > 0.0, is_found, "{say} of {all}");
    }
}
