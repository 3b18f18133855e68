//! A host that renders the system prompt anew.

use crate::common::*;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::{Fitted, Room};
use tower_prompt_layers::wire::{Anthropic, OpenAiChat, Wire};
use tower_prompt_layers::{Context, Fragment, Prompt, PromptStack, Report, Round, Session, SessionEvent, Settings, Text, Tier, Turn};

/// Tells what it was and what it is.
struct Fact(&'static str);
impl Text for Fact {
    fn fit(&self, _: &Room<'_>) -> Fitted<'_> {
        Fitted::whole(self.0)
    }
    fn since(&self, said: &str, _: &Room<'_>) -> Option<Fitted<'_>> {
        Some(Fitted::whole(format!("{said} became {}", self.0)))
    }
}

/// A base and a fact of the session, which the host may change.
struct Host<W> {
    stack: PromptStack<W>,
    session: Session,
    base: Arc<Mutex<&'static str>>,
    fact: Arc<Mutex<&'static str>>,
}

fn host<W>(wire: W) -> Host<W> {
    let (base, fact) = (Arc::new(Mutex::new("BASE")), Arc::new(Mutex::new("v1")));
    let (base_now, fact_now) = (base.clone(), fact.clone());
    let layer = move |_: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Stable, || Fragment::new("base", *base_now.lock().unwrap()));
        prompt.add(Tier::Session, || Fragment::new("fact", Fact(*fact_now.lock().unwrap())));
    };
    let stack = PromptStack::new(wire, Settings::default()).with(layer).with(clock("1"));
    Host { stack, session: Session::new(), base, fact }
}

impl<W: Wire<serde_json::Value>> Host<W> {
    fn context(&self) -> Context {
        Context::default().session(self.session.clone())
    }
    async fn send(&self, history: &[serde_json::Value]) -> serde_json::Value {
        self.stack.assemble(body(history), self.context()).await
    }
}

#[tokio::test]
async fn the_system_prompt_is_rendered_anew_by_the_hosts_word_alone_and_anchored_texts_stay() {
    let host = host(OpenAiChat);
    let mut history = vec![user("one")];
    host.send(&history).await;
    *host.base.lock().unwrap() = "NEW BASE";
    history.extend([says("a"), user("two")]);
    let before = host.send(&history).await;
    assert_eq!(texts(&before), ["BASE\n\nv1", &behind("one", "1"), "a", &behind("two", "NEW BASE")]);
    host.session.rebase();
    history.extend([says("b"), user("three")]);
    let after = host.send(&history).await;
    assert_eq!(texts(&after), ["NEW BASE\n\nv1", &behind("one", "1"), "a", &behind("two", "NEW BASE"), "b", "three"]);
}

#[tokio::test]
async fn a_former_system_text_is_taken_off_what_a_caller_kept() {
    let host = host(OpenAiChat);
    let first = host.send(&[system("HOST"), user("one")]).await;
    host.session.rebase();
    *host.base.lock().unwrap() = "NEW BASE";
    let again = host.send(&messages(&first)).await;
    assert_eq!(texts(&again), ["NEW BASE\n\nv1\n\nHOST", &behind("one", "1")]);
    assert_eq!(again, host.send(&messages(&again)).await);

    let host = self::host(Anthropic);
    let first = host.stack.assemble(json!({"system": "HOST", "messages": [user("one")]}), host.context()).await;
    host.session.rebase();
    *host.base.lock().unwrap() = "NEW BASE";
    let again = host.stack.assemble(first, host.context()).await;
    assert_eq!(again["system"], json!([block("NEW BASE\n\nv1"), block("HOST")]));
}

#[tokio::test]
async fn a_former_system_text_that_begins_with_the_new_one_is_taken_off_whole() {
    let host = host(OpenAiChat);
    let first = host.send(&[system("HOST"), user("one")]).await;
    host.session.rebase();
    *host.fact.lock().unwrap() = "";
    let again = host.send(&messages(&first)).await;
    assert_eq!(texts(&again)[0], "BASE\n\nHOST");
    assert_eq!(again, host.send(&messages(&again)).await);
}

#[tokio::test]
async fn behind_a_rebase_a_fact_whose_base_is_gone_is_said_whole() {
    let host = host(OpenAiChat);
    let mut history = vec![user("one")];
    host.send(&history).await;
    *host.fact.lock().unwrap() = "v2";
    history.extend([says("a"), user("two")]);
    assert_eq!(last(&host.send(&history).await), behind("two", "v1 became v2"));
    host.session.rebase();
    *host.fact.lock().unwrap() = "v3";
    history.extend([says("b"), user("three")]);
    let rebased = host.send(&history).await;
    assert_eq!(texts(&rebased)[0], "BASE\n\nv3");
    assert_eq!(last(&rebased), behind("three", "v3"));
    *host.fact.lock().unwrap() = "v4";
    history.extend([says("c"), user("four")]);
    assert_eq!(last(&host.send(&history).await), behind("four", "v3 became v4"));
}

#[tokio::test]
async fn behind_a_rebase_a_fact_that_the_new_system_prompt_alone_tells_is_not_said_twice() {
    let host = host(OpenAiChat);
    let mut history = vec![user("one")];
    host.send(&history).await;
    host.session.rebase();
    *host.fact.lock().unwrap() = "v2";
    history.extend([says("a"), user("two")]);
    assert_eq!(texts(&host.send(&history).await), ["BASE\n\nv2", &behind("one", "1"), "a", "two"]);
}

#[tokio::test]
async fn a_retry_right_behind_a_rebase_gets_the_new_system_prompt_and_the_text_of_its_place() {
    let host = host(OpenAiChat);
    host.send(&[user("one")]).await;
    host.session.rebase();
    *host.base.lock().unwrap() = "NEW BASE";
    let request = host.stack.begin(body(&[user("one")]), host.context());
    assert_eq!(request.turn.round, Round::Start);
    assert_eq!(texts(&host.stack.finish(request).await), ["NEW BASE\n\nv1", &behind("one", "1")]);
    assert_eq!(host.session.places(), 1);
}

#[tokio::test]
async fn a_rebase_before_the_start_changes_nothing() {
    let host = host(OpenAiChat);
    host.session.rebase();
    assert_eq!(texts(&host.send(&[user("one")]).await), ["BASE\n\nv1", &behind("one", "1")]);
}

#[tokio::test]
async fn a_request_that_collected_no_system_prompt_goes_on_with_the_one_there_is() {
    let host = host(OpenAiChat);
    let history = vec![user("one")];
    let sent = host.send(&history).await;
    let (mut with_call, mut further) = (history.clone(), history.clone());
    with_call.extend([calls("1"), result("1")]);
    // A retry and a round of tools, under way while the host asks for another system prompt.
    let retry = host.stack.begin(body(&history), host.context());
    let tools = host.stack.begin(body(&with_call), host.context());
    *host.base.lock().unwrap() = "NEW BASE";
    host.session.rebase();
    assert_eq!(host.stack.finish(retry).await, sent);
    assert_eq!(messages(&host.stack.finish(tools).await)[..2], messages(&sent)[..]);
    // The next request renders it.
    further.extend([says("a"), user("two")]);
    let next = host.send(&further).await;
    assert_eq!(texts(&next)[..2], ["NEW BASE\n\nv1", &behind("one", "1")]);
    assert_eq!(texts(&host.send(&history).await)[..], ["NEW BASE\n\nv1", &behind("one", "1")]);
}

#[tokio::test]
async fn a_log_tells_each_system_prompt_as_it_was_sent() {
    let told: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let kept = told.clone();
    let mut host = host(OpenAiChat);
    host.session = Session::new().on_event(move |event: &SessionEvent| {
        if let SessionEvent::SystemRendered(system) = event {
            kept.lock().unwrap().push((system.text().to_owned(), system.hash().to_string()));
        }
    });
    let history = [user("one")];
    let mut sent = Vec::new();
    for base in ["BASE", "NEW BASE"] {
        *host.base.lock().unwrap() = base;
        host.session.rebase();
        let report = Report::default();
        let request = host.stack.assemble(body(&history), host.context().report(report.clone())).await;
        sent.push((texts(&request)[0].to_owned(), report.manifest().unwrap().system_hash.unwrap().to_string()));
    }
    assert_eq!(*told.lock().unwrap(), sent);
}
