//! Worlds at random.

use super::world::{PIECES, SkillText, World};
use proptest::prelude::*;

/// [`PIECES`] in any order. Never empty: a word is in it.
pub(super) fn bad_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..30).prop_map(|pieces| format!("Word {}.", pieces.concat()))
}

/// As [`bad_text`], for prose: AGENTS.md, a body.
fn prose() -> impl Strategy<Value = String> {
    prop::collection::vec(bad_text(), 1..6).prop_map(|lines| lines.join("\n"))
}

pub(super) fn any_world() -> impl Strategy<Value = World> {
    let skill = (bad_text(), bad_text(), bad_text(), prose());
    let invariants = prop::collection::vec(bad_text(), 1..5).prop_map(|bullets| format!("## Section\n* {}", bullets.join("\n* ")));
    (prop::collection::vec(skill, 2..7), prose(), prose(), invariants).prop_map(|(skills, far, near, invariants)| {
        let skill = |(n, (name, description, keyword, body)): (usize, (String, String, String, String))| SkillText {
            id: format!("skill-{n}"),
            name,
            description,
            keyword,
            body,
        };
        World { skills: skills.into_iter().enumerate().map(skill).collect(), instructions: [far, near], invariants }
    })
}
