//! Where text stands that comes behind a session's start, as the host chooses.

use crate::common::*;
use serde_json::{Value, json};
use tower_prompt_layers::wire::Format;
use tower_prompt_layers::{
    ContentHash, Context, Fragment, Manifest, Prompt, PromptStack, Report, Round, Session, Settings, TextPlacement, Tier, Turn,
};

struct Placed {
    stack: PromptStack<Format>,
    session: Session,
    world: World,
}

fn placed(format: Format, placement: TextPlacement) -> Placed {
    let world = World::default();
    let settings = Settings::default().placement(placement);
    let stack = PromptStack::new(format, settings).with(base()).with(active_skills).with(matched_skill).with(world.clone());
    Placed { stack, session: Session::new(), world }
}

impl Placed {
    async fn send(&self, body: Value) -> (Value, Manifest) {
        let report = Report::default();
        let context = Context::default().session(self.session.clone()).report(report.clone());
        let sent = self.stack.assemble(body, context.clone()).await;
        let manifest = report.manifest().unwrap();
        let again = self.stack.assemble(sent.clone(), context).await;
        assert_eq!(again, sent, "assembled again");
        (sent, manifest)
    }
}

fn codes(manifest: &Manifest) -> Vec<&str> {
    manifest.diagnostics.iter().map(|found| &*found.code).collect()
}

#[tokio::test]
async fn of_latest_only_the_newest_turn_is_kept_and_says_all_that_holds() {
    let chat = placed(Format::OpenAiChat, TextPlacement::Latest);
    chat.world.is("git", "main");
    let mut history = vec![user("borrow")];
    let (first, manifest) = chat.send(body(&history)).await;
    assert_eq!(texts(&first), ["BASE", &behind("borrow", "BODY OF rust\nmain")]);
    assert!(codes(&manifest).is_empty());
    // A tool round belongs to its turn.
    history.extend([calls("1"), result("1")]);
    let (tool_round, manifest) = chat.send(body(&history)).await;
    assert!(messages(&tool_round).starts_with(&messages(&first)) && codes(&manifest).contains(&"prefix-rewritten"));
    history.extend([says("a"), user("two")]);
    let (second, manifest) = chat.send(body(&history)).await;
    assert_eq!(texts(&second), ["BASE", "borrow", "files", "a", &behind("two", "BODY OF rust\nmain")]);
    assert!(codes(&manifest).contains(&"prefix-rewritten"));
    chat.world.lacks("git");
    history.extend([says("b"), user("three")]);
    let (third, _) = chat.send(body(&history)).await;
    assert_eq!(last(&third), behind("three", "BODY OF rust"), "what is not there any more is said of nothing that stands there");
    assert_eq!(chat.send(body(&history)).await.0, third, "a retry gets the same bytes");
    assert_eq!(chat.send(body(&history[..5])).await.0, second, "and so does an earlier turn");
}

#[tokio::test]
async fn of_latest_a_compacted_history_keeps_nothing_of_its_head() {
    let chat = placed(Format::OpenAiChat, TextPlacement::Latest);
    chat.world.is("git", "main");
    chat.send(body(&[user("one")])).await;
    chat.send(body(&[user("one"), says("a"), user("two")])).await;
    chat.world.is("git", "other");
    let history = [user("one"), says("b"), user("summary"), calls("1"), result("1")];
    let report = Report::default();
    let context = Context::default().session(chat.session.clone()).compacted(true).report(report.clone());
    let sent = chat.stack.assemble(body(&history), context).await;
    assert_eq!(report.manifest().unwrap().round, Round::Compacted);
    assert_eq!(texts(&sent), ["BASE", "one", "b", "summary", "files", &ours("other")], "all that holds is said once");
}

