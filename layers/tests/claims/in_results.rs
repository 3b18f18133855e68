//! Bodies of skills that the caller's history holds in results of tools: each counts as said there.

use crate::common::*;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::skill::ActiveSkill;
use tower_prompt_layers::text::{Fitted, Limit, Room};
use tower_prompt_layers::wire::{Anthropic, OpenAiChat};
use tower_prompt_layers::{
    Context, Fragment, Manifest, Prompt, PromptStack, Report, Round, Session, SessionEvent, Settings, Text, Tier, ToolOutputLayer, Turn,
};

fn block_of(skill: &str) -> String {
    format!("<skill id=\"{skill}\" name=\"{skill}\">\nBODY OF {skill}\n</skill>")
}
fn holds(text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": "c", "content": text})
}

/// A body as it stands in a result, whole or its first bytes in a frame.
struct Body(String);

impl Text for Body {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        if room.holds(&self.0) {
            return Fitted::whole(&*self.0);
        }
        match room.limit() {
            Limit::Bytes(bytes) if bytes > "\n</skill>".len() => {
                let kept = bytes - "\n</skill>".len();
                Fitted::cut(format!("{}\n</skill>", &self.0[..kept]))
            }
            _ => Fitted::cut(""),
        }
    }
}

/// The bodies of all skills in force, at each turn, told or not; ahead of new ones how to read them.
fn bodies(turn: &Turn, prompt: &mut Prompt) {
    let id = |skill: &ActiveSkill| format!("active_skill:{}", skill.id);
    if turn.active.iter().any(|skill| turn.told(&id(skill)).is_none()) {
        prompt.add(Tier::Step, || Fragment::new("active_skills", "HOW TO READ THEM"));
    }
    for skill in &turn.active {
        prompt.add(Tier::Step, || Fragment::new(id(skill), Body(block_of(skill.id.as_str()))));
    }
}

struct Talk {
    stack: PromptStack<OpenAiChat>,
    session: Session,
    events: Arc<Mutex<Vec<SessionEvent>>>,
    report: Report,
}

fn talk() -> Talk {
    let events: Arc<Mutex<Vec<SessionEvent>>> = Arc::default();
    let kept = events.clone();
    let session = Session::new().on_event(move |event: &SessionEvent| kept.lock().unwrap().push(event.clone()));
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(bodies);
    Talk { stack, session, events, report: Report::default() }
}

impl Talk {
    async fn send(&self, messages: &[Value]) -> Value {
        let context = Context::default().session(self.session.clone()).report(self.report.clone());
        self.stack.assemble(body(messages), context).await
    }
    fn manifest(&self) -> Manifest {
        self.report.manifest().unwrap()
    }
    /// Of each body that was said: of which skill, so many bytes, and whether it was cut.
    fn loaded(&self) -> Vec<(String, usize, bool)> {
        let loaded = |event: &SessionEvent| match event {
            SessionEvent::SkillContextLoaded { id, bytes, truncated, .. } => Some((id.to_string(), *bytes, *truncated)),
            _ => None,
        };
        self.events.lock().unwrap().iter().filter_map(loaded).collect()
    }
}

#[tokio::test]
async fn a_body_in_a_result_is_said_nowhere_else_and_loaded_once() {
    let (talk, block) = (talk(), block_of("rust"));
    let mut history = vec![user("one")];
    talk.send(&history).await;
    talk.session.activate(id("rust"), None);
    history.extend([calls("c"), holds(&block)]);
    for words in ["two", "three"] {
        assert_eq!(talk.send(&history).await, body(&history), "neither the body nor what stands ahead of bodies");
        history.extend([says("ok"), user(words)]);
    }
    assert_eq!(talk.loaded(), [("rust".to_owned(), block.len(), false)]);
}

#[tokio::test]
async fn what_else_there_is_to_say_is_said_behind_a_result_that_holds_the_only_body() {
    let talk = talk();
    let talk = Talk { stack: talk.stack.with(clock_of_steps), ..talk };
    let mut history = vec![user("one")];
    talk.send(&history).await;
    talk.session.activate(id("rust"), None);
    history.extend([calls("c"), holds(&block_of("rust"))]);
    assert_eq!(last(&talk.send(&history).await), ours("3 messages"));
}

fn clock_of_steps(turn: &Turn, prompt: &mut Prompt) {
    prompt.add(Tier::Step, || Fragment::new("count", format!("{} messages", turn.conversation.messages.len())));
}

#[tokio::test]
async fn a_body_that_a_result_holds_in_part_is_told_as_such() {
    let (talk, whole) = (talk(), Body(block_of("rust")));
    let part = whole.fit(&Room::UNLIMITED.with(Limit::Bytes(whole.0.len() - 3))).text.into_owned();
    let mut history = vec![user("one")];
    talk.send(&history).await;
    talk.session.activate(id("rust"), None);
    history.extend([calls("c"), holds(&part)]);
    assert_eq!(talk.send(&history).await, body(&history));
    assert_eq!(talk.loaded(), [("rust".to_owned(), part.len(), true)]);
}

