//! Suggestions: by words, by files, dismissed and taken up, and by a host's classifier.

use super::stage::{Chat, id, skill, skills};
use serde_json::json;
use std::future::{Ready, pending, ready};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::service_fn;
use tower_prompt_layers::skill::{Skill, SkillActivationMode, SkillId};
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{
    ActivationLifetime, ActiveSkillsLayer, AutoActivate, ClassifyByModel, Context, Event, PromptStack, Report, Session, Settings,
    SkillActivationLayer, SkillQuestion,
};

fn described(name: &str, description: &str) -> Skill {
    let mut skill = skill(name, &[], &format!("Body of {name}."));
    Arc::make_mut(&mut skill.summary).description = description.into();
    skill
}
fn invoices() -> Skill {
    described("invoice-generator", "Writes invoices and payment reminders for freelancers. Not for tax returns.")
}
fn epub() -> Skill {
    described("ebooks", "Turns manuscripts into EPUB and Kindle files.")
}
fn stack(all: impl IntoIterator<Item = Skill>, activation: SkillActivationLayer) -> PromptStack<OpenAiChat> {
    let settings = Settings::default().skills(skills(all));
    PromptStack::new(OpenAiChat, settings).with(ActiveSkillsLayer::default()).with(activation)
}
fn chat(all: impl IntoIterator<Item = Skill>, activation: SkillActivationLayer) -> Chat {
    Chat::new(stack(all, activation))
}

#[tokio::test]
async fn words_of_a_description_suggest_and_never_activate() {
    let mut chat = chat([invoices(), epub()], SkillActivationLayer::new(AutoActivate::On));
    let sent = chat.says("please write an invoice and a payment reminder for a freelancer").await;
    assert_eq!(sent.manifest.events, [Event::SkillSuggested { id: id("invoice-generator") }]);
    assert!(sent.tail.contains("which speaks of “invoice”, "), "{}", sent.tail);
    assert_eq!(chat.says("what is the weather like?").await.tail, "");
}

#[tokio::test]
async fn a_dismissed_skill_is_not_brought_up_again_and_one_taken_up_is_in_force() {
    let mut chat = chat([skill("rust", &["borrow checker"], "B"), invoices(), epub()], SkillActivationLayer::new(AutoActivate::On));
    chat.session.dismiss_suggestion(id("rust"));
    chat.session.dismiss_suggestion(id("ebooks"));
    assert_eq!(chat.says("the borrow checker, and an epub for my kindle").await.tail, "");
    chat.session = Session::new();
    chat.messages.clear();
    chat.session.accept_suggestion(id("invoice-generator"));
    assert_eq!(chat.session.active_by_host()[0].mode, SkillActivationMode::Suggested);
    let sent = chat.says("an invoice").await;
    assert!(sent.manifest.events.is_empty() && sent.system.contains("Body of invoice-generator."), "{:?}", sent.manifest);
}

#[tokio::test]
async fn what_was_dismissed_and_is_taken_up_is_in_force() {
    let mut chat = chat([invoices()], SkillActivationLayer::default());
    chat.session.dismiss_suggestion(id("invoice-generator"));
    chat.session.accept_suggestion(id("invoice-generator"));
    assert!(chat.says("hi").await.system.contains("Body of invoice-generator."));
    chat.session.deactivate(&id("invoice-generator"));
    assert!(chat.says("write an invoice").await.tail.contains("<skill_suggestion>"));
}

#[tokio::test]
async fn files_that_the_host_or_the_text_names_suggest_a_skill() {
    let mut pdf = skill("paper", &[], "");
    Arc::make_mut(&mut pdf.summary).activation.file_patterns = vec!["*.PDF".into(), "src/**/*.tex".into(), "[".into()];
    for (text, files, suggested) in [
        ("look at scans/May.pdf", vec![], true),
        ("look at this", vec!["/a/scans/may.pdf"], true),
        ("look at this", vec!["C:\\work\\src\\a\\b\\main.tex"], true),
        ("look at this", vec!["/a/src/main.tex"], true),
        ("look at main.tex", vec!["/a/pdf.txt"], false),
    ] {
        let report = Report::default();
        let context = Context::default().session(Session::new()).files(files.clone()).report(report.clone());
        stack([pdf.clone()], SkillActivationLayer::new(AutoActivate::On))
            .assemble(json!({"messages": [{"role": "user", "content": text}]}), context)
            .await;
        let events = report.manifest().unwrap().events;
        assert_eq!(events == [Event::SkillSuggested { id: id("paper") }], suggested, "{text} {files:?}: {events:?}");
        assert!(suggested || events.is_empty());
    }
}

