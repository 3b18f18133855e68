//! Deadlines, and answers that come late, in another order, or not at all.

use super::stage::{Chat, fails, names};

#[tokio::test(start_paused = true)]
async fn a_prompt_waits_up_to_its_deadline_and_then_goes_by_on_timeout() {
    let all = ["One writer", "Keys", "Tabs", "Quiet"];
    for (on_timeout, titles) in [("full", &all[..]), ("previous", &all), ("deterministic", &["Keys"]), ("none", &[])] {
        let mut chat = Chat::new(&format!("selector.initial_timeout_ms = 100\nselector.on_timeout = \"{on_timeout}\""), [names(250, &[3])]);
        let first = chat.says("Rename the keys").await;
        assert_eq!((chat.now(), first.titles()), (100, titles.to_vec()), "{on_timeout}");
        assert_eq!(first.messages(), [format!("the selection of invariants is late, and `on_timeout` is {on_timeout}")]);
        assert!(!first.text.contains("summed up"));
        // The deadline has passed: nobody waits for the call a second time, or begins another.
        let second = chat.says("the keys").await;
        assert_eq!((chat.now(), &*second.text, second.codes()), (100, "", vec!["selector-late"]), "{on_timeout}");
        chat.pass(150).await;
        assert_eq!(chat.says("Go on").await.titles(), ["Tabs"], "{on_timeout}: the call ran on, and serves");
        assert_eq!((chat.calls(), chat.dropped().len()), (1, 0), "{on_timeout}");
    }
}

#[tokio::test(start_paused = true)]
async fn in_time_is_in_time() {
    let mut chat = Chat::new("selector.initial_timeout_ms = 100", [names(99, &[3])]);
    assert_eq!((chat.says("keys").await.titles(), chat.now()), (vec!["Tabs"], 99));
    let mut chat = Chat::new("selector.initial_timeout_ms = 9223372036854775807", [names(1_000_000, &[3])]);
    assert_eq!((chat.says("keys").await.titles(), chat.now()), (vec!["Tabs"], 1_000_000), "a deadline beyond all time is none");
}

#[tokio::test(start_paused = true)]
async fn cancel_on_timeout_ends_the_call_and_the_next_prompt_asks_again() {
    let lines = "selector.initial_timeout_ms = 100\nselector.cancel_on_timeout = true\nselector.on_timeout = \"none\"";
    let mut chat = Chat::new(lines, [names(250, &[3]), names(50, &[4])]);
    let first = chat.says("keys").await;
    chat.pass(1).await;
    assert_eq!((first.text.as_str(), chat.dropped()), ("", vec![0]));
    assert_eq!((chat.says("keys").await.titles(), chat.now(), chat.calls()), (vec!["Quiet"], 151, 2));
}