#[tokio::test]
async fn the_shorter_body_of_another_skill_is_not_taken_for_it() {
    let talk = talk();
    let mut history = vec![user("one")];
    talk.send(&history).await;
    talk.session.activate(id("rust-debugging"), None);
    history.extend([calls("c"), holds(&block_of("sql"))]);
    assert!(last(&talk.send(&history).await).contains("BODY OF rust-debugging"));
    assert_eq!(talk.loaded(), [("rust-debugging".to_owned(), block_of("rust-debugging").len(), false)]);
}

#[tokio::test]
async fn what_is_no_skills_body_is_said_although_a_result_reads_the_same() {
    let note = |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Step, || Fragment::new("note", block_of("rust")));
    let stack = PromptStack::new(OpenAiChat, Settings::default()).with(note);
    let sent = stack.assemble(body(&[user("one"), calls("c"), holds(&block_of("rust"))]), Context::default()).await;
    assert_eq!(last(&sent), ours(&block_of("rust")));
}

/// An older turn holds the body in a result of a tool of the caller's own; the skill comes into force behind it.
async fn behind_an_older_result(limit: Option<usize>) -> Value {
    let talk = talk();
    let talk = Talk { stack: talk.stack.with(ToolOutputLayer::default().max_chars(limit.and_then(NonZeroUsize::new))), ..talk };
    let mut history = vec![user("one"), calls("c"), holds(&block_of("rust"))];
    talk.send(&history).await;
    talk.session.activate(id("rust"), None);
    history.extend([says("ok"), user("two")]);
    let sent = talk.send(&history).await;
    assert_eq!(talk.manifest().round, Round::User);
    sent
}

#[tokio::test]
async fn an_older_result_counts_where_it_was_sent_whole_and_where_it_was_cut_the_body_is_said() {
    for limit in [None, Some(1000), Some(block_of("rust").len())] {
        assert_eq!(last(&behind_an_older_result(limit).await), "two", "{limit:?}");
    }
    let cut = behind_an_older_result(Some(block_of("rust").len() - 1)).await;
    assert!(last(&cut).contains("BODY OF rust"), "{cut}");
}

#[tokio::test]
async fn behind_a_compaction_an_older_result_counts_too() {
    let talk = talk();
    talk.send(&[user("one")]).await;
    talk.session.activate(id("rust"), None);
    let history = [user("Another history."), calls("c"), holds(&block_of("rust")), says("ok"), user("two")];
    assert_eq!(last(&talk.send(&history).await), "two");
    assert_eq!(talk.manifest().round, Round::Compacted);
}

/// Of one message with two results, each with the characters that it has: which are told as cut.
async fn cut_of(results: [&str; 2], is_active: bool) -> Vec<usize> {
    let stack = PromptStack::new(Anthropic, Settings::default()).with(bodies);
    let stack = stack.with(ToolOutputLayer::default().max_chars(NonZeroUsize::new(20)));
    let (session, report) = (Session::new(), Report::default());
    let context = Context::default().session(session.clone()).report(report.clone());
    let mut history = vec![user("one")];
    stack.assemble(body(&history), context.clone()).await;
    if is_active {
        session.activate(id("rust"), None);
    }
    let uses = ["1", "2"].map(|id| json!({"type": "tool_use", "id": id, "name": "ls", "input": {}}));
    let both = ["1", "2"].into_iter().zip(results);
    let both: Value = both.map(|(id, text)| json!({"type": "tool_result", "tool_use_id": id, "content": text})).collect();
    history.extend([json!({"role": "assistant", "content": uses}), json!({"role": "user", "content": both})]);
    stack.assemble(body(&history), context).await;
    report.manifest().unwrap().cut_outputs.iter().map(|cut| cut.chars).collect()
}

#[tokio::test]
async fn the_manifest_tells_of_a_cut_result_whatever_stands_in_it_or_beside_it_but_a_body_that_counts() {
    let (block, long) = (block_of("rust"), "x".repeat(99));
    assert_eq!(cut_of([&block, &long], true).await, [99]);
    assert_eq!(cut_of([&block, &long], false).await, [block.len(), 99]);
    assert_eq!(cut_of([&long, &block], true).await, [99]);
}

#[tokio::test]
async fn what_stood_in_a_result_that_the_caller_cleared_is_said_again_by_the_session_of_one_place_too() {
    let talk = talk();
    talk.session.activate(id("rust"), None);
    let mut history = vec![user("one"), calls("c"), holds(&block_of("rust"))];
    assert_eq!(talk.send(&history).await, body(&history));
    assert_eq!(talk.session.places(), 1);
    assert_eq!(talk.send(&history).await, body(&history), "a retry");
    history[2] = holds("cleared");
    history.extend([says("ok"), user("another two")]);
    assert!(last(&talk.send(&history).await).contains("BODY OF rust"));
}
