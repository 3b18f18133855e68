//! What the configuration says of skills that are not there.

use super::roots::DiscoveryOptions;
use crate::layers::Diagnostic;
use crate::layers::skill::{Skill, SkillId};
use std::collections::BTreeSet;

/// Ids that are less alike are not what was meant.
const ALIKE: f64 = 0.75;
/// A name longer than this is no slip of the pen, and likening it to every id would cost time.
const LONGEST: usize = 255;

/// Unknown names that are likened to all ids: a list of thousands is no slip.
const MOST_LIKENED: usize = 20;

/// The id that a name was most likely meant for.
pub(crate) fn nearest<'i>(name: &str, ids: impl IntoIterator<Item = &'i str>) -> Option<&'i str> {
    if name.len() > LONGEST {
        return None;
    }
    let (name, likeness) = (name.to_lowercase(), |id: &str, name: &str| strsim::jaro_winkler(&id.to_lowercase(), name));
    let likened = ids.into_iter().map(|id| (likeness(id, &name), id)).filter(|(likeness, _)| *likeness > ALIKE);
    // Of several that are equally alike the first.
    likened.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, id)| id)
}

/// `skills.disabled.ids` and `skills.overrides` that name no skill: a slip of the pen, or a skill of another workspace, which is worth no more than
/// a note.
pub(crate) fn unknown(skills: &[Skill], options: &DiscoveryOptions) -> Vec<Diagnostic> {
    let disabled = options.disabled.iter().map(|name| ("skills.disabled.ids", name));
    let named: Vec<(&str, &String)> = disabled.chain(options.overrides.keys().map(|name| ("skills.overrides", name))).collect();
    if named.is_empty() {
        return Vec::new();
    }
    let ids: BTreeSet<&str> = skills.iter().map(|skill| skill.summary.id.as_str()).collect();
    let mut likened = 0;
    let unknown = named.into_iter().filter_map(|(key, name)| {
        if SkillId::new(name).is_ok_and(|id| ids.contains(id.as_str())) {
            return None;
        }
        let bears = |skill: &&Skill| skill.summary.name == name.trim();
        let bearers: BTreeSet<&str> = skills.iter().filter(bears).map(|skill| skill.summary.id.as_str()).collect();
        let shown: String = name.chars().take(LONGEST).collect();
        match bearers.len() {
            0 => {}
            1 => return None,
            count => {
                let of: Vec<String> = bearers.into_iter().take(3).map(|id| format!("`{id}`")).collect();
                let message =
                    format!("`{key}` names `{shown}`, a name that {count} skills bear; an id is wanted, such as {}", of.join(", "));
                return Some(Diagnostic::warning("skill-unknown", message));
            }
        }
        let message = format!("`{key}` names `{shown}`, and there is no such skill");
        likened += 1;
        let near = (likened <= MOST_LIKENED).then(|| nearest(name, ids.iter().copied())).flatten();
        Some(match near {
            Some(id) => Diagnostic::warning("skill-unknown", format!("{message}; the nearest is `{id}`")),
            None => Diagnostic::note("skill-unknown", message),
        })
    });
    unknown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::skill::{SkillSource, SkillSourceKind, SkillSummary, SkillVisibility};

    fn found(disabled: &[&str], overrides: &[&str]) -> Vec<String> {
        let skill = |(id, name): (&str, &str)| {
            let source = SkillSource::new(SkillSourceKind::User, "user");
            let mut summary = SkillSummary::new(SkillId::new(id).unwrap(), "d", source);
            summary.name = name.into();
            Skill::new(summary, String::new())
        };
        let skills = [("rust-debugging", "Rust"), ("café", "Twin"), ("other", "Twin")].map(skill);
        let options = DiscoveryOptions {
            disabled: disabled.iter().map(ToString::to_string).collect(),
            overrides: overrides.iter().map(|name| (name.to_string(), SkillVisibility::Off)).collect(),
            ..DiscoveryOptions::default()
        };
        unknown(&skills, &options).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn who_is_named_by_id_or_by_a_name_of_its_own_is_known() {
        assert_eq!(found(&[], &[]), [""; 0]);
        assert_eq!(found(&["rust-debugging", " Rust "], &["cafe\u{301}"]), [""; 0]);
    }

    #[test]
    fn a_slip_of_the_pen_is_a_warning_with_the_nearest_id_and_a_stranger_a_note() {
        assert_eq!(
            found(&["Rust-Debuging", "zzz"], &["rust_debugging"]),
            [
                "warning[skill-unknown]: `skills.disabled.ids` names `Rust-Debuging`, and there is no such skill; the nearest is `rust-debugging`",
                "note[skill-unknown]: `skills.disabled.ids` names `zzz`, and there is no such skill",
                "warning[skill-unknown]: `skills.overrides` names `rust_debugging`, and there is no such skill; the nearest is `rust-debugging`",
            ]
        );
    }

    #[test]
    fn a_name_of_two_skills_names_none() {
        let said = "warning[skill-unknown]: `skills.disabled.ids` names `Twin`, a name that 2 skills bear; an id is wanted, such as `café`, `other`";
        assert_eq!(found(&["Twin"], &[]), [said]);
    }

    #[test]
    fn what_is_too_long_for_an_id_is_told_in_few_words() {
        assert!(found(&[&"x".repeat(100_000)], &[])[0].len() < 500);
    }
}
