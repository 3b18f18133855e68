//! The catalog under every limit, as XML, and what is told of a change.

use super::*;
use crate::skill::{SkillSource, SkillSourceKind, SkillSummary};
use crate::text::Limit;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

fn skill(id: &str, description: &str) -> Skill {
    let source = SkillSource::new(SkillSourceKind::User, "user-config:skills");
    let mut summary = SkillSummary::new(SkillId::new(id).unwrap(), description, source);
    summary.location = format!("/home/me/R&D skills/{id}/SKILL.md");
    Skill::new(summary, String::new())
}
fn catalog(skills: impl IntoIterator<Item = Skill>, format: CatalogFormat) -> Option<Catalog> {
    Catalog::new(&Skills::new(skills, vec![]), &CatalogOptions { format, ..CatalogOptions::default() })
}
fn bytes(n: usize) -> Room<'static> {
    Room::UNLIMITED.with(Limit::Bytes(n))
}
/// The ids in a catalog, and how many are said to be left out; panics where it is no XML.
fn read(text: &str) -> (Vec<String>, usize) {
    use quick_xml::events::Event;
    let (mut ids, mut omitted, mut depth, mut in_id) = (vec![], 0, 0, false);
    let begin = text.find("<available_skills>").expect("a catalog begins");
    let mut reader = quick_xml::Reader::from_str(&text[begin..]);
    let count = |tag: &quick_xml::events::BytesStart<'_>| {
        let count = tag.try_get_attribute("count").unwrap().expect("a count");
        count.value.parse::<usize>().unwrap()
    };
    loop {
        match reader.read_event().expect("it is well-formed") {
            Event::Start(tag) => {
                depth += 1;
                in_id = tag.name().as_ref() == "id";
                if tag.name().as_ref() == "omitted" {
                    omitted = count(&tag);
                }
            }
            Event::Empty(tag) => omitted = count(&tag),
            Event::End(_) => (depth, in_id) = (depth - 1, false),
            Event::Text(text) if in_id => ids.push(text.to_string()),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "each element is closed");
    (ids, omitted)
}

#[test]
fn a_catalog_reads_as_specified() {
    let text = catalog([skill("rust-debugging", "Diagnose <Rust> & co")], CatalogFormat::Xml).unwrap().whole;
    assert!(text.ends_with(
        "<available_skills>\n  <skill>\n    <id>rust-debugging</id>\n    <name>rust-debugging</name>\n    \
         <description>Diagnose &lt;Rust&gt; &amp; co</description>\n    \
         <location>/home/me/R&amp;D skills/rust-debugging/SKILL.md</location>\n    <source>user-config:skills</source>\n  \
         </skill>\n</available_skills>"
    ));
}

#[test]
fn bundled_files_stand_in_a_summary_that_asks_for_them() {
    let mut with_files = skill("a", "Text");
    let resources = &mut Arc::make_mut(&mut with_files.summary).resources;
    resources.scripts = vec!["run.sh".into(), "a<b>.py".into()];
    resources.references = vec!["api.md".into()];
    let text = |include_resources: bool, mode: CatalogMode| {
        let options = CatalogOptions { mode, include_resources, ..CatalogOptions::default() };
        Catalog::new(&Skills::new([with_files.clone()], vec![]), &options).unwrap().whole
    };
    let files = "    <scripts>run.sh, a&lt;b&gt;.py</scripts>\n    <references>api.md</references>\n  </skill>";
    assert!(text(true, CatalogMode::Summary).contains(files));
    assert!(!text(false, CatalogMode::Summary).contains("<scripts>"));
    assert!(!text(true, CatalogMode::NamesOnly).contains("<scripts>"));
}

#[test]
fn skills_of_a_brief_source_are_a_name_and_a_description_alone() {
    let mut brief = skill("b", "Does <b>");
    let summary = Arc::make_mut(&mut brief.summary);
    (summary.name, summary.source) =
        ("B & b".into(), Arc::new(SkillSource { label: "repo:.brute/skills".into(), ..(*summary.source).clone() }));
    let all = Skills::new([skill("a", "Does a"), brief], vec![]);
    let options = CatalogOptions {
        include_keywords: true,
        include_resources: true,
        brief_sources: BTreeSet::from(["repo:.brute/skills".to_owned()]),
        ..CatalogOptions::default()
    };
    let in_format = |format| Catalog::new(&all, &CatalogOptions { format, ..options.clone() }).unwrap();
    let xml = in_format(CatalogFormat::Xml);
    let alone = "  <skill>\n    <name>B &amp; b</name>\n    <description>Does &lt;b&gt;</description>\n  </skill>\n</available_skills>";
    assert!(xml.whole.ends_with(alone) && xml.whole.contains("<id>a</id>"), "{}", xml.whole);
    let lines = in_format(CatalogFormat::Lines).whole;
    assert!(lines.ends_with("\n- a: Does a (/home/me/R&amp;D skills/a/SKILL.md)\n- B &amp; b: Does &lt;b&gt;"), "{lines}");
    // What is shown of it least is its name.
    let names = Catalog::new(&all, &CatalogOptions { mode: CatalogMode::NamesOnly, ..options.clone() }).unwrap().whole;
    assert!(names.ends_with("  <skill>\n    <name>B &amp; b</name>\n  </skill>\n</available_skills>"), "{names}");
    for limit in 0..xml.whole.len() {
        let fitted = xml.fit(&bytes(limit));
        let shown = fitted.text.matches("<skill>").count();
        assert!(fitted.text.is_empty() || shown + fitted.items_left_out == 2);
        assert!(fitted.text.is_empty() || fitted.items_left_out > 0 || fitted.text.contains("<name>B &amp; b</name>"), "{}", fitted.text);
    }
}

