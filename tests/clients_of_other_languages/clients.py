"""The official Python packages before the proxy: `clients.py PROXY`. What they hear goes to stdout, for `judge.py`; errors are raised here."""

import json
import sys

import anthropic
import google.genai
import google.genai.errors
import google.genai.types as gemini
import ollama
import openai

PROXY = sys.argv[1]
KEY = "sk-of-nobody"
ASKED = ["Hello, ünï 🙂", "Again, streamed", "What is the weather in Oslo?", "And the weather in Rome, streamed: weather in Rome?", "Thanks"]
RESULT = '21 °C, "clear"'
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "note": {"type": "string"}}, "required": ["city"]}


class OpenAIChat:
    name = "openai-chat"

    def __init__(self, headers):
        self.client = openai.OpenAI(base_url=f"{PROXY}/v1", api_key=KEY, default_headers=headers, max_retries=0)
        self.messages = [{"role": "system", "content": "The caller's own."}]
        function = {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}
        self.more = {"model": "m", "tools": [{"type": "function", "function": function}]}

    def ask(self, text):
        self.messages.append({"role": "user", "content": text})

    def result(self, call, text):
        self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})

    def send(self, stream):
        if stream:
            with self.client.chat.completions.stream(messages=self.messages, **self.more) as events:
                for _ in events:
                    pass
                message = events.get_final_completion().choices[0].message
        else:
            message = self.client.chat.completions.create(messages=self.messages, **self.more).choices[0].message
        calls = message.tool_calls or []
        said = {"role": "assistant", "content": message.content}
        if calls:
            said["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
                for call in calls
            ]
        self.messages.append(said)
        return message.content or "", [
            {"id": call.id, "name": call.function.name, "arguments": json.loads(call.function.arguments)} for call in calls
        ]


class OpenAIResponses:
    name = "openai-responses"

    def __init__(self, headers):
        self.client = openai.OpenAI(base_url=f"{PROXY}/v1", api_key=KEY, default_headers=headers, max_retries=0)
        self.input = []
        tool = {"type": "function", "name": "weather", "description": "Tells the weather.", "parameters": SCHEMA, "strict": False}
        self.more = {"model": "m", "tools": [tool], "instructions": "The caller's own.", "store": False}

    def ask(self, text):
        self.input.append({"role": "user", "content": text})

    def result(self, call, text):
        self.input.append({"type": "function_call_output", "call_id": call["id"], "output": text})

    def send(self, stream):
        if stream:
            with self.client.responses.stream(input=self.input, **self.more) as events:
                for _ in events:
                    pass
                response = events.get_final_response()
        else:
            response = self.client.responses.create(input=self.input, **self.more)
        unsent = {"parsed", "parsed_arguments"}
        for item in response.output:
            item = item.to_dict(mode="json", exclude_unset=True)
            item = {name: value for name, value in item.items() if name not in unsent}
            if "content" in item:
                item["content"] = [{name: value for name, value in part.items() if name not in unsent} for part in item["content"]]
            self.input.append(item)
        calls = [item for item in response.output if item.type == "function_call"]
        return response.output_text, [
            {"id": call.call_id, "name": call.name, "arguments": json.loads(call.arguments)} for call in calls
        ]


