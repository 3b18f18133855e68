//! Rounds inside the proxy, what the client sees of them, and what the provider reads in the next request.

use super::model::{Api, Call, Part, Text, Way, scripted, skill, ways};
use super::{count, messages, proxy, sent};
use crate::proxy::world::{Answer, Running, World};
use serde_json::{Value, json};

async fn ask(proxy: &Running, way: Way, messages: &[Value]) -> Answer {
    proxy.post(way.path(), way.request(messages).to_string()).await
}

/// The history of a request stands at the beginning of the next, byte for byte.
fn assert_grows(way: Way, before: &[Value], after: &[Value]) {
    assert!(after.len() > before.len() && after[..before.len()] == *before, "{way:?}\n{before:#?}\n{after:#?}");
}

const BODY: &str = "Turn it.";

#[tokio::test]
async fn a_call_of_the_tool_is_answered_here_and_the_client_has_one_answer() {
    for way in ways() {
        let world = World::new();
        let rounds = vec![
            vec![Text("Let me see."), skill("c1", "frobnicate")],
            vec![skill("c2", "nonsense"), skill("c3", "frobnicate")],
            vec![Text("It is "), Text("turned.")],
        ];
        let mut upstream = scripted(way, rounds).await;
        let proxy = proxy(&world, &upstream).await;
        let said = way.read(&ask(&proxy, way, &[way.user("hi")]).await);
        // What a model said ahead of a call has been sent when the call is known.
        let gap = if matches!(way.0, Api::Anthropic | Api::Responses) { "" } else { "\n\n" };
        let ahead = if way.1 { format!("Let me see.{gap}") } else { String::new() };
        assert_eq!(said.text, format!("{ahead}It is turned."), "{way:?}");
        assert_eq!((said.calls.len(), said.usage), (0, (30, 3)), "{way:?}");
        assert!(matches!(&*said.finish, "stop" | "STOP" | "end_turn" | "completed"), "{way:?}: {said:?}");

        let (first, second, third) = (sent(&mut upstream).await, sent(&mut upstream).await, sent(&mut upstream).await);
        assert_eq!((&first["tools"], &first["tools"]), (&second["tools"], &third["tools"]));
        assert!(count(&first["tools"], "\"skill\"") == 1 && count(&first, BODY) == 0 && count(&second, BODY) == 1, "{way:?}\n{second:#}");
        assert!(third.to_string().contains("There is no skill `nonsense`"), "{way:?}\n{third:#}");
        let (first, second, third) = (messages(way, &first), messages(way, &second), messages(way, &third));
        assert_grows(way, &first, &second);
        assert_grows(way, &second, &third);

        // The next turn, from the client's own copy.
        let mut history = vec![way.user("hi")];
        history.extend(way.echo(&said));
        history.push(way.user("thanks"));
        ask(&proxy, way, &history).await;
        let fourth = messages(way, &sent(&mut upstream).await);
        assert_grows(way, &third, &fourth);
        assert_eq!(count(&json!(fourth), BODY), 1);
        // Once more, as a retry has it.
        ask(&proxy, way, &history).await;
        assert_eq!(messages(way, &sent(&mut upstream).await), fourth);
    }
}

#[tokio::test]
async fn calls_beside_the_clients_own_go_with_its_results() {
    for way in ways() {
        for order in [true, false] {
            let world = World::new();
            let (ours, theirs) = (skill("c1", "frobnicate"), Call("c2", "ls", json!({"path": "."})));
            let mixed: Vec<Part> = if order { vec![Text("Both."), ours, theirs] } else { vec![Text("Both."), theirs, ours] };
            let mut upstream = scripted(way, vec![vec![skill("c0", "frobnicate")], mixed, vec![Text("Done.")]]).await;
            let proxy = proxy(&world, &upstream).await;
            let said = way.read(&ask(&proxy, way, &[way.user("hi")]).await);
            assert_eq!(said.text, "Both.", "{way:?}");
            let called: Vec<(&str, &Value)> = said.calls.iter().map(|(_, name, arguments)| (&**name, arguments)).collect();
            assert_eq!(called, [("ls", &json!({"path": "."}))], "{way:?}");
            assert!(matches!(&*said.finish, "tool_calls" | "STOP" | "tool_use" | "completed" | "stop"), "{way:?}: {said:?}");
            assert!(!(said.finish == "stop" && way.0 == Api::Chat));
            sent(&mut upstream).await;
            let second = messages(way, &sent(&mut upstream).await);

            let mut history = vec![way.user("hi")];
            history.extend(way.echo(&said));
            let done = way.read(&ask(&proxy, way, &history).await);
            assert_eq!(done.text, "Done.", "{way:?}");
            let third = messages(way, &sent(&mut upstream).await);
            assert_grows(way, &second, &third);
            // Each call has its result, those of one message together.
            let new = json!(&third[second.len()..]);
            let (calls, results) = match way.0 {
                Api::Chat => ("\"arguments\":", "\"role\":\"tool\""),
                Api::Ollama => ("\"arguments\":", "\"role\":\"tool\""),
                Api::Responses => ("\"type\":\"function_call\"", "\"type\":\"function_call_output\""),
                Api::Anthropic => ("\"type\":\"tool_use\"", "\"type\":\"tool_result\""),
                Api::Gemini | Api::GeminiArray => ("\"functionCall\":", "\"functionResponse\":"),
            };
            assert_eq!((count(&new, calls), count(&new, results)), (2, 2), "{way:?}\n{new:#}");
            let together = match way.0 {
                Api::Anthropic => new[1]["content"].as_array().unwrap().len(),
                Api::Gemini | Api::GeminiArray => new[1]["parts"].as_array().unwrap().len(),
                _ => 2,
            };
            assert_eq!(together, 2, "{way:?}\n{new:#}");
            if matches!(way.0, Api::Ollama) {
                let names: Vec<&Value> = new.as_array().unwrap()[1..].iter().map(|result| &result["tool_name"]).collect();
                assert_eq!(names, if order { ["skill", "ls"] } else { ["ls", "skill"] });
            }

            // And so on.
            history.extend(way.echo(&done));
            history.push(way.user("thanks"));
            ask(&proxy, way, &history).await;
            assert_grows(way, &third, &messages(way, &sent(&mut upstream).await));
        }
    }
}

