//! What a user types to a host about skills, as values.

use super::{Skill, Skills};

/// A command about skills at the start of a message. Who obeys it is the host's affair: a stack does so for [`Activate`](Self::Activate) and
/// [`Deactivate`](Self::Deactivate) where `skills.commands` lets it.
///
/// ```
/// use tower_prompt_layers::skill::HostCommand;
///
/// let Some(HostCommand::Activate(words)) = HostCommand::parse("/skill rust-debugging the borrow checker") else { panic!() };
/// assert_eq!(words.as_str(), "rust-debugging the borrow checker");
/// assert_eq!(HostCommand::parse("/skill active"), Some(HostCommand::Active));
/// assert_eq!(HostCommand::parse("what does /skill do?"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum HostCommand<'a> {
    /// `/skills`: list them.
    List,
    /// `/skills info ID`: tell what is known of one.
    Info(SkillWords<'a>),
    /// `/skills run ID [ARGS]`: show it as it stands in a prompt, or send it.
    Run(SkillWords<'a>),
    /// `/skill ID [ARGS]`: bring it into force.
    Activate(SkillWords<'a>),
    /// `/skill off ID`: switch it off.
    Deactivate(SkillWords<'a>),
    /// `/skill active`: tell which are in force.
    Active,
}

impl<'a> HostCommand<'a> {
    /// The command that a message is; `None` for any other text, a command without its skill among them. `active` and `off` are no ids.
    pub fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim_start();
        if let Some(rest) = behind(text, "/skills") {
            return if rest.is_empty() {
                Some(Self::List)
            } else if let Some(words) = behind(rest, "info") {
                SkillWords::of(words).map(Self::Info)
            } else {
                SkillWords::of(behind(rest, "run")?).map(Self::Run)
            };
        }
        let rest = behind(text, "/skill")?;
        if let Some(more) = behind(rest, "active") {
            return more.is_empty().then_some(Self::Active);
        }
        match behind(rest, "off") {
            Some(words) => SkillWords::of(words).map(Self::Deactivate),
            None => SkillWords::of(rest).map(Self::Activate),
        }
    }
}

/// What follows `word`, where it is a word of its own.
fn behind<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
}

/// An id or a name of a skill, and what follows it: where a name has blanks in it only a registry knows how far it goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SkillWords<'a>(&'a str);

/// No name of a skill has more words.
const MOST_WORDS: usize = 8;

impl<'a> SkillWords<'a> {
    fn of(words: &'a str) -> Option<Self> {
        (!words.is_empty()).then_some(Self(words))
    }
    /// All of it, without blanks around it.
    pub fn as_str(self) -> &'a str {
        self.0
    }
    /// The skill that the longest beginning names, among those that a user may invoke, and the words behind it.
    pub fn find<'s>(self, skills: &'s Skills) -> Option<(&'s Skill, &'a str)> {
        let ends = self.0.match_indices(char::is_whitespace).map(|(at, _)| at).take(MOST_WORDS).chain([self.0.len()]);
        let mut ends: Vec<usize> = ends.collect();
        ends.reverse();
        ends.into_iter().find_map(|end| {
            let (name, rest) = self.0.split_at(end);
            let skill = skills.find(name).filter(|skill| skill.summary.is_usable() && skill.summary.user_invocable)?;
            Some((skill, rest.trim()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::HostCommand::{Activate, Active, Deactivate, Info, List, Run};
    use super::*;

    #[test]
    fn a_message_is_a_command_or_it_is_not() {
        let words = SkillWords;
        for (text, command) in [
            ("/skills", Some(List)),
            (" /skills \n", Some(List)),
            ("/skills info rust", Some(Info(words("rust")))),
            ("/skills run rust  a b ", Some(Run(words("rust  a b")))),
            ("/skills info", None),
            ("/skills run", None),
            ("/skills rust", None),
            ("/skill rust", Some(Activate(words("rust")))),
            ("/skill rust\nlines of\narguments", Some(Activate(words("rust\nlines of\narguments")))),
            ("/skill off rust", Some(Deactivate(words("rust")))),
            ("/skill offline", Some(Activate(words("offline")))),
            ("/skill off", None),
            ("/skill active", Some(Active)),
            ("/skill active now", None),
            ("/skill", None),
            ("/skillful", None),
            ("/Skill rust", None),
            ("say /skill rust", None),
            ("", None),
        ] {
            assert_eq!(HostCommand::parse(text), command, "{text:?}");
        }
    }
}
