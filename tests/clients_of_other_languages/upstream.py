"""An upstream that speaks as OpenAI, Anthropic, Gemini and Ollama do, refuses what their own types refuse, and tells what it saw and said.

It answers text; to a user who asks for weather it calls the tool `weather`, until a result is there. `GET /seen?conversation=` tells.
"""

import http.server
import json
import sys
import threading
import urllib.parse

import schemas

SEEN = {}
LOCK = threading.Lock()
COUNT = [0]
# Characters of one to four bytes, and what JSON and events escape.
TEXT = 'Answer {}: «ünïcødé» 日本 🙂, a "quote", a \\ and\na second line.'


def form_of(path):
    if path.endswith("/chat/completions"):
        return "openai-chat"
    if path.endswith("/responses"):
        return "openai-responses"
    if path.endswith("/messages/count_tokens"):
        return "anthropic-count"
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith(":generateContent") or path.endswith(":streamGenerateContent"):
        return "gemini"
    return "ollama" if path.endswith("/api/chat") else None


def words(value):
    return json.dumps(value, ensure_ascii=False)


def asked_for(form, body):
    """The last user's own words, where nothing stands behind them; else None. What the proxy adds is no user's."""
    messages = body.get("messages") or body.get("input") or body.get("contents")
    last = messages[-1]
    if last.get("role") != "user" or "tool_result" in words(last) or "functionResponse" in words(last):
        return None
    content = last.get("content", last.get("parts"))
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def said_to(form, body):
    COUNT[0] += 1
    asked = asked_for(form, body)
    city = next((city for city in ["Oslo", "Rome"] if asked and f"weather in {city}" in asked), None)
    if city and body.get("tools"):
        return {"text": "", "calls": [{"id": f"call_{COUNT[0]}", "name": "weather", "arguments": {"city": city, "note": "«ü» 🙂"}}]}
    return {"text": TEXT.format(COUNT[0]), "calls": []}


def pieces(text, size=7):
    return [text[at : at + size] for at in range(0, len(text), size)]


def event(value, name=None):
    return (f"event: {name}\n" if name else "") + f"data: {words(value)}\n\n"


def openai_chat(body, said):
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": words(call["arguments"])}}
        for call in said["calls"]
    ]
    message = {"role": "assistant", "content": said["text"] or None, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    end = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    head = {"id": "chatcmpl-1", "created": 1, "model": body["model"]}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": end}
        return words({**head, "object": "chat.completion", "choices": [choice], "usage": usage})

    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return event({**head, "object": "chat.completion.chunk", "choices": [choice]})

    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": piece}) for piece in pieces(said["text"])]
    for index, call in enumerate(calls):
        arguments = call["function"]["arguments"]
        events.append(chunk({"tool_calls": [{**call, "index": index, "function": {**call["function"], "arguments": ""}}]}))
        events += [chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}) for piece in pieces(arguments)]
    events.append(chunk({}, end))
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append(event({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}))
    return events + ["data: [DONE]\n\n"]


def openai_responses(body, said):
    part = {"type": "output_text", "text": said["text"], "annotations": []}
    message = {"type": "message", "id": f"msg_{COUNT[0]}", "role": "assistant", "status": "completed", "content": [part]}
    output = [message] if said["text"] else []
    for call in said["calls"]:
        item = {"type": "function_call", "id": f"fc_{COUNT[0]}", "call_id": call["id"], "name": call["name"], "status": "completed"}
        output.append({**item, "arguments": words(call["arguments"])})
    answer = {
        "id": f"resp_{COUNT[0]}",
        "object": "response",
        "created_at": 1,
        "model": body["model"],
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 9,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 3,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 12,
        },
    }
    if not body.get("stream"):
        return words(answer)
    events = []

    def add(kind, **more):
        events.append(event({"type": kind, "sequence_number": len(events), **more}, kind))

    add("response.created", response={**answer, "status": "in_progress", "output": []})
    for index, item in enumerate(output):
        at = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            add("response.output_item.added", output_index=index, item={**item, "status": "in_progress", "content": []})
            add("response.content_part.added", **at, content_index=0, part={**part, "text": ""})
            for piece in pieces(said["text"]):
                add("response.output_text.delta", **at, content_index=0, delta=piece, logprobs=[])
            add("response.output_text.done", **at, content_index=0, text=said["text"], logprobs=[])
            add("response.content_part.done", **at, content_index=0, part=part)
        else:
            add("response.output_item.added", output_index=index, item={**item, "status": "in_progress", "arguments": ""})
            for piece in pieces(item["arguments"]):
                add("response.function_call_arguments.delta", **at, delta=piece)
            add("response.function_call_arguments.done", **at, name=item["name"], arguments=item["arguments"])
        add("response.output_item.done", output_index=index, item=item)
    add("response.completed", response=answer)
    return events


