//! The view that all wires share: what anchors are made of, and what layers see of the caller's words.

use serde::{Deserialize, Serialize};

/// Who speaks. There will be no other: system messages are no part of the view.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    #[default]
    User,
    /// The model.
    Assistant,
    /// Results of tool calls.
    Tool,
}

/// A part of a message's content, by its position in the content list; 0 where the content is one string.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Part {
    /// Position in the content list.
    pub index: usize,
    /// The text; of an image, a document and the like what tells it from another.
    pub text: String,
}

impl Part {
    /// This text, at this position.
    pub fn new(index: usize, text: impl Into<String>) -> Self {
        Self { index, text: text.into() }
    }
}

/// A tool call.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ToolCall {
    /// By which results name it; empty in formats without ids.
    pub id: String,
    /// The tool.
    pub name: String,
    /// As canonical JSON: keys sorted.
    pub arguments: String,
}

impl ToolCall {
    /// A call with these arguments; a string that holds JSON is taken for that.
    pub fn new(id: &str, name: &str, arguments: &serde_json::Value) -> Self {
        super::json::call(id, name, Some(arguments))
    }
}

/// Where our text behind a message goes. There will be no other without a new major version: a wire that misses one leaves a text out.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub enum Spot {
    /// At the end of its content.
    #[default]
    Content,
    /// Behind this part of its content.
    BehindPart(usize),
    /// As a message of its own behind it.
    NewMessage,
}

/// One message as all wires have it. One that holds results and content of the user's own is two of these, and a run of results is one.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Message {
    /// Position in the request.
    pub at: usize,
    /// Where our text behind it goes.
    pub spot: Spot,
    /// Who speaks.
    pub role: Role,
    /// The content is one string.
    pub is_string: bool,
    /// Texts, in order.
    pub texts: Vec<Part>,
    /// Images, documents and the like.
    pub media: Vec<Part>,
    /// Calls that the model makes.
    pub calls: Vec<ToolCall>,
    /// Which calls of the message before the results answer, by ordinal.
    pub answers: Vec<Option<usize>>,
    /// Of each of them the message that it stands in and its characters, as a bound on tool output counts; none where a wire bounds no output.
    pub result_chars: Vec<(usize, usize)>,
    /// Whole blocks of the skill tool's in results (a body, the arguments of a skill in force, a skill put down), each with the position in `answers` of
    /// the result that holds it.
    pub skill_blocks: Vec<(usize, String)>,
    /// A block of it carries a cache mark.
    pub is_marked: bool,
    /// Of each call whose arguments are no JSON where JSON is due, the message and the characters.
    pub malformed_argument_chars: Vec<(usize, usize)>,
}

impl Message {
    /// One without content yet.
    pub fn new(at: usize, role: Role) -> Self {
        Self { at, role, ..Self::default() }
    }
    /// One whose content is this string.
    pub fn of_string(at: usize, role: Role, text: impl Into<String>) -> Self {
        Self { is_string: true, texts: vec![Part::new(0, text)], ..Self::new(at, role) }
    }
    /// All text of it, parts joined by line ends.
    pub fn text(&self) -> String {
        match &*self.texts {
            [only] => only.text.clone(),
            texts => texts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// A history that the provider holds, by the name that a request gives it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum HeldHistory {
    /// As it was then: a response's id, a cached content.
    Fixed(String),
    /// It goes on under the same name: a conversation.
    Growing(String),
}

impl HeldHistory {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Fixed(name) | Self::Growing(name) => name,
        }
    }
}

/// A conversation as it was read.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of a format or a request, and independent of the others")]
#[derive(Clone, Default, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Conversation {
    /// User messages, answers, runs of results, oldest first.
    pub messages: Vec<Message>,
    /// In this format no text may stand behind tool results.
    pub results_stand_alone: bool,
    /// The provider holds the history before these messages.
    pub held_by_provider: Option<HeldHistory>,
    /// The provider holds the system prompt, and refuses another.
    pub system_is_held: bool,
    /// The request is no conversation, or one that takes no text of ours: it passes untouched.
    pub is_foreign: bool,
    /// The caller speaks to the model as `developer`, where others say `system`.
    pub speaks_as_developer: bool,
    /// The system text that it begins with, ours in front of the caller's where the caller kept that: the manifest alone looks at it.
    pub system: Option<String>,
    /// A block of the system text carries a cache mark.
    pub system_is_marked: bool,
    /// The model that the request names.
    pub model: Option<String>,
    /// The names of the caller's tools that have a description, or could have one.
    pub tools: Vec<String>,
    /// Bytes of tools and of the caller's system text, in a format whose prefixes are marked for a cache, and where the caller marks none.
    pub unmarked_bytes: Option<usize>,
    /// The names of all tools of the request, the provider's own among them.
    pub tool_names: Vec<String>,
    /// No tool may be added: the format has none, or the provider refuses such a request.
    pub takes_no_tools: bool,
    /// The provider, as hosts name it, where no other speaks this format.
    pub provider: Option<&'static str>,
}

