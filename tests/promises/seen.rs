//! What a reader sees of the blocks in a text, and what one would see had no one tried to break out.

use super::world::{SkillText, World};
use tower_prompt::layers::text::escape::BLOCKS;

/// What a reader takes for tags of our blocks, in their order. It knows nothing of how they are escaped.
pub(super) fn skeleton(text: &str) -> Vec<String> {
    let is_seen = |c: &char| {
        let unseen = [0x200b..=0x200f, 0x202a..=0x202e, 0x2060..=0x206f, 0xfe00..=0xfe0f, 0xfeff..=0xfeff, 0xe0000..=0xe007f];
        !c.is_control() && !unseen.iter().any(|range| range.contains(&u32::from(*c)))
    };
    let mut tags = Vec::new();
    for piece in text.split('<').skip(1) {
        let seen: String = piece.chars().filter(|c| is_seen(c) || c.is_whitespace()).take(80).collect();
        let slash = if seen.trim_start().starts_with('/') { "/" } else { "" };
        let name: String = seen
            .trim_start_matches(|c: char| c == '/' || c.is_whitespace())
            .chars()
            .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
            .collect();
        // Those belong to a name that goes on behind them.
        let name = name.trim_end_matches(['-', '.', ':']);
        if BLOCKS.contains(&&*name.to_lowercase()) {
            tags.push(format!("{slash}{}", name.to_lowercase()));
        }
    }
    tags
}

/// As tame as can be, with as much of everything.
pub(super) fn tame(world: &World) -> World {
    let word = || "word".to_owned();
    let asks = |skill: &SkillText| if skill.body.ends_with("\n$ARGS\n") { "word\n$ARGS\n".to_owned() } else { word() };
    let skill =
        |skill: &SkillText| SkillText { id: skill.id.clone(), name: word(), description: word(), keyword: word(), body: asks(skill) };
    World { skills: world.skills.iter().map(skill).collect(), instructions: [word(), word()], invariants: "## Section\n* word".into() }
}
