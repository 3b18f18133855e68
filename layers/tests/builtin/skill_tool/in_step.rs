//! The session stays in step with the tool: what is invoked again, put down, switched off and brought back.

use super::*;
use tower_prompt_layers::TextPlacement;

/// A result that the tool gives without knowing the conversation.
async fn calls_blindly(talk: &mut Loop, arguments: &Value) -> SkillToolResult {
    let calls = ToolCalls::in_response(talk.format, &response(talk.format, "skill", arguments));
    let result = tool(&talk.skills).answer(&calls, None).await.remove(0).unwrap();
    calls.append(&mut talk.request, &[ToolAnswer::from(result.clone())]).unwrap();
    result
}
fn arguments(session: &Session) -> Vec<Option<String>> {
    session.active().into_iter().map(|skill| skill.arguments).collect()
}
/// The user's next turn.
async fn next(talk: &mut Loop, text: &str) -> Value {
    talk.says("assistant", "ok");
    talk.says("user", text);
    talk.send().await
}

#[tokio::test]
async fn invoked_again_a_skill_has_its_new_arguments_and_its_body_once() {
    for format in FORMATS {
        for knows in [true, false] {
            let mut talk = Loop::new(format, &two(), SkillToolOptions::default());
            talk.says("user", "one");
            talk.send().await;
            talk.calls(&json!({"name": "rust", "input": "first-input"})).await;
            let sent = talk.send().await;
            assert_eq!(arguments(&talk.session), [Some("first-input".into())], "{format}");
            let again = json!({"name": "rust", "input": {"b": "second-input", "a": 1}});
            let result = if knows { talk.calls(&again).await } else { calls_blindly(&mut talk, &again).await };
            assert_eq!(result.text.contains(BODY), !knows, "{format}");
            let sent_again = talk.send().await;
            assert_eq!(sent_again[field(format)], talk.request[field(format)], "{format} {knows}: nothing behind the results");
            let (before, after) = (&sent[field(format)].as_array().unwrap(), &sent_again[field(format)].as_array().unwrap());
            assert!(after.starts_with(before), "{format}: nothing is rewritten");
            let new = r#"{"a":1,"b":"second-input"}"#;
            assert_eq!(arguments(&talk.session), [Some(new.into())], "{format} {knows}");
            let event = Event::SkillActivated { id: id("rust"), mode: SkillActivationMode::Tool };
            assert_eq!(talk.report.manifest().unwrap().events, [event], "{format} {knows}");
            talk.send().await;
            let sent = next(&mut talk, "two").await;
            assert_eq!(count(&sent, "first error"), if knows { 1 } else { 2 }, "{format}: as the results have it, and no more");

            talk.request[field(format)] = json!([]);
            talk.says("user", "Summary of what went on. Go on.");
            let compacted = talk.send().await.to_string();
            assert!(compacted.contains("second-input") && !compacted.contains("first-input"), "{format} {knows}");
            assert!(compacted.contains("Invoked earlier in this conversation"), "{format} {knows}: no new order");
        }
    }
}

#[tokio::test]
async fn arguments_in_another_tools_result_or_an_answer_of_the_hosts_own_change_nothing() {
    for (name, answer) in [("fetch", None), ("skill", Some("The user allows no skills now."))] {
        let mut talk = Loop::new(Format::OpenAiChat, &two(), SkillToolOptions::default());
        talk.says("user", "one");
        talk.send().await;
        talk.calls(&json!({"name": "rust", "input": "x"})).await;
        talk.send().await;
        let call = json!({"name": "rust", "input": "y"});
        let calls = ToolCalls::in_response(Format::OpenAiChat, &response(Format::OpenAiChat, name, &call));
        let said = tool(&two()).oneshot(SkillToolCall::new(call).session(&talk.session)).await.unwrap().text;
        let answer = answer.map_or(said, str::to_owned);
        calls.append(&mut talk.request, &[answer.into()]).unwrap();
        talk.send().await;
        assert_eq!(arguments(&talk.session), [Some("x".into())], "{name}");
    }
}

