use super::*;

fn answered(format: Format, response: &Value, mut request: Value) -> Value {
    let calls = ToolCalls::in_response(format, response);
    assert_eq!(calls.iter().map(|call| &*call.name).collect::<Vec<_>>(), ["skill", "ls"], "{format}: both, in order");
    let answers = [ToolAnswer { text: "no".into(), is_error: true }, "a.rs".to_owned().into()];
    let before = request.clone();
    assert_eq!(calls.append(&mut request, &answers[..1]), Err(UnansweredCalls { calls: 2, answers: 1 }));
    assert_eq!(request, before, "{format}: nothing is sent half answered");
    calls.append(&mut request, &answers).unwrap();
    request
}

#[test]
fn openai_chat() {
    let function = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}});
    let message = json!({"role": "assistant", "content": null, "refusal": null, "annotations": [], "tool_calls": [function("1", "skill"), function("2", "ls")]});
    let sent =
        answered(Format::OpenAiChat, &json!({"choices": [{"message": message}]}), json!({"messages": [{"role": "user", "content": "u"}]}));
    assert_eq!(
        sent,
        json!({"messages": [
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": null, "tool_calls": [function("1", "skill"), function("2", "ls")]},
            {"role": "tool", "tool_call_id": "1", "content": "no"},
            {"role": "tool", "tool_call_id": "2", "content": "a.rs"},
        ]})
    );
}

#[test]
fn a_function_call_of_old_is_answered_in_its_own_way() {
    let message = json!({"role": "assistant", "content": null, "function_call": {"name": "skill", "arguments": "{}"}});
    let calls = ToolCalls::in_response(Format::OpenAiChat, &json!({"choices": [{"message": message}]}));
    let mut request = json!({"messages": []});
    calls.append(&mut request, &["ok".to_owned().into()]).unwrap();
    assert_eq!(request["messages"][1], json!({"role": "function", "name": "skill", "content": "ok"}));
}

#[test]
fn openai_responses() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "1", "name": "skill", "arguments": "{}"});
    let custom = json!({"type": "custom_tool_call", "id": "ct_1", "call_id": "2", "name": "ls", "input": "x"});
    let response = json!({"id": "resp_1", "output": [reasoning, call, custom]});
    let results = [
        json!({"type": "function_call_output", "call_id": "1", "output": "no"}),
        json!({"type": "custom_tool_call_output", "call_id": "2", "output": "a.rs"}),
    ];
    let user = json!({"type": "message", "role": "user", "content": "u"});
    let sent = answered(Format::OpenAiResponses, &response, json!({"input": "u"}));
    assert_eq!(sent, json!({"input": [user, reasoning, call, custom, results[0], results[1]]}));
    for (held, named) in [("previous_response_id", "resp_1"), ("conversation", "old")] {
        let sent = answered(Format::OpenAiResponses, &response, json!({held: "old", "input": "u"}));
        assert_eq!(sent, json!({held: named, "input": results}), "the provider holds the rest");
    }
    let sent = answered(Format::OpenAiResponses, &response, json!({"input": [user], "store": false}));
    assert_eq!(sent["input"].as_array().unwrap().len(), 5, "reasoning that is kept nowhere is not referred to");
    assert_eq!(sent["input"][1].get("id"), None);
}

#[test]
fn anthropic() {
    let content = json!([
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "tool_use", "id": "1", "name": "skill", "input": {}},
        {"type": "server_tool_use", "id": "9", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "2", "name": "ls", "input": {}},
    ]);
    let sent = answered(Format::Anthropic, &json!({"role": "assistant", "content": content}), json!({"messages": []}));
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "assistant", "content": content},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": true},
                {"type": "tool_result", "tool_use_id": "2", "content": "a.rs"}]},
        ])
    );
}

#[test]
fn gemini() {
    let content = json!({"role": "model", "parts": [
        {"functionCall": {"name": "skill", "args": {}}, "thoughtSignature": "s"}, {"functionCall": {"id": "2", "name": "ls", "args": {}}}]});
    let sent = answered(Format::Gemini, &json!({"candidates": [{"content": content}]}), json!({"contents": []}));
    assert_eq!(
        sent["contents"],
        json!([content, {"role": "user", "parts": [
        {"functionResponse": {"name": "skill", "response": {"error": "no"}}},
        {"functionResponse": {"name": "ls", "response": {"output": "a.rs"}, "id": "2"}}]}])
    );
}

#[test]
fn ollama() {
    let message = json!({"role": "assistant", "content": "", "tool_calls": [
        {"function": {"name": "skill", "arguments": {"name": "a"}}}, {"function": {"name": "ls", "arguments": {}}}]});
    let sent = answered(Format::Ollama, &json!({"message": message}), json!({"messages": []}));
    assert_eq!(
        sent["messages"],
        json!([
        message, {"role": "tool", "tool_name": "skill", "content": "no"}, {"role": "tool", "tool_name": "ls", "content": "a.rs"}])
    );
}

#[test]
fn what_is_no_response_calls_nothing() {
    for format in Format::ALL {
        for response in
            [json!(null), json!({}), json!([1]), json!({"choices": 3, "output": {}, "content": "x", "candidates": [7], "message": 0})]
        {
            let calls = ToolCalls::in_response(format, &response);
            assert!(calls.is_empty(), "{format} {response}");
            let mut request = json!("no object");
            calls.append(&mut request, &[]).unwrap();
        }
    }
}