#[tokio::test]
async fn in_front_all_of_ours_stands_in_the_system_prompt() {
    let chat = placed(Format::OpenAiChat, TextPlacement::Front);
    chat.world.is("clock", "1");
    let mut history = vec![system("HOST"), user("one")];
    let (first, manifest) = chat.send(body(&history)).await;
    assert_eq!(texts(&first), [&format!("BASE\n\n{}\n\nHOST", ours("1")), "one"]);
    assert_eq!(manifest.system_hash, Some(ContentHash::of(&format!("BASE\n\n{}", ours("1")))));
    chat.world.is("clock", "2");
    history.extend([says("a"), user("two")]);
    let (second, manifest) = chat.send(body(&history)).await;
    let system_text = format!("BASE\n\n{}\n\n{}\n\nHOST", ours("1"), ours("2"));
    assert_eq!(texts(&second), [&*system_text, "one", "a", "two"]);
    assert!(codes(&manifest).contains(&"prefix-rewritten"));
    // Kept as it was sent before, it is recognised.
    let kept = [&messages(&first)[..], &history[2..]].concat();
    assert_eq!(chat.send(body(&kept)).await.0, second);
}

#[tokio::test]
async fn in_front_in_every_format() {
    for (format, request, system) in [
        (Format::Anthropic, json!({"messages": [user("one")]}), "/system/0/text"),
        (Format::OpenAiResponses, json!({"input": "one"}), "/instructions"),
        (Format::Gemini, json!({"contents": [{"role": "user", "parts": [{"text": "one"}]}]}), "/systemInstruction/parts/0/text"),
        (Format::Ollama, json!({"messages": [user("one")]}), "/messages/0/content"),
        (Format::OllamaGenerate, json!({"prompt": "one"}), "/system"),
    ] {
        let chat = placed(format, TextPlacement::Front);
        chat.world.is("clock", "1");
        let (sent, _) = chat.send(request).await;
        assert_eq!(sent.pointer(system), Some(&json!(format!("BASE\n\n{}", ours("1")))), "{format}");
        assert!(!sent.to_string().replace(&json!(ours("1")).to_string()[1..], "").contains("one\\n"), "{format}");
    }
    // Where the provider holds the system prompt, there is no front.
    let chat = placed(Format::Gemini, TextPlacement::Front);
    chat.world.is("clock", "1");
    let (sent, _) = chat.send(json!({"cachedContent": "c", "contents": [{"role": "user", "parts": [{"text": "one"}]}]})).await;
    assert_eq!(sent["contents"][0]["parts"][1]["text"], ours("1"));
}

#[tokio::test]
async fn of_latest_what_the_first_message_was_told_by_a_faster_request_is_not_said_again_in_its_turn() {
    let settings = Settings::default().placement(TextPlacement::Latest);
    let slow = |turn: &Turn, prompt: &mut Prompt| {
        let is_slow = turn.conversation.messages.len() > 1;
        prompt.add_later(Tier::Turn, move || async move {
            if is_slow {
                tokio::task::yield_now().await;
            }
            [Fragment::new("git", "main")]
        });
    };
    let (stack, session) = (PromptStack::new(Format::OpenAiChat, settings).with(base()).with(slow), Session::new());
    let send = |messages: &[Value]| stack.assemble(body(messages), Context::default().session(session.clone()));
    // Both begin before either has started the session.
    let (round, first) = tokio::join!(send(&[user("one"), calls("1"), result("1")]), send(&[user("one")]));
    assert_eq!(texts(&first), ["BASE", &behind("one", "main")]);
    assert_eq!(texts(&round), ["BASE", &behind("one", "main"), "files"]);
}

#[tokio::test]
async fn of_latest_a_suggestion_is_made_once_though_it_stands_there_no_more() {
    let world = World::default();
    let settings = Settings::default().placement(TextPlacement::Latest);
    let suggestion = |_: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Turn, || Fragment::new("skill_suggestion:sql", "TRY sql").suggesting(id("sql")));
    };
    let stack = PromptStack::new(Format::OpenAiChat, settings).with(base()).with(world.clone()).with(suggestion);
    let chat = Placed { stack, session: Session::new(), world };
    chat.world.is("git", "main");
    let first = chat.send(body(&[user("one")])).await.0;
    assert!(last(&first).contains("main") && last(&first).contains("TRY sql"));
    let second = chat.send(body(&[user("one"), says("a"), user("two")])).await.0;
    assert_eq!(texts(&second), ["BASE", "one", "a", &behind("two", "main")]);
}