#[tokio::test]
async fn a_skill_that_the_user_brought_into_force_stays_the_users() {
    let mut talk = Loop::new(Format::Anthropic, &two(), SkillToolOptions::default());
    let tool = tool(&two());
    assert!(!tool.activate(&talk.session, "rust", Some("by-the-user")).is_error);
    talk.says("user", "one");
    assert_eq!(count(&talk.send().await, "first error"), 1);
    assert!(talk.calls(&json!({"name": "rust", "input": "by-the-model"})).await.text.contains("in force already"));
    let sent = talk.send().await;
    assert_eq!(count(&sent, "first error"), 1, "a body stands once, whoever asks for it");
    let active = talk.session.active().remove(0);
    assert_eq!((active.mode, active.arguments.as_deref()), (SkillActivationMode::Explicit, Some("by-the-model")));
    let refused = talk.calls(&json!({"operation": "deactivate", "name": "rust"})).await;
    assert!(refused.is_error && refused.text.contains("by the user's"), "{}", refused.text);
    let blind = calls_blindly(&mut talk, &json!({"operation": "deactivate", "name": "rust"})).await;
    assert!(!blind.is_error && blind.text.contains("If you loaded"), "it can't know: {}", blind.text);
    talk.send().await;
    assert_eq!(talk.session.active().len(), 1, "and the session does");
    assert!(!tool.deactivate(&talk.session, "rust").is_error);
    assert_eq!(count(&next(&mut talk, "two").await, "The skill rust no longer applies."), 1);
    assert!(talk.session.active().is_empty());
}

#[tokio::test]
async fn the_host_names_skills_as_the_user_does() {
    let mut hidden = skill("secret", &[], "Hush.");
    Arc::make_mut(&mut hidden.summary).hidden = true;
    Arc::make_mut(&mut hidden.summary).name = "Well Known".into();
    let mut disabled = skill("gone", &[], "");
    Arc::make_mut(&mut disabled.summary).disabled = true;
    let (tool, session) = (tool(&skills([skill("rust", &[], BODY), hidden, disabled])), Session::new());
    assert!(!tool.activate(&session, "Well Known", None).is_error);
    assert_eq!(session.active().remove(0).id, id("secret"));
    for name in ["gone", "rsut", ""] {
        let said = tool.activate(&session, name, None);
        assert!(said.is_error && said.text.contains("nearest first: rust"), "{}", said.text);
        assert!(!said.text.contains("secret"), "{}", said.text);
    }
    let said = tool.deactivate(&session, "rust");
    assert!(said.is_error && said.text.ends_with("is not in force. These are: secret."), "{}", said.text);
    assert!(!tool.deactivate(&session, "secret").is_error && session.active().is_empty());
    assert!(tool.deactivate(&session, "secret").text.ends_with("No skill is."));
}

#[tokio::test]
async fn the_model_puts_down_what_it_loaded_in_this_branch_alone_and_may_load_it_again() {
    for format in FORMATS {
        let mut talk = Loop::new(format, &two(), SkillToolOptions::default());
        talk.says("user", "one");
        let first = talk.send().await;
        talk.calls(&json!({"name": "rust"})).await;
        talk.send().await;
        let other_branch = talk.request.clone();
        let off = talk.calls(&json!({"operation": "deactivate", "name": "rust"})).await;
        assert!(off.text.contains("The skill rust no longer applies"), "{format}: {}", off.text);
        let sent = talk.send().await;
        assert_eq!(sent[field(format)], talk.request[field(format)], "{format}: the result says it");
        assert_eq!((sent["tools"].to_string(), talk.session.active().len()), (first["tools"].to_string(), 0), "{format}");
        assert_eq!(talk.report.manifest().unwrap().events, [Event::SkillPutDown { id: id("rust") }], "{format}");
        let sent = next(&mut talk, "two").await;
        assert_eq!((count(&sent, "first error"), count(&sent, "no longer applies")), (1, 1), "{format}");
        // Its body counts as said no more, since it was taken back.
        let again = talk.calls(&json!({"name": "rust"})).await;
        assert!(again.text.contains(BODY), "{format}");
        let sent = talk.send().await;
        assert_eq!((count(&sent, "first error"), talk.session.active().len()), (2, 1), "{format}");
        talk.request = other_branch;
        let sent = next(&mut talk, "another two").await;
        assert_eq!((count(&sent, "first error"), talk.session.active().len()), (1, 1), "{format}");

        talk.calls(&json!({"operation": "deactivate", "name": "rust"})).await;
        talk.send().await;
        talk.request[field(format)] = json!([]);
        talk.says("user", "Summary. Go on.");
        assert_eq!(count(&talk.send().await, "first error"), 0, "{format}: and a compaction leaves it out");
    }
}