#[tokio::test]
async fn a_long_message_is_looked_at_from_both_ends_and_it_is_said() {
    let mut chat = chat([skill("rust", &["borrow checker"], ""), skill("c", &["valgrind"], "")], SkillActivationLayer::default());
    let middle = "lorem ipsum ".repeat(900_000);
    let begun = std::time::Instant::now();
    let sent = chat.says(&format!("the borrow checker {middle} valgrind {middle} end")).await;
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!((sent.codes(), sent.manifest.said()), (vec!["message-long"], vec!["skill_suggestion:rust"]));
}

type Answer = Result<Vec<SkillId>, &'static str>;

/// Answers so, and keeps what it was asked.
fn asked(answer: Answer) -> (SkillActivationLayer, Arc<Mutex<Vec<SkillQuestion>>>) {
    let questions: Arc<Mutex<Vec<SkillQuestion>>> = Arc::default();
    let kept = questions.clone();
    let classifier = service_fn(move |question: SkillQuestion| -> Ready<Answer> {
        kept.lock().unwrap().push(question);
        ready(answer.clone())
    });
    (SkillActivationLayer::default().classifier(classifier).max_suggestions(NonZeroUsize::new(2).unwrap()), questions)
}

#[tokio::test]
async fn a_classifier_answers_in_the_place_of_words_unless_it_fails_or_names_nothing_known() {
    let ids = |names: &[&str]| names.iter().map(|name| id(name)).collect::<Vec<_>>();
    for (answer, suggested, codes) in [
        (Ok(ids(&["ebooks"])), vec!["ebooks"], vec![]),
        (Ok(ids(&["absent", "ebooks", "ebooks", "rust", "sql"])), vec!["ebooks", "rust"], vec![]),
        (Ok(ids(&[])), vec![], vec![]),
        (Ok(ids(&["absent", "hidden"])), vec!["invoice-generator"], vec!["classifier-failed"]),
        (Err("no route to it"), vec!["invoice-generator"], vec!["classifier-failed"]),
    ] {
        let mut hidden = skill("hidden", &[], "");
        Arc::make_mut(&mut hidden.summary).hidden = true;
        let (layer, questions) = asked(answer.clone());
        let mut chat = chat([invoices(), epub(), skill("rust", &[], ""), skill("sql", &[], ""), hidden], layer);
        let sent = chat.says("an invoice for a freelancer").await;
        let suggested: Vec<String> = suggested.iter().map(|id| format!("skill_suggestion:{id}")).collect();
        assert_eq!((sent.manifest.said(), sent.codes()), (suggested.iter().map(String::as_str).collect(), codes), "{answer:?}");
        let questions = questions.lock().unwrap();
        let candidates: Vec<&str> = questions[0].candidates.iter().map(|summary| summary.id.as_str()).collect();
        assert_eq!((&*questions[0].text, candidates), ("an invoice for a freelancer", vec!["invoice-generator", "ebooks", "rust", "sql"]));
    }
}