#[tokio::test]
async fn a_model_that_calls_without_end_is_stopped() {
    for way in ways() {
        let world = World::new();
        let mut rounds = vec![vec![skill("c", "frobnicate")]; 8];
        rounds.push(vec![Text("Enough."), skill("c9", "frobnicate")]);
        let mut upstream = scripted(way, rounds).await;
        let proxy = proxy(&world, &upstream).await;
        let said = way.read(&ask(&proxy, way, &[way.user("hi")]).await);
        assert_eq!((&*said.text, said.calls.len(), said.usage), ("Enough.", 0, (90, 9)), "{way:?}");
        assert!(!matches!(&*said.finish, "tool_calls" | "tool_use"), "{way:?}");
        let mut before = Vec::new();
        for round in 0..9 {
            let body = sent(&mut upstream).await;
            assert_eq!(count(&body["tools"], "\"skill\""), usize::from(round < 8), "{way:?} {round}");
            let now = messages(way, &body);
            assert_grows(way, &before, &now);
            before = now;
        }
        assert!(upstream.has_seen_nothing());
        let mut history = vec![way.user("hi")];
        history.extend(way.echo(&said));
        history.push(way.user("go"));
        ask(&proxy, way, &history).await;
        assert_grows(way, &before, &messages(way, &sent(&mut upstream).await));
    }
}

#[tokio::test]
async fn an_answer_that_calls_nothing_of_ours_passes_byte_for_byte() {
    for way in ways() {
        let world = World::new();
        for parts in [vec![Text("Hello."), Text(" You.")], vec![Text("Look."), Call("c1", "ls", json!({})), Call("c2", "ls", json!({}))]] {
            let upstream = scripted(way, vec![parts.clone()]).await;
            let proxy = proxy(&world, &upstream).await;
            let answer = ask(&proxy, way, &[way.user("hi")]).await;
            let expected = http_body_util::BodyExt::collect(way.answer(&parts, 0).into_body()).await.unwrap().to_bytes();
            if (way.0, way.1) == (Api::GeminiArray, true) {
                assert_eq!(answer.json(), serde_json::from_slice::<Value>(&expected).unwrap());
            } else {
                assert_eq!(answer.body, expected, "{way:?}");
            }
        }
    }
}

#[tokio::test]
async fn what_was_done_here_is_for_its_own_caller() {
    for way in ways() {
        let world = World::new();
        let mut upstream = scripted(way, vec![vec![skill("c1", "frobnicate")], vec![Text("Done.")]]).await;
        let proxy = proxy(&world, &upstream).await;
        let said = way.read(&ask(&proxy, way, &[way.user("hi")]).await);
        sent(&mut upstream).await;
        sent(&mut upstream).await;
        let mut history = vec![way.user("hi")];
        history.extend(way.echo(&said));
        history.push(way.user("thanks"));
        for (headers, is_known) in [(&[("authorization", "Bearer another")][..], false), (&[("x-session-id", "other")], false), (&[], true)]
        {
            proxy.send(proxy.request(way.path(), headers, way.request(&history).to_string())).await;
            assert_eq!(count(&json!(messages(way, &sent(&mut upstream).await)), "frobnicate") > 0, is_known, "{way:?} {headers:?}");
        }
    }
}
