//! Code-backed skills: what the model is told of them, and how its calls are answered.

use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Barrier;
use tower::{BoxError, service_fn};
use tower_prompt::config::CodeSkillsConfig as Options;
use tower_prompt::layers::wire::{Anthropic, Format, OpenAiChat, ToolCalls};
use tower_prompt::layers::{Context, Host, PromptStack, Session, Settings};
use tower_prompt::tools::{
    CodeSkill, CodeSkillCall, CodeSkills, CodeSkillsLayer, Confirmation, ConfirmationRequest, ListingForm, TurnAuthority,
};
use tower_prompt::{Assembly, Environment, Workspace};

/// Answers with its name and arguments, and counts.
fn echo(usage: &str, ran: &Arc<AtomicUsize>) -> CodeSkill {
    let ran = ran.clone();
    let handler = service_fn(move |call: CodeSkillCall| {
        ran.fetch_add(1, Ordering::Relaxed);
        async move { Ok::<_, Infallible>(format!("{} {}", call.name, Value::Object(call.arguments))) }
    });
    CodeSkill::new(usage, "Echoes.", handler).unwrap()
}

fn calls(calls: &[(&str, Value)]) -> ToolCalls {
    let calls =
        calls.iter().zip(1..).map(|((name, input), id)| json!({"type": "tool_use", "id": id.to_string(), "name": name, "input": input}));
    ToolCalls::in_response(Format::Anthropic, &json!({"content": calls.collect::<Vec<_>>()}))
}

fn texts(answers: &[Option<tower_prompt::layers::wire::ToolAnswer>]) -> Vec<&str> {
    answers.iter().map(|answer| answer.as_ref().map_or("-", |answer| &*answer.text)).collect()
}

fn options(toml: &str) -> Options {
    let environment = Environment::new("/nowhere").variable("BCODE_CONFIG_TOML", format!("[skills.code]\n{toml}"));
    let assembly = Assembly::load(&environment, &Workspace::at("/nowhere")).unwrap();
    assembly.config().skills.code.clone()
}

#[tokio::test]
async fn consecutive_parallel_safe_calls_run_side_by_side_and_all_others_alone() {
    let running = Arc::new((AtomicUsize::new(0), Mutex::new(Vec::new())));
    let barrier = Arc::new(Barrier::new(2));
    let of = |usage: &str, meets: bool| {
        let (running, barrier) = (running.clone(), barrier.clone());
        let handler = service_fn(move |call: CodeSkillCall| {
            let (running, barrier) = (running.clone(), barrier.clone());
            async move {
                let beside = running.0.fetch_add(1, Ordering::SeqCst);
                if meets {
                    // Alone it would wait for ever.
                    barrier.wait().await;
                } else {
                    tokio::task::yield_now().await;
                }
                running.0.fetch_sub(1, Ordering::SeqCst);
                running.1.lock().unwrap().push((call.name.clone(), beside));
                Ok::<_, Infallible>(call.name)
            }
        });
        CodeSkill::new(usage, "", handler).unwrap()
    };
    let skills = CodeSkills::new([of("a()", true).parallel_safe(), of("b()", true).parallel_safe(), of("c()", false)]);
    let asked = calls(&[("a", json!({})), ("b", json!({})), ("c", json!({})), ("c", json!({})), ("b", json!({})), ("a", json!({}))]);
    let answers = skills.turn(TurnAuthority::Member).answer(&asked).await;
    assert_eq!(texts(&answers), ["a", "b", "c", "c", "b", "a"]);
    let running = running.1.lock().unwrap();
    assert!(running.iter().filter(|(name, _)| name == "c").all(|(_, beside)| *beside == 0), "{running:?}");
}

