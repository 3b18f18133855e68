"""Each API's own word on what a request may be: the types of its official package, made strict.

A field that a type does not know is an error, lists are looked at to their end, and nothing is converted.
"""

import importlib
import sys
import typing

import anthropic.types.message_count_tokens_params
import anthropic.types.message_create_params
import google.genai.types as gemini
import ollama._types as ollama
import openai.types.chat.completion_create_params
import openai.types.responses.response_create_params
import pydantic
import typing_extensions

STRICT = pydantic.ConfigDict(extra="forbid")


def make_strict(package):
    """What was imported of a package's types, with what pydantic can't look into said in a way that it can."""
    instead = {
        # The iterables are lists, once they are JSON; and files come as text.
        "Iterable": typing.List,
        "SequenceNotStr": typing.List,
        "Base64FileInput": str,
    }
    for name, module in list(sys.modules.items()):
        if not name.startswith(package):
            continue
        for lazy, eager in instead.items():
            if hasattr(module, lazy) and name.endswith(("_param", "_params")):
                setattr(module, lazy, eager)
        for kind in vars(module).values():
            if typing_extensions.is_typeddict(kind):
                kind.__pydantic_config__ = STRICT


make_strict("openai.types")
make_strict("anthropic.types")


def look_to_the_end(value):
    """Iterables that are left are looked at when they are read. An answer's object may be sent again, and takes any field: bodies have none."""
    if isinstance(value, pydantic.BaseModel):
        raise ValueError(f"no part of a request: {value!r}")
    if isinstance(value, dict):
        value = value.values()
    if not isinstance(value, str) and hasattr(value, "__iter__"):
        for inner in value:
            look_to_the_end(inner)


def named(module, *kinds):
    """A check against any of these types."""
    module = importlib.import_module(module)
    adapter = pydantic.TypeAdapter(typing.Union[tuple(getattr(module, kind) for kind in kinds)])
    return lambda body: look_to_the_end(adapter.validate_python(body))


def strict(model):
    """The model without fields that it does not know."""
    return pydantic.TypeAdapter(type(model.__name__, (model,), {"model_config": {**model.model_config, "extra": "forbid"}}))


def ollama_chat():
    """The package's request takes any mapping for a message; what a message is, another type says."""
    request, message, tool = (strict(kind) for kind in (ollama.ChatRequest, ollama.Message, ollama.Tool))

    def check(body):
        request.validate_python(body)
        for said in body.get("messages", []):
            message.validate_python(said)
        for offered in body.get("tools", []):
            tool.validate_python(offered)

    return check


def fields(kinds):
    """A Gemini request has no type of its own in the package, its fields have."""
    adapters = {name: pydantic.TypeAdapter(kind) for name, kind in kinds.items()}

    def check(body):
        unknown = set(body) - set(adapters)
        if unknown or "contents" not in body:
            raise ValueError(f"fields {sorted(body)}")
        for name, value in body.items():
            adapters[name].validate_python(value)

    return check


CHECKS = {
    "openai-chat": named(
        "openai.types.chat.completion_create_params", "CompletionCreateParamsNonStreaming", "CompletionCreateParamsStreaming"
    ),
    "openai-responses": named(
        "openai.types.responses.response_create_params", "ResponseCreateParamsNonStreaming", "ResponseCreateParamsStreaming"
    ),
    "anthropic": named(
        "anthropic.types.message_create_params", "MessageCreateParamsNonStreaming", "MessageCreateParamsStreaming"
    ),
    "anthropic-count": named("anthropic.types.message_count_tokens_params", "MessageCountTokensParams"),
    "gemini": fields(
        {
            "contents": typing.List[gemini.Content],
            "systemInstruction": gemini.Content,
            "tools": typing.List[gemini.Tool],
            "toolConfig": gemini.ToolConfig,
            "generationConfig": gemini.GenerationConfig,
        }
    ),
    "ollama": ollama_chat(),
}


def check(form, body):
    """Why the API would refuse this body; None if it takes it."""
    try:
        CHECKS[form](body)
    except (ValueError, TypeError) as error:
        return str(error)
    return None


def refuse_what_is_wrong():
    """They would be of no use if they took everything."""
    user = {"role": "user", "content": "hi"}
    part = {"role": "user", "content": [{"type": "text", "text": "a", "unknown": 1}]}
    for form, body in [
        ("openai-chat", {"model": "m", "messages": [part]}),
        ("openai-chat", {"model": "m", "messages": [{"role": "tool", "content": "without an id"}]}),
        ("openai-responses", {"model": "m", "input": [part]}),
        ("anthropic", {"model": "m", "max_tokens": 1, "messages": [part]}),
        ("anthropic", {"model": "m", "max_tokens": 1, "messages": [user], "prompt_cache_key": "k"}),
        ("anthropic-count", {"model": "m", "max_tokens": 1, "messages": [user]}),
        ("gemini", {"contents": [{"role": "user", "parts": [{"unknown": "a"}]}]}),
        ("ollama", {"model": "m", "messages": [{"role": "user", "content": 1}]}),
    ]:
        assert check(form, body), f"{form} takes {body}"


refuse_what_is_wrong()