#[test]
fn no_skill_to_show_is_no_catalog() {
    let mut disabled = skill("a", "");
    Arc::make_mut(&mut disabled.summary).disabled = true;
    let mut hidden = skill("b", "");
    Arc::make_mut(&mut hidden.summary).hidden = true;
    let mut manual = skill("c", "");
    Arc::make_mut(&mut manual.summary).visibility = SkillVisibility::Manual;
    assert!(catalog([disabled, hidden, manual], CatalogFormat::Xml).is_none());
    assert!(catalog([], CatalogFormat::Xml).is_none());
}

#[test]
fn every_skill_loses_some_before_one_loses_all() {
    let all = |n: usize| (0..n).map(|n| skill(&format!("skill-{n:02}"), &"word ".repeat(60)));
    let (catalog, smaller) = (catalog(all(63), CatalogFormat::Xml).unwrap(), catalog(all(42), CatalogFormat::Xml).unwrap());
    let fitted = catalog.fit(&bytes(smaller.whole.len())).text.into_owned();
    assert_eq!(read(&fitted), ((0..63).map(|n| format!("skill-{n:02}")).collect(), 0));
    let descriptions: Vec<&str> = fitted.lines().filter(|line| line.contains("<description>")).collect();
    assert_eq!(descriptions.len(), 63);
    assert!(descriptions.iter().all(|line| *line == descriptions[0] && line.contains("word…")));
}

#[test]
fn skills_of_the_lowest_precedence_go_first_and_are_counted() {
    let skills = (0..1000).map(|n| skill(&format!("skill-{:03}", (n * 7) % 1000), "A description"));
    let catalog = catalog(skills, CatalogFormat::Xml).unwrap();
    let fitted = catalog.fit(&bytes(8000));
    let (ids, omitted) = read(&fitted.text);
    assert!(ids.len() > 50 && ids.len() + omitted == 1000 && fitted.items_left_out == omitted);
    assert!(ids.contains(&"skill-007".to_owned()), "the second in precedence stays");
}

#[test]
fn of_a_changed_catalog_only_what_is_new_is_told() {
    for format in [CatalogFormat::Xml, CatalogFormat::Lines] {
        let of = |skills: &[(&str, &str)]| catalog(skills.iter().map(|(id, text)| skill(id, text)), format).unwrap();
        let before = of(&[("a", "one"), ("b", "two")]);
        let since = |now: &Catalog| now.since(&before.whole, &Room::UNLIMITED).map(|fitted| fitted.text.into_owned());
        assert_eq!(since(&of(&[("b", "two")])), None);
        let news = since(&of(&[("a", "one"), ("b", "TWO"), ("c", "three")])).unwrap();
        assert!(!news.contains("one") && news.contains("TWO") && news.contains("three"), "{news}");
    }
}

#[test]
fn every_limit_one_by_one_is_kept_and_well_formed() {
    let catalog = catalog([skill("a", "Some words & more of them"), skill("b", ""), skill("c", "中文 words")], CatalogFormat::Xml).unwrap();
    for limit in 0..=catalog.whole.len() {
        let fitted = catalog.fit(&bytes(limit));
        assert!(fitted.text.len() <= limit);
        assert!(fitted.text.is_empty() || read(&fitted.text).0.len() + fitted.items_left_out == 3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_catalog_in_any_room_is_well_formed_or_absent(
        descriptions in proptest::collection::vec("([a-zé中 <&>]|</description>|\u{202e}|\u{0}){0,30}", 1..12),
        lines in any::<bool>(),
        offset in 0..61_usize,
    ) {
        let format = if lines { CatalogFormat::Lines } else { CatalogFormat::Xml };
        let skills = descriptions.iter().enumerate().map(|(n, text)| skill(&format!("s{n}"), text));
        let catalog = catalog(skills, format).unwrap();
        for limit in (offset..=catalog.whole.len()).step_by(61).chain([catalog.whole.len()]) {
            let fitted = catalog.fit(&bytes(limit));
            prop_assert!(fitted.text.len() <= limit);
            if !fitted.text.is_empty() && !lines {
                let (ids, omitted) = read(&fitted.text);
                prop_assert_eq!(ids.len() + omitted, descriptions.len());
                prop_assert_eq!(omitted, fitted.items_left_out);
            }
        }
        prop_assert_eq!(catalog.fit(&bytes(catalog.whole.len())).text, &*catalog.whole);
    }
}
