"""What holds of a conversation, whoever carried it: `judge.py UPSTREAM`, with what clients heard on stdin, a JSON a line.

A line is `{"conversation": NAME, "heard": [{"text": TEXT, "calls": [{"name": NAME, "arguments": {..}}]}]}`.
"""

import json
import sys
import urllib.parse
import urllib.request


def without_marks(value):
    """Cache marks move; they are no part of what is said."""
    if isinstance(value, dict):
        return {name: without_marks(inner) for name, inner in value.items() if name != "cache_control"}
    return [without_marks(inner) for inner in value] if isinstance(value, list) else value


def in_order(body):
    """What is said, in the order in which the provider reads it; each as the text that it is."""
    body = without_marks(body)
    system = body.get("system", body.get("instructions", body.get("systemInstruction", [])))
    said = body.get("messages") or body.get("input") or body.get("contents")
    return [json.dumps(item, ensure_ascii=False) for item in [body.get("tools"), system, *said]]


def judge(conversation, heard, seen):
    assert len(seen) == len(heard) == 7, f"{conversation}: {len(seen)} requests, {len(heard)} answers"
    before = []
    for number, (heard, seen) in enumerate(zip(heard, seen)):
        at = f"{conversation}, request {number}"
        calls = [{"name": call["name"], "arguments": call["arguments"]} for call in seen["said"]["calls"]]
        assert heard == {"text": seen["said"]["text"], "calls": calls}, f"{at}: {heard} of {seen['said']}"
        now = in_order(seen["body"])
        assert now[: len(before)] == before and len(now) > len(before), f"{at} does not grow at its end:\n{before}\n{now}"
        whole = "\n".join(now)
        assert whole.count("<available_skills>") == 1 and "frobnicate" in whole, f"{at} has no catalog: {whole}"
        assert "<context origin" in whole, f"{at}: no facts stand at the user's message: {whole}"
        before = now


def main(upstream):
    names = []
    for line in sys.stdin:
        told = json.loads(line)
        url = f"{upstream}/seen?conversation={urllib.parse.quote(told['conversation'])}"
        with urllib.request.urlopen(url) as answer:
            judge(told["conversation"], told["heard"], json.load(answer))
        names.append(told["conversation"])
    assert names, "no conversation was told"
    print(f"{len(names)} conversations: {', '.join(names)}")


main(sys.argv[1])