#[tokio::test(start_paused = true)]
async fn in_the_background_a_deadline_cancels_where_that_is_wanted() {
    for (cancels, dropped, then) in [(true, vec![1], ""), (false, vec![], "Tabs")] {
        let lines = format!("selector.background_timeout_ms = 100\nselector.cancel_on_timeout = {cancels}");
        let mut chat = Chat::new(&lines, [names(0, &[2]), names(200, &[3])]);
        chat.says("keys").await;
        chat.commits("columns");
        chat.pass(150).await;
        assert_eq!(chat.dropped(), dropped);
        let meanwhile = chat.says("Go on").await;
        assert_eq!((&*meanwhile.text, meanwhile.codes()), ("", if cancels { vec!["selector-cancelled"] } else { vec![] }));
        chat.pass(50).await;
        assert_eq!(chat.says("Go on").await.titles().join(" "), then);
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_waits_for_the_background_where_it_is_told_to() {
    for (waits, now, titles) in [(true, 40, &["Tabs"][..]), (false, 0, &[])] {
        let lines = format!("selector.wait_for_background_on_next_prompt = {waits}");
        let mut chat = Chat::new(&lines, [names(0, &[2]), names(40, &[3])]);
        chat.says("keys").await;
        chat.commits("columns");
        assert_eq!((chat.says("Go on").await.titles(), chat.now()), (titles.to_vec(), now), "{waits}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_background_that_is_waited_for_and_late_goes_by_on_timeout_too() {
    let all = ["One writer", "Keys", "Tabs", "Quiet"];
    for (on_timeout, titles) in [("full", &all[..]), ("previous", &[]), ("deterministic", &["Quiet"]), ("none", &[])] {
        let lines = format!(
            "[invariants.selector]\nwait_for_background_on_next_prompt = true\nbackground_timeout_ms = 30\non_timeout = \"{on_timeout}\""
        );
        let mut chat = Chat::new(&lines, [names(0, &[2]), names(40, &[3])]);
        chat.says("keys").await;
        chat.commits("columns");
        let late = chat.says("Be quiet").await;
        assert_eq!((chat.now(), late.titles(), late.codes()), (30, titles.to_vec(), vec!["selector-late"]), "{on_timeout}");
        chat.pass(10).await;
        assert_eq!(chat.says("Go on").await.titles(), ["Tabs"], "{on_timeout}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_behind_a_newer_one_does_not_count() {
    let mut chat = Chat::new("", [names(0, &[1]), names(100, &[2]), names(10, &[3])]);
    chat.says("hi").await;
    chat.commits("older");
    chat.pass(5).await;
    chat.commits("newer");
    chat.pass(10).await;
    assert_eq!(chat.says("Go on").await.titles(), ["Tabs"]);
    chat.pass(100).await;
    let after = chat.says("Go on").await;
    assert_eq!((&*after.text, after.codes()), ("", vec!["selection-overtaken"]));
    assert!(chat.dropped().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_older_answer_counts_until_a_newer_one_comes_even_where_that_fails() {
    let mut chat = Chat::new("", [names(0, &[1]), names(20, &[2]), names(40, &[3]), fails(0)]);
    chat.says("hi").await;
    chat.commits("older");
    chat.commits("newer");
    chat.commits("fails");
    chat.pass(20).await;
    assert_eq!(chat.says("Go on").await.titles(), ["Keys"]);
    chat.pass(20).await;
    assert_eq!(chat.says("Go on").await.titles(), ["Tabs"]);
}

#[tokio::test(start_paused = true)]
async fn the_first_call_is_late_and_a_newer_one_comes_before_it() {
    let lines = "selector.initial_timeout_ms = 10\nselector.on_timeout = \"none\"";
    let mut chat = Chat::new(lines, [names(100, &[1]), names(20, &[2])]);
    assert_eq!(chat.says("hi").await.text, "");
    chat.commits("newer");
    chat.pass(20).await;
    assert_eq!(chat.says("Go on").await.titles(), ["Keys"]);
    chat.pass(100).await;
    assert_eq!(chat.says("Go on").await.codes(), ["selection-overtaken"]);
}

#[tokio::test(start_paused = true)]
async fn cancel_stale_ends_what_was_overtaken() {
    for (cancels, dropped) in [(true, vec![1]), (false, vec![])] {
        let mut chat = Chat::new(&format!("selector.cancel_stale = {cancels}"), [names(0, &[1]), names(100, &[2]), names(10, &[3])]);
        chat.says("hi").await;
        chat.commits("older");
        chat.pass(5).await;
        chat.commits("newer");
        chat.pass(1).await;
        assert_eq!(chat.dropped(), dropped);
        chat.pass(200).await;
        let said = chat.says("Go on").await;
        assert_eq!((said.titles(), said.codes().is_empty()), (vec!["Tabs"], cancels));
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_whose_call_is_cancelled_as_stale_goes_on_by_words() {
    let mut chat = Chat::new("selector.cancel_stale = true", [names(100, &[1]), names(100, &[3])]);
    let (invariants, session) = (chat.invariants.clone(), chat.session.clone());
    let commits = async {
        tokio::time::sleep(super::stage::ms(30)).await;
        invariants.answer_committed(&session, "columns");
    };
    let (said, ()) = tokio::join!(chat.says("the keys"), commits);
    assert_eq!((said.titles(), chat.now()), (vec!["Keys"], 30));
    chat.pass(100).await;
    assert_eq!((chat.says("Go on").await.titles(), chat.dropped()), (vec!["Tabs"], vec![0]));
}

#[tokio::test(start_paused = true)]
async fn a_selector_that_hangs_is_not_called_without_end() {
    let mut chat = Chat::new("selector.initial_timeout_ms = 10\nselector.on_timeout = \"none\"", (0..9).map(|_| names(1 << 40, &[1])));
    chat.says("hi").await;
    for n in 0..8 {
        chat.commits("again");
        chat.pass(1).await;
        assert_eq!(chat.calls() - chat.dropped().len(), 4.min(n + 2));
    }
    assert_eq!(chat.now(), 18);
}
