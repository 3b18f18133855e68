//! What the stacks of these tests say, and how bytes are compared.

use tower_prompt::layers::text::{TextChange, TextMode};
use tower_prompt::layers::wire::ToolOutputBound;
use tower_prompt::layers::{Context, Fragment, Prompt, PromptStack, Round, Session, Settings, SystemPromptLayer, Tier, Turn};

/// A system prompt, a fact at each user message (it changes with what the user says), one in tool rounds, and bounds.
pub(crate) fn stack<W>(wire: W) -> PromptStack<W> {
    stack_of(wire, &Session::new())
}
pub(crate) fn stack_of<W>(wire: W, session: &Session) -> PromptStack<W> {
    PromptStack::new(wire, Settings::default().context(Context::default().session(session.clone())))
        .with(SystemPromptLayer::replaced("You are careful."))
        .with(|turn: &Turn, prompt: &mut Prompt| {
            let rains = turn.user_text().is_none_or(|text| !text.contains("sun"));
            prompt.add(Tier::Turn, || Fragment::new("weather", if rains { "It rains." } else { "It shines." }));
            let round = if prompt.round() == Round::Tool { "A tool ran." } else { "No tool ran." };
            prompt.add(Tier::Step, || Fragment::new("round", round));
            prompt.describe_tool("look", TextChange::default().then(TextMode::Append, "Look twice."));
            let mut bound = ToolOutputBound::default();
            bound.max_chars = std::num::NonZeroUsize::new(40);
            prompt.bound_tool_output(bound);
        })
}

/// The second body goes on where the first one's list of messages ends, and all else of it is the same.
pub(crate) fn goes_on(first: &str, second: &str, behind_messages: &str) {
    let (messages, rest) = first.split_once(behind_messages).unwrap_or_else(|| panic!("no {behind_messages} in {first}"));
    assert!(second.starts_with(messages), "{second}\n\ndoes not begin with\n\n{messages}");
    assert!(second.ends_with(rest), "{second}\n\ndoes not end with\n\n{rest}");
}
