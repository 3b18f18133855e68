//! Nothing is refused because of the tool, and what the upstream refuses is the client's to know.

use super::model::{Api, Call, Text, Way, skill, ways};
use super::{CONFIG, count, proxy, sent};
use crate::proxy::world::{Seen, Upstream, World, json_answer};
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

fn failing(status: u16, body: &Value) -> Response<Full<bytes::Bytes>> {
    let mut answer = json_answer(body.to_string());
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    answer
}

#[tokio::test]
async fn a_tool_of_that_name_of_the_clients_own_is_the_clients() {
    for way in ways() {
        let parts = vec![skill("c1", "frobnicate")];
        let answered = parts.clone();
        let mut upstream = Upstream::answering(move |_: &Seen| way.answer(&answered, 0)).await;
        let world = World::new();
        let proxy = proxy(&world, &upstream).await;
        let request = way.request(&[way.user("hi")]).to_string().replace("\"ls\"", "\"skill\"");
        let said = way.read(&proxy.post(way.path(), request.clone()).await);
        assert_eq!(said.calls.len(), 1, "{way:?}");
        let body = sent(&mut upstream).await;
        assert_eq!(count(&body["tools"], "\"skill\""), 1);
        assert!(upstream.has_seen_nothing());
    }
}

#[tokio::test]
async fn a_model_that_takes_no_tools_is_asked_without_and_remembered() {
    for way in ways() {
        let answer = move |seen: &Seen| {
            let has_tools = str::from_utf8(&seen.body).unwrap().contains("\"tools\"");
            if has_tools { failing(400, &json!({"error": "m does not support tools"})) } else { way.answer(&[Text("Hello.")], 0) }
        };
        let mut upstream = Upstream::answering(answer).await;
        let world = World::new();
        let proxy = proxy(&world, &upstream).await;
        let mut request = way.request(&[way.user("hi")]);
        request.as_object_mut().unwrap().remove("tools");
        for asked in [2, 1] {
            assert_eq!(way.read(&proxy.post(way.path(), request.to_string()).await).text, "Hello.", "{way:?}");
            for n in 0..asked {
                assert_eq!(sent(&mut upstream).await.get("tools").is_some(), n + 1 < asked, "{way:?}");
            }
            assert!(upstream.has_seen_nothing());
        }
        // A request that is wrong by itself stays so, as the API says it.
        let own = way.request(&[way.user("hi")]);
        let refused = proxy.post(way.path(), own.to_string()).await;
        assert_eq!((refused.status.as_u16(), refused.json()), (400, json!({"error": "m does not support tools"})));
    }
}

#[tokio::test]
async fn what_was_put_back_and_is_refused_is_left_out() {
    for way in ways() {
        let asked = AtomicUsize::new(0);
        let answer = move |seen: &Seen| match asked.fetch_add(1, Ordering::SeqCst) {
            0 => way.answer(&[skill("c1", "frobnicate")], 0),
            1 => way.answer(&[Text("Done.")], 1),
            // Another model behind the same name, which knows nothing of those calls.
            _ if str::from_utf8(&seen.body).unwrap().contains("Turn it.") => failing(400, &json!({"error": {"message": "no"}})),
            n => way.answer(&[Text("Again.")], n),
        };
        let mut upstream = Upstream::answering(answer).await;
        let world = World::new();
        let proxy = proxy(&world, &upstream).await;
        let said = way.read(&proxy.post(way.path(), way.request(&[way.user("hi")]).to_string()).await);
        let mut history = vec![way.user("hi")];
        history.extend(way.echo(&said));
        history.push(way.user("thanks"));
        sent(&mut upstream).await;
        sent(&mut upstream).await;
        let answer = proxy.post(way.path(), way.request(&history).to_string()).await;
        let (third, fourth) = (sent(&mut upstream).await, sent(&mut upstream).await);
        // The body is in force still, and said where the model reads it: the API alone judges that.
        assert!(count(&third, "frobnicate") > 0 && super::messages(way, &fourth).len() < super::messages(way, &third).len());
        assert!(answer.status == 200 || answer.json()["error"]["message"] == "no", "{way:?}");
    }
}

#[tokio::test]
async fn several_answers_or_one_that_nobody_waits_for_have_no_tool() {
    for (api, field, value) in [
        (Api::Chat, "n", json!(2)),
        (Api::Responses, "background", json!(true)),
        (Api::Gemini, "generationConfig", json!({"candidateCount": 2})),
    ] {
        let way = Way(api, false);
        let mut upstream = Upstream::answering(move |_: &Seen| way.answer(&[Text("Hello.")], 0)).await;
        let world = World::new();
        let proxy = proxy(&world, &upstream).await;
        let mut request = way.request(&[way.user("hi")]);
        request[field] = value;
        proxy.post(way.path(), request.to_string()).await;
        let body = sent(&mut upstream).await;
        assert_eq!((count(&body["tools"], "\"skill\""), count(&body["tools"], "\"ls\"")), (0, 1), "{way:?}");
    }
}

#[tokio::test]
async fn off_by_default_and_without_skills() {
    let way = Way(Api::Chat, false);
    for (config, has_skills) in [("", true), (&*format!("{CONFIG}\nskills.enabled = false"), false), (CONFIG, true)] {
        let mut upstream = Upstream::answering(move |_: &Seen| way.answer(&[Call("c", "ls", json!({}))], 0)).await;
        let world = World::new();
        let proxy = world.proxy(config, &upstream.url()).await;
        proxy.post(way.path(), way.request(&[way.user("hi")]).to_string()).await;
        let is_offered = count(&sent(&mut upstream).await["tools"], "\"skill\"") == 1;
        assert_eq!(is_offered, has_skills && !config.is_empty(), "{config}");
    }
}

#[tokio::test]
async fn an_error_behind_the_first_round_is_the_answer() {
    for way in ways() {
        let asked = AtomicUsize::new(0);
        let error = json!({"error": {"type": "overloaded_error", "message": "Later.", "code": "x"}});
        let told = error.clone();
        let answer = move |_: &Seen| {
            if asked.fetch_add(1, Ordering::SeqCst) == 0 {
                way.answer(&[Text("Let me see."), skill("c1", "frobnicate")], 0)
            } else {
                let mut answer = failing(529, &told);
                answer.headers_mut().insert("retry-after", "7".parse().unwrap());
                answer
            }
        };
        let upstream = Upstream::answering(answer).await;
        let world = World::new();
        let proxy = proxy(&world, &upstream).await;
        let answer = proxy.post(way.path(), way.request(&[way.user("hi")]).to_string()).await;
        if !way.1 {
            assert_eq!((answer.status.as_u16(), answer.json(), &answer.headers["retry-after"]), (529, error, &"7".parse().unwrap()));
            continue;
        }
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        let last = match way.0 {
            Api::Ollama => text.lines().last().unwrap().to_owned(),
            Api::GeminiArray => serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().last().unwrap().to_string(),
            _ => {
                let last = text.trim_end().rsplit("\n\n").next().unwrap();
                assert_eq!(last.starts_with("event: error\n"), matches!(way.0, Api::Anthropic | Api::Responses), "{text}");
                last.split_once("data: ").unwrap().1.to_owned()
            }
        };
        let last: Value = serde_json::from_str(&last).unwrap();
        let message = if way.0 == Api::Responses { &last["message"] } else { &last["error"]["message"] };
        assert_eq!(message, "Later.", "{way:?}: {text}");
        assert!(!text.contains("[DONE]") && !text.contains("message_stop") && !text.contains("\"done\":true"), "{text}");
    }
}