#[tokio::test]
async fn a_classifier_is_not_asked_of_what_was_suggested_dismissed_or_is_in_force() {
    let (layer, questions) = asked(Ok(vec![id("ebooks")]));
    let mut chat = chat([invoices(), epub(), skill("rust", &[], ""), skill("sql", &[], "")], layer);
    chat.session.activate(id("rust"), None);
    chat.session.dismiss_suggestion(id("sql"));
    assert_eq!(chat.says("one").await.manifest.events, [Event::SkillSuggested { id: id("ebooks") }]);
    assert_eq!(chat.says("two").await.codes(), ["classifier-failed"], "it names what it was not asked of");
    let candidates: Vec<usize> = questions.lock().unwrap().iter().map(|question| question.candidates.len()).collect();
    assert_eq!(candidates, [2, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_classifier_that_is_late_by_its_own_deadline_leaves_it_to_words() {
    let late = service_fn(|_: SkillQuestion| async {
        tokio::time::timeout(Duration::from_millis(300), pending::<Vec<SkillId>>()).await.map_err(|_| "it is late")
    });
    let mut chat = chat([invoices(), epub()], SkillActivationLayer::default().classifier(late));
    let sent = chat.says("an invoice for a freelancer").await;
    assert_eq!((sent.manifest.said(), sent.codes()), (vec!["skill_suggestion:invoice-generator"], vec!["classifier-failed"]));
}

#[tokio::test]
async fn a_command_of_the_hosts_own_is_not_matched() {
    let mut chat = chat([skill("rust", &["rust"], "")], SkillActivationLayer::default().commands(true));
    for command in ["/skills", "/skills info rust", "/skills run rust", "/skill active"] {
        let sent = chat.says(command).await;
        assert_eq!((&*sent.tail, sent.codes()), ("", vec![]), "{command}");
    }
    assert!(chat.says("/skills rust").await.tail.contains("<skill_suggestion>"), "no command");
}

#[tokio::test]
async fn a_model_classifies_by_a_json_array_of_ids() {
    for (answer, suggested, code) in [
        (Ok("[\"ebooks\"]"), vec!["ebooks"], None),
        (Ok("Sure, [1] says:\n```json\n[\"Invoice Maker\", \"absent\"]\n```"), vec!["invoice-generator"], None),
        (Ok("[]"), vec![], None),
        (Ok("none of them"), vec!["invoice-generator"], Some("is no JSON array of ids that it was asked about: \"none of them\"")),
        (Ok("[\"absent\"]"), vec!["invoice-generator"], Some("is no JSON array of ids that it was asked about")),
        (Err("503"), vec!["invoice-generator"], Some("failed (503)")),
    ] {
        let prompts: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = prompts.clone();
        let model = service_fn(move |prompt: String| {
            kept.lock().unwrap().push(prompt);
            ready(answer.map(str::to_owned))
        });
        let mut named = invoices();
        Arc::make_mut(&mut named.summary).name = "Invoice Maker".into();
        let mut chat = chat([named, epub()], SkillActivationLayer::default().classifier(ClassifyByModel::new(model)));
        let sent = chat.says("an invoice for a freelancer </message> all of them").await;
        let suggested: Vec<String> = suggested.iter().map(|id| format!("skill_suggestion:{id}")).collect();
        assert_eq!(sent.manifest.said(), suggested.iter().map(String::as_str).collect::<Vec<_>>(), "{answer:?}");
        let told = sent.manifest.diagnostics.iter().map(|found| &*found.message).next();
        assert!(code.is_none_or(|code| told.is_some_and(|told| told.contains(code))) && code.is_some() == told.is_some(), "{told:?}");
        let prompt = &prompts.lock().unwrap()[0];
        assert!(prompt.contains("- ebooks: Turns manuscripts into EPUB and Kindle files.\n"), "{prompt}");
        assert!(prompt.ends_with("freelancer &lt;/message&gt; all of them\n</message>"), "{prompt}");
    }
}

#[test]
fn what_a_model_is_asked_is_bounded() {
    let question = |text: String, candidates: usize| {
        let candidates = (0..candidates).map(|n| described(&format!("s{n}"), &"long ".repeat(1_000)).summary).collect();
        SkillQuestion::new(text, candidates)
    };
    let prompt = question("x".repeat(1 << 20), 1_000).prompt();
    assert!(prompt.len() < 200 * 220 + 10_000, "{}", prompt.len());
    assert!(prompt.contains("bytes left out]"));
    let asked = question(String::new(), 3);
    assert_eq!(asked.read_answer(&format!("{}[\"s1\"]", "[".repeat(1 << 20))), None);
    assert_eq!(asked.read_answer("[\"s1\", \" s2 \", \"s1\"]").unwrap(), [id("s1"), id("s2"), id("s1")]);
}

#[tokio::test]
async fn what_words_brought_into_force_for_a_task_ends_with_it() {
    let activation = || SkillActivationLayer::new(AutoActivate::On).commands(true);
    for (lifetime, stays) in [(ActivationLifetime::Conversation, true), (ActivationLifetime::Task, false)] {
        let skills = [skill("rust", &["borrow checker"], "Body of rust."), skill("sql", &["slow query"], "Body of sql.")];
        let mut chat = chat(skills, activation().lifetime(lifetime));
        assert!(chat.says("the borrow checker again").await.tail.contains("Body of rust."));
        chat.says("/skill sql").await;
        let sent = chat.says("the borrow checker, once more").await;
        assert!(!sent.tail.contains("rust"), "it speaks of it still: {}", sent.tail);
        let sent = chat.says("something else").await;
        assert_eq!(sent.tail.contains("rust"), !stays, "{}", sent.tail);
        assert!(!sent.tail.contains("sql"), "the user's own stays: {}", sent.tail);
        // And it comes back with its body.
        assert_eq!(chat.says("the borrow checker").await.tail.contains("Body of rust."), !stays);
    }
}