#[tokio::test]
async fn a_failure_is_the_answer_of_its_own_call_alone() {
    let ran = Arc::default();
    let fails = CodeSkill::new("fails()", "", service_fn(|_| async { Err::<String, BoxError>("no disk".into()) })).unwrap();
    let breaks = CodeSkill::new(
        "breaks()",
        "",
        service_fn(|call: CodeSkillCall| async move {
            assert!(call.arguments.contains_key("never"), "on purpose");
            Ok::<_, Infallible>(String::new())
        }),
    );
    let skills = CodeSkills::new([echo("good(a)", &ran).parallel_safe(), fails.parallel_safe(), breaks.unwrap().parallel_safe()]);
    let asked = calls(&[
        ("good", json!({"a": "1"})),
        ("fails", json!({})),
        ("breaks", json!({})),
        ("good", json!({})),
        ("ls", json!({})),
        ("good", json!({"a": "2"})),
    ]);
    let answers = skills.turn(TurnAuthority::Member).answer(&asked).await;
    assert_eq!(
        texts(&answers),
        [
            r#"good {"a":"1"}"#,
            "the call failed: no disk",
            "the call failed: the host's function broke off",
            "`a` is missing; call it as good(a)",
            "-",
            r#"good {"a":"2"}"#,
        ]
    );
    assert_eq!(answers.iter().flatten().map(|answer| answer.is_error).collect::<Vec<_>>(), [false, true, true, true, false]);
    assert_eq!(ran.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn the_same_side_effect_is_brought_about_once_a_turn() {
    let ran = Arc::default();
    let tries = Arc::new(AtomicUsize::new(0));
    let flaky = {
        let tries = tries.clone();
        service_fn(move |_| {
            let attempt = tries.fetch_add(1, Ordering::Relaxed);
            async move { if attempt == 0 { Err::<String, BoxError>("busy".into()) } else { Ok("done".into()) } }
        })
    };
    let skills = CodeSkills::new([
        echo("send(to, text?)", &ran).side_effect().parallel_safe(),
        echo("read(a)", &ran),
        CodeSkill::new("flaky()", "", flaky).unwrap().side_effect(),
    ]);
    let mut turn = skills.turn(TurnAuthority::Member);
    let asked = calls(&[
        ("send", json!({"to": "x", "text": "y"})),
        ("send", json!({"text": "y", "to": "x"})),
        ("send", json!({"to": "z"})),
        ("read", json!({"a": "1"})),
        ("read", json!({"a": "1"})),
    ]);
    let answers = turn.answer(&asked).await;
    assert!(texts(&answers)[1].starts_with("`send` was called with these arguments in this turn already"), "{answers:?}");
    assert_eq!(ran.load(Ordering::Relaxed), 4);
    // In a later round of the same turn too; not in the next turn.
    let again = calls(&[("send", json!({"to": "x", "text": "y"}))]);
    assert!(turn.answer(&again).await[0].as_ref().unwrap().is_error);
    assert!(!skills.turn(TurnAuthority::Member).answer(&again).await[0].as_ref().unwrap().is_error);
    // What failed may be tried again.
    let flaky = calls(&[("flaky", json!({})), ("flaky", json!({})), ("flaky", json!({}))]);
    let answers = turn.answer(&flaky).await;
    assert_eq!(answers.iter().flatten().map(|answer| answer.is_error).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(tries.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_dangerous_call_runs_only_when_the_host_confirms_it() {
    let ran = Arc::default();
    let skills = CodeSkills::new([echo("wipe(path)", &ran).dangerous().side_effect()]);
    let asked = calls(&[("wipe", json!({"path": "/a"})), ("wipe", json!({"path": "/b"})), ("wipe", json!({"path": "/c"}))]);
    let answers = skills.turn(TurnAuthority::Administrator).answer(&asked).await;
    assert!(texts(&answers).iter().all(|text| text.starts_with("`wipe` runs only when it is confirmed")));
    let answer = |request: ConfirmationRequest| async move {
        match request.arguments["path"].as_str() {
            Some("/a") => Ok::<_, BoxError>(Confirmation::Approved),
            Some("/b") => Ok(Confirmation::Refused("the user said no".into())),
            _ => Err("nobody there".into()),
        }
    };
    let answers = skills.turn(TurnAuthority::Member).confirm(service_fn(answer)).answer(&asked).await;
    assert_eq!(
        texts(&answers),
        [
            r#"wipe {"path":"/a"}"#,
            "`wipe` was not run, it was refused: the user said no. Do not call it again unless the user asks for it",
            "`wipe` was not run: whether it may be could not be asked (nobody there)",
        ]
    );
    assert_eq!(ran.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_call_that_is_dropped_runs_nothing_more() {
    let ran = Arc::default();
    let waits = CodeSkill::new("waits()", "", service_fn(|_| std::future::pending::<Result<String, BoxError>>())).unwrap().side_effect();
    let skills = CodeSkills::new([waits, echo("next()", &ran)]);
    let mut turn = skills.turn(TurnAuthority::Member);
    let asked = calls(&[("waits", json!({})), ("next", json!({}))]);
    tokio::select! {
        biased;
        _ = turn.answer(&asked) => unreachable!("it waits for ever"),
        () = tokio::task::yield_now() => {}
    }
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    // Whether it had its effect nobody knows.
    let again = turn.answer(&calls(&[("waits", json!({}))])).await;
    assert!(texts(&again)[0].contains("in this turn already"));
}

#[tokio::test]
async fn what_was_dropped_while_the_host_was_asked_had_not_begun() {
    let ran = Arc::default();
    let safe = |usage: &str| echo(usage, &ran).side_effect().parallel_safe();
    let skills = CodeSkills::new([safe("send()"), safe("wipe()").dangerous()]);
    let mut turn = skills.turn(TurnAuthority::Member).confirm(service_fn(|_| std::future::pending::<Result<Confirmation, BoxError>>()));
    let asked = calls(&[("send", json!({})), ("wipe", json!({}))]);
    tokio::select! {
        biased;
        _ = turn.answer(&asked) => unreachable!("nobody confirms"),
        () = tokio::task::yield_now() => {}
    }
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    assert_eq!(texts(&turn.answer(&calls(&[("send", json!({}))])).await), ["send {}"]);
}

#[tokio::test]
async fn who_may_not_use_a_skill_is_told_nothing_of_it() {
    let ran = Arc::default();
    let skills = CodeSkills::new([echo("list_users()", &ran), echo("drop_users()", &ran).elevated()]);
    let names = |authority| skills.definitions(authority).map(|tool| tool.name).collect::<Vec<_>>();
    assert_eq!(names(TurnAuthority::Member), ["list_users"]);
    assert_eq!(names(TurnAuthority::Administrator), ["list_users", "drop_users"]);
    let asked = calls(&[("drop_users", json!({}))]);
    let answers = skills.turn(TurnAuthority::Member).answer(&asked).await;
    assert_eq!(texts(&answers), ["there is no tool `drop_users` here; of this kind there are list_users"]);
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    assert_eq!(texts(&skills.turn(TurnAuthority::Administrator).answer(&asked).await), ["drop_users {}"]);
}

#[test]
fn the_configuration_says_which_may_run() {
    let ran = Arc::default();
    let skills =
        CodeSkills::new([echo("Find()", &ran), echo("send()", &ran), echo("extra()", &ran).plugin("p"), echo("find()", &ran).plugin("p")]);
    assert!(skills.diagnostics()[0].message.contains("the second one of `p` is left out"));
    for (toml, names) in [
        ("", vec!["Find", "send", "extra"]),
        ("safe_mode = true", vec!["Find", "send"]),
        ("allow = ['FIND', 'extra']", vec!["Find", "extra"]),
        ("allow = ['find', 'send']\ndeny = ['Send']", vec!["Find"]),
    ] {
        let configured = skills.configured(&options(toml));
        assert_eq!(configured.visible(TurnAuthority::Member).map(CodeSkill::name).collect::<Vec<_>>(), names, "{toml}");
    }
    let configured = skills.configured(&options("deny = ['sned']\nrouting = [{ intent = '(', prefer = ['send'] }]"));
    let codes: Vec<_> = configured.diagnostics().iter().map(|found| &*found.code).collect();
    assert_eq!(codes, ["code-skill-shadowed", "code-skill-unknown", "intent-ignored"]);
}

#[test]
fn rules_prefer_and_avoid_by_what_the_user_says() {
    let ran = Arc::default();
    let skills = CodeSkills::new([echo("search()", &ran), echo("browse()", &ran), echo("admin()", &ran).elevated()]);
    let skills = skills.configured(&options(
        "routing = [{ intent = '\\bfind\\b', prefer = ['Search', 'admin', 'unknown'], avoid = ['browse'] }, { intent = 'web', prefer = ['browse', 'search'] }]",
    ));
    let routed = |text: &str| {
        let routing = skills.routing(text, TurnAuthority::Member);
        (routing.prefer.join(" "), routing.avoid.join(" "))
    };
    assert_eq!(routed("FIND it"), ("search".into(), "browse".into()));
    assert_eq!(routed("find it on the web"), ("search".into(), "browse".into()));
    assert_eq!(routed("the web"), ("browse search".into(), String::new()));
    assert_eq!(routed("findings"), Default::default());
}

#[tokio::test]
async fn what_a_session_was_told_of_them_stays() {
    let ran = Arc::default();
    let skills = CodeSkills::new([echo("find(text)", &ran), echo("wipe()", &ran).elevated()])
        .configured(&options("routing = [{ intent = 'look', prefer = ['find'] }]"));
    let layer = CodeSkillsLayer::new(skills).listing(ListingForm::Compact);
    let stack = PromptStack::new(Anthropic, Settings::default()).with(layer);
    let context = |session: &Session, is_administrator| {
        let mut host = Host::default();
        host.is_administrator = is_administrator;
        let mut context = Context::default().session(session.clone());
        context.host = host;
        context
    };
    let session = Session::new();
    let user = |text: &str| json!({"role": "user", "content": text});
    let first = stack.assemble(json!({"messages": [user("look it up")]}), context(&session, false)).await;
    assert_eq!(first["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["find"]);
    assert!(first["system"].to_string().contains("- find(text)") && !first.to_string().contains("wipe"));
    assert!(first["messages"].to_string().contains("prefer these tools where they serve: `find`"));
    let messages = [user("look it up"), json!({"role": "assistant", "content": "a"}), user("thanks")];
    let second = stack.assemble(json!({"messages": messages}), context(&session, true)).await;
    assert_eq!((&second["tools"], &second["system"]), (&first["tools"], &first["system"]));
    assert_eq!(second["messages"][0], first["messages"][0]);
    assert!(!second.to_string().contains("wipe"));
}

#[tokio::test]
async fn an_assembly_tells_of_those_that_its_configuration_lets_run() {
    let ran = Arc::default();
    let environment = Environment::new("/nowhere").variable("BCODE_CONFIG_TOML", "[skills.code]\ndeny = ['send']");
    let assembly = Assembly::load(&environment, &Workspace::at("/nowhere")).unwrap();
    let assembly = assembly.with_code_skills(&CodeSkills::new([echo("find()", &ran), echo("send()", &ran)]), ListingForm::Full);
    let request = assembly.stack(OpenAiChat).assemble(json!({"messages": [{"role": "user", "content": "hi"}]}), Context::default()).await;
    let tools: Vec<_> = request["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(tools, ["find"]);
    assert!(request["messages"][0]["content"].as_str().unwrap().contains("- find(): Echoes."));
    assert_eq!(assembly.code_skills().visible(TurnAuthority::Member).count(), 1);
}
