//! Histories that the provider holds: the outputs it waits for come, and the ids that clients were told lead on.

use super::model::{Api, Call, Text, Way, scripted, skill};
use super::{count, messages, proxy, sent};
use crate::proxy::world::World;
use serde_json::{Value, json};

fn chained(way: Way, id: &str, input: Value) -> String {
    let mut request = way.request(&[]);
    (request["previous_response_id"], request["input"]) = (id.into(), input);
    request.to_string()
}

#[tokio::test]
async fn rounds_follow_the_response_and_the_client_goes_on_behind_the_last() {
    for way in [Way(Api::Responses, false), Way(Api::Responses, true)] {
        let world = World::new();
        let mut upstream = scripted(way, vec![vec![skill("c1", "frobnicate")], vec![Text("Done.")]]).await;
        let proxy = proxy(&world, &upstream).await;
        let said = way.read(&proxy.post(way.path(), chained(way, "resp_before", json!("hi"))).await);
        assert_eq!((&*said.id, &*said.text), ("resp_1", "Done."), "{way:?}");
        let (first, second) = (sent(&mut upstream).await, sent(&mut upstream).await);
        assert_eq!((&first["previous_response_id"], &second["previous_response_id"]), (&json!("resp_before"), &json!("resp_0")));
        let input = messages(way, &second);
        assert_eq!((input.len(), &input[0]["type"], &input[0]["call_id"]), (1, &json!("function_call_output"), &json!("c1")), "{input:?}");
        // The first id was told by the stream; whoever took that one is led on.
        for (id, leads_to) in [("resp_1", "resp_1"), ("resp_0", if way.1 { "resp_1" } else { "resp_0" })] {
            proxy.post(way.path(), chained(way, id, json!("thanks"))).await;
            assert_eq!(sent(&mut upstream).await["previous_response_id"], leads_to, "{way:?} {id}");
        }
    }
}

#[tokio::test]
async fn outputs_of_calls_beside_the_clients_own_go_with_its_output() {
    for way in [Way(Api::Responses, false), Way(Api::Responses, true)] {
        for name in ["previous_response_id", "conversation"] {
            let world = World::new();
            let mixed = vec![skill("c1", "frobnicate"), Call("c2", "ls", json!({}))];
            let mut upstream = scripted(way, vec![mixed, vec![Text("Done.")]]).await;
            let proxy = proxy(&world, &upstream).await;
            let mut request = way.request(&[way.user("hi")]);
            if name == "conversation" {
                request[name] = "conv_1".into();
            }
            let said = way.read(&proxy.post(way.path(), request.to_string()).await);
            assert_eq!(said.calls.len(), 1);
            sent(&mut upstream).await;
            let mut next = way.request(&[json!({"type": "function_call_output", "call_id": "c2", "output": "a.txt"})]);
            next[name] = if name == "conversation" { "conv_1".into() } else { said.id.as_str().into() };
            // A retry brings the same.
            for _ in 0..2 {
                proxy.post(way.path(), next.to_string()).await;
                let body = sent(&mut upstream).await;
                let ids: Vec<&Value> = body["input"].as_array().unwrap().iter().map(|item| &item["call_id"]).collect();
                assert_eq!((ids, count(&body["input"], "Turn it.")), (vec![&json!("c1"), &json!("c2")], 1), "{way:?} {name}");
            }
        }
    }
}