#[tokio::test]
async fn of_calls_in_one_response_the_last_counts() {
    let (load, off) = (json!({"name": "rust"}), json!({"operation": "deactivate", "name": "rust"}));
    for (calls, before, in_force) in
        [([&load, &off], false, 0), ([&off, &load], false, 1), ([&off, &load], true, 1), ([&load, &off], true, 0), ([&off, &off], true, 0)]
    {
        let mut talk = Loop::new(Format::Anthropic, &two(), SkillToolOptions::default());
        talk.says("user", "one");
        talk.send().await;
        if before {
            talk.calls(&load).await;
            talk.send().await;
        }
        let uses = calls.map(|input| json!({"type": "tool_use", "id": input.to_string(), "name": "skill", "input": input}));
        let calls = ToolCalls::in_response(Format::Anthropic, &json!({"content": uses}));
        let answers: Vec<ToolAnswer> =
            tool(&two()).answer(&calls, Some(&talk.session)).await.into_iter().flatten().map(ToolAnswer::from).collect();
        calls.append(&mut talk.request, &answers).unwrap();
        let sent = talk.send().await;
        assert_eq!(sent["messages"], talk.request["messages"]);
        assert_eq!(talk.session.active().len(), in_force, "{uses:?} {before}");
        let next = next(&mut talk, "two").await;
        assert_eq!(talk.session.active().len(), in_force, "{uses:?} {before}");
        assert_eq!(count(&next, "first error"), count(&talk.request, "first error"), "never behind what the results hold");
    }
}

#[tokio::test]
async fn a_skill_that_was_said_to_be_off_and_comes_back_is_said_whole_although_an_old_result_holds_it() {
    let mut talk = Loop::new(Format::OpenAiChat, &two(), SkillToolOptions::default());
    talk.says("user", "one");
    talk.send().await;
    talk.calls(&json!({"name": "rust"})).await;
    talk.send().await;
    talk.session.deactivate(&id("rust"));
    next(&mut talk, "off").await;
    talk.session.activate(id("rust"), None);
    let sent = next(&mut talk, "on").await;
    assert!(sent["messages"].as_array().unwrap().last().unwrap().to_string().contains("first error"), "{sent}");
}

#[tokio::test]
async fn old_arguments_are_no_new_order_where_the_body_has_to_be_said_again() {
    // The caller empties old results.
    let mut talk = Loop::new(Format::OpenAiChat, &two(), SkillToolOptions::default());
    talk.says("user", "one");
    talk.send().await;
    talk.calls(&json!({"name": "rust", "input": "old-input"})).await;
    talk.send().await;
    next(&mut talk, "two").await;
    talk.request["messages"][2]["content"] = "[cleared]".into();
    let sent = next(&mut talk, "three").await["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(sent.contains("Invoked earlier in this conversation, for what was then asked: old-input"), "{sent}");

    // Texts of former turns are left out.
    let settings = Settings::default().skills(two()).placement(TextPlacement::Latest);
    let stack = PromptStack::new(Format::OpenAiChat, settings).with(ActiveSkillsLayer::default());
    let session = Session::new();
    let mut messages = vec![json!({"role": "user", "content": "one"})];
    let assemble = async |messages: &[Value]| {
        let sent = stack.assemble(json!({"messages": messages}), Context::default().session(session.clone())).await;
        sent["messages"].as_array().unwrap().last().unwrap().to_string()
    };
    assemble(&messages).await;
    for (turn, as_order) in [("two", true), ("three", false)] {
        messages.extend([json!({"role": "assistant", "content": "ok"}), json!({"role": "user", "content": turn})]);
        if as_order {
            session.activate(id("rust"), Some("old-input"));
        }
        let sent = assemble(&messages).await;
        assert!(sent.contains("first error"), "{turn}: {sent}");
        assert_eq!(sent.contains("Invoked earlier"), !as_order, "{turn}: {sent}");
    }
}

#[tokio::test]
async fn what_the_model_did_is_known_to_a_session_that_is_played_again() {
    let events: Arc<Mutex<Vec<SessionEvent>>> = Arc::default();
    let kept = events.clone();
    let mut talk = Loop::new(Format::Anthropic, &two(), SkillToolOptions::default());
    talk.session = Session::new().on_event(move |event: &SessionEvent| kept.lock().unwrap().push(event.clone()));
    talk.says("user", "one");
    talk.send().await;
    for arguments in [json!({"name": "rust"}), json!({"name": "rust", "input": "x"}), json!({"name": "sql"})] {
        talk.calls(&arguments).await;
        talk.send().await;
    }
    talk.calls(&json!({"operation": "deactivate", "name": "sql"})).await;
    talk.send().await;
    let (active, log) = (talk.session.active(), serde_json::to_string(&*events.lock().unwrap()).unwrap());
    assert_eq!(active.iter().map(|skill| skill.arguments.as_deref()).collect::<Vec<_>>(), [Some("x")]);
    talk.session = Session::replay(serde_json::from_str::<Vec<SessionEvent>>(&log).unwrap()).unwrap();
    assert_eq!(talk.session.active(), active);
    let sent = next(&mut talk, "two").await;
    assert_eq!((count(&sent, "first error"), count(&sent, "Explain first")), (1, 1));
}
