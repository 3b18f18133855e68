//! Invariants that a selector chooses. Time is virtual: no test sleeps.

mod kept;
mod late;
mod stage;

use crate::place::Place;
use serde_json::json;
use stage::{Act, Chat, DOCUMENT, fails, names};
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::{Context as Cx, Poll, Wake, Waker};
use tower::service_fn;
use tower_prompt::layers::invariant::{InvariantSelector, SelectionRequest, SelectionResponse};
use tower_prompt::layers::{Purpose, Tier, Trust};

#[tokio::test(start_paused = true)]
async fn the_first_prompt_waits_and_its_choice_stays_until_an_answer_is_committed() {
    let mut chat = Chat::new("", [names(700, &[4, 2]), names(700, &[3])]);
    let first = chat.says("Rename a key").await;
    assert_eq!(chat.now(), 700);
    assert!(
        first.text.contains(
            r"chosen for the task. The others hold too.\nThe task, summed up: Task of [4, 2]\n\n## Storage\n* **Keys.** Keys never change.\n\n## Output\n* **Quiet.**"
        ),
        "{}",
        first.text
    );
    assert_eq!((first.titles(), first.codes().len()), (vec!["Keys", "Quiet"], 0));
    for n in 0..2 {
        assert_eq!(chat.calls_a_tool().await.text, "", "{n}");
        assert_eq!(chat.says("Go on").await.text, "", "{n}: what was said holds");
    }
    assert_eq!((chat.calls(), chat.now()), (1, 700));
    chat.commits("The columns are next");
    assert_eq!(chat.says("Go on").await.text, "", "the next prompt does not wait");
    chat.pass(700).await;
    assert_eq!(chat.says("Go on").await.titles(), ["Tabs"]);
    let request = chat.request(1);
    assert_eq!((&*request.task, request.catalog.len(), request.model_profile), ("The columns are next", 4, None));
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_and_taken_over_goes_by_the_configuration() {
    let lines = "max_selected = 2\ninclude_task_summary = false\n[invariants.selector]\nmodel_profile = \"small\"";
    let mut chat = Chat::new(lines, [names(0, &[4, 9, 4, 1, 2])]);
    let said = chat.says("x").await;
    assert_eq!(said.titles(), ["One writer", "Quiet"]);
    assert!(!said.text.contains("summed up"));
    assert_eq!(said.messages(), ["of the selector's numbers were dropped: 1 unknown, 1 named twice, 1 more than may be selected"]);
    let request = chat.request(0);
    assert_eq!((request.model_profile.as_deref(), request.max_selected), (Some("small"), NonZeroUsize::new(2).unwrap()));
    assert!(request.catalog.numbered().contains("[3] * **Tabs.**"));
}

#[tokio::test(start_paused = true)]
async fn a_failure_keeps_the_choice_and_without_one_the_words_choose() {
    for wrong in [fails(5), names(5, &[0, 17])] {
        let mut chat = Chat::new("", [wrong.clone(), names(5, &[3]), wrong]);
        let first = chat.says("Rename the keys").await;
        assert_eq!((first.titles(), first.codes()), (vec!["Keys"], vec!["selector-failed"]));
        assert!(!first.text.contains("summed up") && !first.messages()[0].contains('\n'));
        assert_eq!(chat.says("Separated columns?").await.text, "", "the choice is made");
        chat.commits("columns");
        chat.pass(5).await;
        assert_eq!(chat.says("Go on").await.titles(), ["Tabs"]);
        chat.commits("a writer");
        chat.pass(5).await;
        let kept = chat.says("Go on").await;
        assert_eq!((&*kept.text, kept.codes()), ("", vec!["selector-failed"]));
        assert_eq!(chat.calls(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_selector_that_panics_leaves_the_words_and_is_asked_again() {
    let mut chat = Chat::new("", [Act::Panics, names(0, &[3])]);
    assert_eq!(chat.says("keys").await.titles(), ["Keys"]);
    assert_eq!(chat.says("keys").await.titles(), ["Tabs"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_none_says_nothing_and_is_a_choice() {
    let mut chat = Chat::new("", [names(0, &[])]);
    assert_eq!(chat.says("keys").await.text, "");
    assert_eq!(chat.says("keys").await.text, "");
    assert_eq!(chat.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn two_prompts_at_once_ask_once_and_one_that_gives_up_leaves_the_call() {
    let mut chat = Chat::new("", [names(50, &[1])]);
    chat.hears(&json!({"role": "user", "content": "hi"}));
    let (one, other) = tokio::join!(chat.send(Purpose::Converse), chat.send(Purpose::Converse));
    assert_eq!([one.titles(), other.titles()].concat(), ["One writer"], "one settles, the other finds it settled");
    assert_eq!((chat.calls(), chat.now()), (1, 50));

    let mut chat = Chat::new("", [names(50, &[1])]);
    assert!(tokio::time::timeout(stage::ms(20), chat.says("hi")).await.is_err());
    assert_eq!((chat.send(Purpose::Converse).await.titles(), chat.calls(), chat.now()), (vec!["One writer"], 1, 50));
    assert!(chat.dropped().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_asks_for_the_prefix_alone_begins_nothing() {
    let mut chat = Chat::new("", [names(50, &[1])]);
    chat.hears(&json!({"role": "user", "content": "the keys"}));
    assert_eq!(chat.send(Purpose::SamePrefix).await.titles(), ["Keys"], "by words");
    assert_eq!((chat.calls(), chat.now()), (0, 0));
    assert_eq!(chat.send(Purpose::Converse).await.titles(), ["One writer"]);
}

#[tokio::test(start_paused = true)]
async fn an_image_alone_is_no_task_and_another_document_is_another_first_prompt() {
    let mut chat = Chat::new("", [names(0, &[1]), names(0, &[2])]);
    chat.hears(&json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}));
    assert_eq!((chat.send(Purpose::Converse).await.text, chat.calls()), (String::new(), 0));
    assert_eq!(chat.says("hi").await.titles(), ["One writer"]);
    *chat.document.0.lock().unwrap() = Some("* **Tabs.** a\n* **Quiet.** b\n");
    assert_eq!(chat.says("hi").await.titles(), ["Quiet"]);
    *chat.document.0.lock().unwrap() = None;
    let said = chat.says("hi").await;
    assert!(said.titles().is_empty() && chat.calls() == 2);
    chat.commits("nothing to choose from");
    chat.pass(1).await;
    assert_eq!(chat.says("hi").await.codes(), Vec::<&str>::new(), "nobody asks for what is not there");
}

#[test]
fn without_a_runtime_the_words_choose() {
    struct Nobody;
    impl Wake for Nobody {
        fn wake(self: Arc<Self>) {}
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let mut chat = runtime.block_on(async { Chat::new("", []) });
    chat.commits("nobody hears it");
    let said = match std::pin::pin!(chat.says("the keys")).poll(&mut Cx::from_waker(&Waker::from(Arc::new(Nobody)))) {
        Poll::Ready(said) => said,
        Poll::Pending => panic!("there is nothing to wait for"),
    };
    assert_eq!((said.titles(), said.codes()), (vec!["Keys"], vec!["selector-not-run"]));
}

#[tokio::test]
async fn an_assembly_has_its_selector_where_the_mode_is_relevant() {
    let place = Place::new();
    place.write("work/INVARIANTS.md", DOCUMENT);
    let selector = || {
        let answer = |_: SelectionRequest| async { Ok::<_, Infallible>(SelectionResponse::new([3])) };
        InvariantSelector::new(service_fn(answer))
    };
    for config in ["", "invariants.enabled = false", "invariants.mode = \"relevant\"\ninvariants.enabled = false"] {
        assert!(place.assembly(config).invariant_selector(selector()).relevant_invariants().is_none(), "{config}");
    }
    let config = "invariants.mode = \"relevant\"\n[system_prompt.sections]\nrepository_invariants = false";
    let assembly = place.assembly(config).invariant_selector(selector());
    assert!(assembly.relevant_invariants().is_some());
    let said = tokio::task::spawn_blocking(move || super::talk::Talk::new(&assembly).say("keys")).await.unwrap();
    assert!(said.fragment("relevant_invariants").contains("\n## Output\n* **Tabs.** Columns are separated by tabs.\n</"));
    let (_, fragment) = said.manifest.fragments().find(|(_, fragment)| fragment.id == "relevant_invariants").unwrap();
    assert_eq!((fragment.tier, fragment.trust, &*fragment.layer), (Tier::Turn, Trust::Repository, "InvariantsLayer"));
    assert_eq!(fragment.source.to_string(), place.shown("work/INVARIANTS.md"));

    let workspace = tower_prompt::Workspace::at(place.at("work")).untrusted();
    let untrusted = place.assembly_in(&workspace, "invariants.mode = \"relevant\"").invariant_selector(selector());
    assert!(untrusted.relevant_invariants().is_none() && untrusted.invariants().is_none());
}
