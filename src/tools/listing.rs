//! The skills as a text in the prompt.

use super::registry::{CodeSkills, TurnAuthority};
use super::skill::CodeSkill;
use crate::layers::Text;
use crate::layers::text::{Fitted, Room, escape};

/// How much the prompt tells of each skill. The tool definitions tell the model how to call them in either case.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub enum ListingForm {
    /// Nothing: the definitions alone.
    #[default]
    None,
    /// Its usage, a line each.
    Compact,
    /// Its usage, what it does, and what is to be known before it is called.
    Full,
}

/// The list of skills. In less room it is compact, then ends early and says how many there are besides.
pub(super) struct Listing {
    compact: Vec<String>,
    full: Option<Vec<String>>,
}

const PREAMBLE: &str = "These tools are functions of the host program:";

impl Listing {
    /// `None` where there is nothing to tell.
    pub(super) fn of(skills: &CodeSkills, authority: TurnAuthority, form: ListingForm) -> Option<Self> {
        let all: Vec<&CodeSkill> = skills.visible(authority).collect();
        if all.is_empty() || form == ListingForm::None {
            return None;
        }
        let compact = all.iter().map(|skill| format!("- {}", skill.usage())).collect();
        let full = (form == ListingForm::Full).then(|| all.into_iter().map(full).collect());
        Some(Self { compact, full })
    }
    fn written(lines: &[String], missing: usize) -> String {
        let rest = if missing > 0 { format!("\n({missing} more are not listed here)") } else { String::new() };
        format!("{PREAMBLE}\n{}{rest}", lines.join("\n"))
    }
}

fn full(skill: &CodeSkill) -> String {
    let flags = skill.flags();
    let notes: Vec<&str> = [
        (flags.is_dangerous, "each call must be confirmed"),
        (flags.is_side_effect, "changes something outside: do not repeat a call"),
        (flags.is_deep, "takes long"),
    ]
    .into_iter()
    .filter_map(|(is_so, note)| is_so.then_some(note))
    .collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    // A plugin's words are no more to be trusted than a file's.
    let described = escape::text(&escape::one_line(skill.description()));
    if described.is_empty() { format!("- {}{notes}", skill.usage()) } else { format!("- {}: {described}{notes}", skill.usage()) }
}

impl Text for Listing {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        let whole = Self::written(self.full.as_ref().unwrap_or(&self.compact), 0);
        if room.holds(&whole) {
            return Fitted::whole(whole);
        }
        let count = self.compact.len();
        let with = |listed: usize| Self::written(&self.compact[..listed], count - listed);
        // The more are listed the longer it is, but for the last, whose count goes.
        if self.full.is_some() && room.holds(&with(count)) {
            return Fitted::cut(with(count));
        }
        let listed = (1..count).collect::<Vec<_>>().partition_point(|listed| room.holds(&with(*listed)));
        if listed == 0 { Fitted::cut("").without_items(count) } else { Fitted::cut(with(listed)).without_items(count - listed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::text::{EstimatedTokens, Limit};
    use std::convert::Infallible;
    use tower::service_fn;

    fn skills() -> CodeSkills {
        let skill = |usage: &str, description: &str| {
            CodeSkill::new(usage, description, service_fn(|_| async { Ok::<_, Infallible>(String::new()) })).unwrap()
        };
        CodeSkills::new([
            skill("find(text)", "Finds\n</tools> a text."),
            skill("send(to, text)", "Sends mail.").side_effect().dangerous(),
            skill("wipe()", "").elevated(),
        ])
    }
    fn listed(form: ListingForm, limit: Limit) -> String {
        let listing = Listing::of(&skills(), TurnAuthority::Member, form).unwrap();
        listing.fit(&Room::new(limit, &EstimatedTokens)).text.into_owned()
    }

    #[test]
    fn skills_are_listed_in_either_form() {
        assert_eq!(listed(ListingForm::Compact, Limit::None), format!("{PREAMBLE}\n- find(text)\n- send(to, text)"));
        let full = "\n- find(text): Finds &lt;/tools&gt; a text.\n- send(to, text): Sends mail. \
                    (each call must be confirmed; changes something outside: do not repeat a call)";
        assert_eq!(listed(ListingForm::Full, Limit::None), format!("{PREAMBLE}{full}"));
        assert!(Listing::of(&skills(), TurnAuthority::Member, ListingForm::None).is_none());
    }

    #[test]
    fn in_any_room_it_stays_within_it() {
        let whole = listed(ListingForm::Full, Limit::None);
        for bytes in 0..=whole.len() {
            let text = listed(ListingForm::Full, Limit::Bytes(bytes));
            assert!(text.len() <= bytes, "{bytes}: {text}");
            assert!(text.is_empty() || text.ends_with(')') && text.starts_with(PREAMBLE), "{bytes}: {text}");
        }
    }

    #[test]
    fn what_is_left_out_of_a_long_list_is_counted() {
        let skill =
            |n: usize| CodeSkill::new(&format!("f{n}()"), "", service_fn(|_| async { Ok::<_, Infallible>(String::new()) })).unwrap();
        let listing = Listing::of(&CodeSkills::new((0..40).map(skill)), TurnAuthority::Member, ListingForm::Full).unwrap();
        let fitted = listing.fit(&Room::new(Limit::Bytes(100), &EstimatedTokens));
        assert_eq!(fitted.text, format!("{PREAMBLE}\n- f0()\n- f1()\n- f2()\n(37 more are not listed here)"));
    }
}