class Anthropic:
    name = "anthropic"

    def __init__(self, headers):
        self.client = anthropic.Anthropic(base_url=PROXY, api_key=KEY, default_headers=headers, max_retries=0)
        self.messages = []
        tool = {"name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA}
        self.more = {"model": "m", "max_tokens": 99, "tools": [tool], "system": "The caller's own."}

    def ask(self, text):
        self.messages.append({"role": "user", "content": text})

    def result(self, call, text):
        self.messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": text}]})

    def send(self, stream):
        counted = {name: value for name, value in self.more.items() if name != "max_tokens"}
        assert self.client.messages.count_tokens(messages=self.messages, **counted).input_tokens > 200, "what is counted is what is sent"
        if stream:
            with self.client.messages.stream(messages=self.messages, **self.more) as events:
                message = events.get_final_message()
        else:
            message = self.client.messages.create(messages=self.messages, **self.more)
        wanted = {"text": ["type", "text"], "tool_use": ["type", "id", "name", "input"]}
        self.messages.append(
            {
                "role": "assistant",
                "content": [{name: getattr(block, name) for name in wanted[block.type]} for block in message.content],
            }
        )
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = [block for block in message.content if block.type == "tool_use"]
        return text, [{"id": call.id, "name": call.name, "arguments": call.input} for call in calls]


class Gemini:
    name = "gemini"

    def __init__(self, headers):
        options = gemini.HttpOptions(base_url=PROXY, headers=headers)
        self.client = google.genai.Client(api_key=KEY, http_options=options, vertexai=False)
        self.contents = []
        function = gemini.FunctionDeclaration(name="weather", description="Tells the weather.", parameters_json_schema=SCHEMA)
        self.config = gemini.GenerateContentConfig(
            system_instruction="The caller's own.",
            tools=[gemini.Tool(function_declarations=[function])],
            automatic_function_calling=gemini.AutomaticFunctionCallingConfig(disable=True),
        )

    def ask(self, text):
        self.contents.append(gemini.UserContent(parts=[gemini.Part.from_text(text=text)]))

    def result(self, call, text):
        self.contents.append(gemini.UserContent(parts=[gemini.Part.from_function_response(name=call["name"], response={"result": text})]))

    def send(self, stream):
        request = {"model": "m", "contents": self.contents, "config": self.config}
        if stream:
            answers = list(self.client.models.generate_content_stream(**request))
        else:
            answers = [self.client.models.generate_content(**request)]
        parts = [part for answer in answers for part in answer.candidates[0].content.parts or []]
        text = "".join(part.text or "" for part in parts)
        calls = [part for part in parts if part.function_call]
        assert all(call.thought_signature == b"signed" for call in calls)
        said = ([gemini.Part.from_text(text=text)] if text else []) + calls
        self.contents.append(gemini.ModelContent(parts=said))
        return text, [{"name": call.function_call.name, "arguments": call.function_call.args} for call in calls]


class Ollama:
    name = "ollama"

    def __init__(self, headers):
        self.client = ollama.Client(host=PROXY, headers={**headers, "authorization": f"Bearer {KEY}"})
        self.messages = [{"role": "system", "content": "The caller's own."}]
        function = {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}
        self.more = {"model": "m", "tools": [{"type": "function", "function": function}]}

    def ask(self, text):
        self.messages.append({"role": "user", "content": text})

    def result(self, call, text):
        self.messages.append({"role": "tool", "tool_name": call["name"], "content": text})

    def send(self, stream):
        answer = self.client.chat(messages=self.messages, stream=stream, **self.more)
        answers = list(answer) if stream else [answer]
        text = "".join(answer.message.content or "" for answer in answers)
        calls = [call for answer in answers for call in answer.message.tool_calls or []]
        said = {"role": "assistant", "content": text}
        if calls:
            said["tool_calls"] = [call.model_dump() for call in calls]
        self.messages.append(said)
        return text, [{"name": call.function.name, "arguments": dict(call.function.arguments)} for call in calls]


def converse(kind, is_named):
    """The conversation that each client carries: chat, streaming, and two tool loops."""
    conversation = f"python {kind.name} {'with' if is_named else 'without'} a session"
    headers = {"x-conversation": conversation}
    if is_named:
        headers["x-session-id"] = conversation
    client = kind(headers)
    heard = []

    def send(stream):
        text, calls = client.send(stream)
        heard.append({"text": text, "calls": [{"name": call["name"], "arguments": call["arguments"]} for call in calls]})
        return calls

    for turn, asked in enumerate(ASKED):
        client.ask(asked)
        stream = turn in (1, 3)
        calls = send(stream)
        while calls:
            for call in calls:
                client.result(call, RESULT)
            calls = send(stream)
    print(json.dumps({"conversation": conversation, "heard": heard}), flush=True)


def is_refused(kind, error, status):
    """What the upstream refuses, the client hears as it was said."""
    client = kind({"x-conversation": "refused"})
    client.ask("TOO MANY")
    try:
        # Without what else is asked.
        if kind is Anthropic:
            client.client.messages.create(messages=client.messages, **client.more)
        else:
            client.send(False)
    except error as refused:
        told = getattr(refused, "status_code", getattr(refused, "code", None))
        assert told == status and "slow down" in str(refused), refused
        return
    raise AssertionError(f"{kind.name} heard no error")


# Sessions are of their caller, and all call with one key here: what begins alike without a session may share its beginning.
for kind in [OpenAIChat, OpenAIResponses, Anthropic, Gemini, Ollama]:
    for is_named in [True, False]:
        converse(kind, is_named)
is_refused(OpenAIChat, openai.RateLimitError, 429)
is_refused(OpenAIResponses, openai.RateLimitError, 429)
is_refused(Anthropic, anthropic.RateLimitError, 429)
is_refused(Gemini, google.genai.errors.ClientError, 429)
is_refused(Ollama, ollama.ResponseError, 429)
models = openai.OpenAI(base_url=f"{PROXY}/v1", api_key=KEY).models.list()
assert [model.id for model in models] == ["m"], models