impl Conversation {
    /// These messages, oldest first, in a format that asks for nothing else.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self { messages: messages.into_iter().collect(), ..Self::default() }
    }
    /// A request that passes untouched.
    pub fn foreign() -> Self {
        Self { is_foreign: true, ..Self::default() }
    }
    /// All text of the user's newest message.
    pub fn latest_user_text(&self) -> Option<String> {
        self.messages.iter().rfind(|message| message.role == Role::User).map(Message::text)
    }

    /// Adds a result to the run of results at the end, or begins one. `answers` tells which call of the model's last message it answers.
    pub fn push_result(&mut self, at: usize, spot: Spot, answers: impl FnOnce(&[ToolCall], &[Option<usize>]) -> Option<usize>) {
        let calls = self.messages.iter().rev().find(|message| message.role == Role::Assistant).map(|message| &*message.calls);
        let before = self.messages.last().filter(|run| run.role == Role::Tool).map_or(&[][..], |run| &run.answers);
        let answer = answers(calls.unwrap_or_default(), before);
        match self.messages.last_mut() {
            Some(run) if run.role == Role::Tool => {
                (run.at, run.spot) = (at, spot);
                run.answers.push(answer);
            }
            _ => self.messages.push(Message { at, spot, role: Role::Tool, answers: vec![answer], ..Message::default() }),
        }
    }
    /// As [`push_result`](Self::push_result), for a result that names the id of its call.
    pub fn push_result_of_id(&mut self, at: usize, spot: Spot, id: &str) {
        self.push_result(at, spot, |calls, _| calls.iter().position(|call| call.id == id));
    }
    /// As [`push_result`](Self::push_result), for a result that names its tool alone: of the calls of that tool the first without an answer.
    pub fn push_result_of_name(&mut self, at: usize, spot: Spot, name: &str) {
        self.push_result(at, spot, |calls, before| (0..calls.len()).find(|n| calls[*n].name == name && !before.contains(&Some(*n))));
    }
    /// So many characters has the result that was pushed last.
    pub fn measure_result(&mut self, chars: usize) {
        if let Some(run) = self.messages.last_mut().filter(|run| run.role == Role::Tool) {
            run.result_chars.push((run.at, chars));
        }
    }
    /// The result that was pushed last holds this text: whole blocks of the skill tool's in it are noted.
    pub fn note_skill_blocks(&mut self, text: &str) {
        if let Some(run) = self.messages.last_mut().filter(|run| run.role == Role::Tool) {
            let result = run.answers.len().saturating_sub(1);
            run.skill_blocks.extend(skill_blocks(text).map(|block| (result, block.to_owned())));
        }
    }
    /// The messages behind the model's last one, and the calls that it makes.
    pub(crate) fn newest(&self) -> (&[Message], &[ToolCall]) {
        match self.messages.iter().rposition(|message| message.role == Role::Assistant) {
            Some(last) => (&self.messages[last + 1..], &self.messages[last].calls),
            None => (&self.messages, &[]),
        }
    }
    /// Whether a tool result holds this block whole.
    pub(crate) fn holds_skill_block(&self, block: &str) -> bool {
        self.messages.iter().flat_map(|message| &message.skill_blocks).any(|(_, held)| held == block)
    }
    /// Adds to the model's message at the end, or begins one: for formats that write texts and calls as items of their own.
    pub(crate) fn assistant(&mut self, at: usize) -> &mut Message {
        if self.messages.last().is_none_or(|last| last.role != Role::Assistant) {
            self.messages.push(Message { at, role: Role::Assistant, ..Message::default() });
        }
        let last = self.messages.len() - 1;
        &mut self.messages[last]
    }
}

/// How the blocks begin and end that the skill tool answers with.
const SKILL_BLOCKS: [(&str, &str); 3] =
    [("<skill id=\"", "\n</skill>"), ("<arguments skill=\"", "\n</arguments>"), ("<skill_off id=\"", "\n</skill_off>")];

/// The blocks of the skill tool's in a text, whole: from an opening tag at a line's beginning to the first closing one, since nothing inside is one.
fn skill_blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    // What is not closed behind one place is closed behind no later one: each is looked for in vain once.
    let mut is_never_closed = [false; SKILL_BLOCKS.len()];
    std::iter::from_fn(move || {
        while let Some(start) = memchr::memchr(b'<', rest.as_bytes()) {
            let is_at_the_beginning = start == 0 || rest[..start].ends_with('\n');
            let (block, behind) = (&rest[start..], &rest[start + 1..]);
            let kind = SKILL_BLOCKS.iter().position(|(open, _)| is_at_the_beginning && block.starts_with(open));
            rest = behind;
            let Some(kind) = kind.filter(|kind| !is_never_closed[*kind]) else { continue };
            let (open, close) = SKILL_BLOCKS[kind];
            let Some(end) = block[open.len()..].find(close) else {
                is_never_closed[kind] = true;
                continue;
            };
            let (whole, behind) = block.split_at(open.len() + end + close.len());
            rest = behind;
            return Some(whole);
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_skills_are_found_whole() {
        let blocks = |text: &str| skill_blocks(text).map(str::to_owned).collect::<Vec<_>>();
        let (one, two) = ("<skill id=\"a\" name=\"A\">\nText.\n</skill>", "<skill id=\"b\">\n\n</skill>");
        assert_eq!(blocks(&format!("Ahead.\n\n{one}\nbetween\n{two}\n")), [one, two]);
        assert_eq!(blocks(&format!("said <skill id=\"x\" and\n{one}")), [one]);
        assert_eq!(blocks("<skill id=\"a\">\nText, and no end."), [""; 0]);
        assert_eq!(blocks("<skill>\n</skill>"), [""; 0]);
        let (again, off) = ("<arguments skill=\"a\">\nx\n</arguments>", "<skill_off id=\"a\">\nIt is off.\n</skill_off>");
        assert_eq!(
            blocks(&format!("{off}\n<skill id=\"b\">\n{again}\n{one}")),
            [off, "<skill id=\"b\">\n<arguments skill=\"a\">\nx\n</arguments>\n<skill id=\"a\" name=\"A\">\nText.\n</skill>"]
        );
        assert_eq!(blocks(&format!("<skill_off id=\"x\">\n{again}")), [again]);
    }
}