def anthropic(body, said):
    content = [{"type": "text", "text": said["text"]}] if said["text"] else []
    content += [{"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["arguments"]} for call in said["calls"]]
    end = "tool_use" if said["calls"] else "end_turn"
    usage = {"input_tokens": 9, "output_tokens": 3}
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
    if not body.get("stream"):
        return words({**answer, "content": content, "stop_reason": end, "stop_sequence": None, "usage": usage})
    events = []

    def add(kind, **more):
        events.append(event({"type": kind, **more}, kind))

    add("message_start", message={**answer, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage})
    for index, block in enumerate(content):
        if block["type"] == "text":
            add("content_block_start", index=index, content_block={"type": "text", "text": ""})
            for piece in pieces(block["text"]):
                add("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
        else:
            add("content_block_start", index=index, content_block={**block, "input": {}})
            for piece in pieces(words(block["input"])):
                add("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": piece})
        add("content_block_stop", index=index)
        add("ping")
    add("message_delta", delta={"stop_reason": end, "stop_sequence": None}, usage={"output_tokens": 3})
    add("message_stop")
    return events


def gemini(is_stream, said):
    def answer(parts, **more):
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **more}
        return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 12}, "modelVersion": "m"}

    calls = [
        {"functionCall": {"name": call["name"], "args": call["arguments"]}, "thoughtSignature": "c2lnbmVk"} for call in said["calls"]
    ]
    if not is_stream:
        return words(answer(([{"text": said["text"]}] if said["text"] else []) + calls, finishReason="STOP"))
    texts = [f"data: {words(answer([{'text': piece}]))}\r\n\r\n" for piece in pieces(said["text"])]
    return texts + [f"data: {words(answer(calls or [{'text': ''}], finishReason='STOP'))}\r\n\r\n"]


def ollama(body, said):
    head = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
    calls = [{"function": {"name": call["name"], "arguments": call["arguments"]}} for call in said["calls"]]
    more = {"tool_calls": calls} if calls else {}
    done = {"done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 3}
    if not body.get("stream"):
        return words({**head, "message": {"role": "assistant", "content": said["text"], **more}, **done})
    lines = [{**head, "message": {"role": "assistant", "content": piece}, "done": False} for piece in pieces(said["text"])]
    lines.append({**head, "message": {"role": "assistant", "content": "", **more}, **done})
    return [words(line) + "\n" for line in lines]


class Upstream(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        if isinstance(body, list):
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for piece in body:
                piece = piece.encode()
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
        else:
            body = body.encode()
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/seen":
            with LOCK:
                return self.answer(200, words(SEEN.get(urllib.parse.parse_qs(url.query)["conversation"][0], [])))
        if url.path == "/v1/models":
            return self.answer(200, words({"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "o"}]}))
        return self.answer(404, "{}")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = urllib.parse.urlsplit(self.path).path
        form = form_of(path)
        refused = "there is no such path" if form is None else schemas.check(form, body)
        if refused:
            print(f"{path}: {refused}\n{words(body)}", file=sys.stderr, flush=True)
            return self.answer(400, words({"error": {"message": refused, "type": "invalid_request_error", "code": 400}}))
        if "TOO MANY" in words(body):
            return self.answer(429, words({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down", "code": 429}}))
        if form == "anthropic-count":
            return self.answer(200, words({"input_tokens": len(words(body)) // 4}))
        is_stream = path.endswith(":streamGenerateContent") if form == "gemini" else bool(body.get("stream"))
        with LOCK:
            said = said_to(form, body)
            made = gemini(is_stream, said) if form == "gemini" else MAKERS[form](body, said)
            SEEN.setdefault(self.headers["x-conversation"], []).append({"form": form, "body": body, "said": said})
        if not is_stream:
            return self.answer(200, made)
        return self.answer(200, made, "application/x-ndjson" if form == "ollama" else "text/event-stream")


MAKERS = {"openai-chat": openai_chat, "openai-responses": openai_responses, "anthropic": anthropic, "ollama": ollama}

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
