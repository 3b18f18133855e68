//! What every store holds that several processes share. Each handle is as good as a process of its own.

use crate::*;
use std::future::poll_fn;
use std::task::Poll;

pub(super) async fn requests_at_once_lose_nothing_and_only_grow<S: SessionStore + Clone + 'static>(stores: [S; 2], fresh: &S) {
    let begin = [user("u0"), says("a0")];
    send(&stores[0].open(&id("s")).await.unwrap(), "first", &begin[..1]).await;
    let mut tasks = Vec::new();
    for n in 0..8 {
        let store = stores[n % 2].clone();
        let begin = begin.clone();
        tasks.push(tokio::spawn(async move {
            let session = store.open(&id("s")).await.unwrap();
            session.activate(skill(&format!("s{n}")), None);
            let mut history = begin.to_vec();
            let mut before: Vec<Value> = Vec::new();
            for turn in 0..4 {
                history.push(user(&format!("branch {n} turn {turn}")));
                let (sent, codes) = send(&session, &format!("fact {n} {turn}"), &history).await;
                assert!(codes.iter().all(|code| code != "session-not-stored"), "{codes:?}");
                assert!(sent.starts_with(&before), "{before:#?} {sent:#?}");
                before = sent;
                history.push(says("a"));
            }
            history.pop();
            (history, before)
        }));
    }
    let mut said = Vec::new();
    for task in tasks {
        said.push(task.await.unwrap());
    }
    let session = fresh.open(&id("s")).await.unwrap();
    for (history, sent) in &said {
        assert_eq!(send(&session, "other", history).await.0, *sent, "another process sends the same");
    }
    assert_eq!(session.active_by_host().len(), 8, "each activation is kept");
}

/// A session that is held knows less than what is stored, until it is about to store something itself.
pub(super) async fn one_that_is_held_takes_over_what_another_stored<S: SessionStore>(stores: [S; 2]) {
    let (here, there) = (stores[0].open(&id("s")).await.unwrap(), stores[1].open(&id("s")).await.unwrap());
    let mut history = vec![user("u0")];
    send(&here, "first", &history).await;
    history.extend([says("a0"), user("u1")]);
    let (sent, codes) = send(&there, "there", &history).await;
    assert!(codes.is_empty() && sent.iter().any(|message| message.to_string().contains("there")), "{codes:?} {sent:#?}");
    let (again, _) = send(&here, "here", &history).await;
    assert_eq!(again, sent, "a retry at the other is the same");
    history.extend([says("a1"), user("u2")]);
    let (sent, _) = send(&there, "there again", &history).await;
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    history.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    history.push(json!({"role": "tool", "tool_call_id": "c", "content": "done"}));
    let (round, _) = send(&here, "here", &history).await;
    assert!(round.starts_with(&sent), "a tool round that brings nothing new puts back what the other said: {sent:#?} {round:#?}");
}

/// `fresh` connects anew.
pub(super) async fn an_append_that_is_given_up_leaves_the_next_to_store_it<S: SessionStore>(fresh: impl AsyncFn() -> S) {
    let session = fresh().await.open(&id("s")).await.unwrap();
    for polls in 1..6 {
        let history = vec![user(&format!("u{polls}"))];
        let mut under_way = Box::pin(send(&session, "x", &history));
        for _ in 0..polls {
            if poll_fn(|cx| Poll::Ready(under_way.as_mut().poll(cx).is_ready())).await {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(under_way);
        let (sent, codes) = send(&session, "x", &history).await;
        assert!(codes.is_empty(), "{codes:?}");
        let again = fresh().await.open(&id("s")).await.unwrap();
        assert_eq!(send(&again, "other", &history).await.0, sent);
    }
}

/// Each connects where there is nothing yet.
pub(super) async fn several_open_at_once<S: SessionStore>(connecting: impl IntoIterator<Item = tokio::task::JoinHandle<S>>) {
    for (n, store) in connecting.into_iter().enumerate() {
        let session = store.await.unwrap().open(&id("s")).await.unwrap();
        let (_, codes) = send(&session, "x", &[user("hi")]).await;
        assert!(codes.is_empty(), "{n}: {codes:?}");
    }
}
