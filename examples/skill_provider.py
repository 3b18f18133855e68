#!/usr/bin/env python3
"""A provider of skills: requests and answers of `bcode.skill/v1`, a line each, over standard input and output.

    echo '{"api": "bcode.skill/v1", "id": 1, "kind": "list"}' | python3 examples/skill_provider.py

Whatever is for a person goes to standard error: standard output is for answers alone.
"""

import datetime
import json
import sys

API = "bcode.skill/v1"

SKILLS = {
    "minutes": {
        "description": "Write the minutes of a meeting from rough notes. Use when the user pastes notes of a meeting.",
        "version": "1.0",
        "activation": {"keywords": ["minutes", "meeting notes"]},
        "argument_hint": "the meeting's name",
        "body": "# Minutes\n\nName who was there, what was decided and who does what until when.\nThe meeting: $ARGS\n",
    },
    "week-number": {
        "description": "Tell the ISO week of a date. Use when the user asks for the number of a week.",
        "permissions": {"categories": ["skill.script.execute"]},
        "body": "# Week numbers\n\nInvoke this skill with a date such as 2026-07-01.\n",
    },
}


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def summary(skill):
    """All that is known of a skill, but for its body."""
    return {"id": skill, **{key: value for key, value in SKILLS[skill].items() if key != "body"}}


def answer(request):
    """What a request is answered with, or `Refused`."""
    kind = request.get("kind")
    if request.get("api") != API:
        raise Refused("version", f"this provider speaks {API}")
    if kind == "list":
        return {"skills": [summary(skill) for skill in sorted(SKILLS)]}
    skill = request.get("skill")
    if skill not in SKILLS:
        raise Refused("unknown-skill", f"there is no skill {skill!r}")
    if kind == "describe":
        return {"manifest": summary(skill)}
    if kind == "context":
        return {"body": SKILLS[skill]["body"]}
    if kind == "invoke" and skill == "week-number":
        try:
            date = datetime.date.fromisoformat((request.get("input") or "").strip())
        except ValueError as why:
            return {"text": str(why), "is_error": True}
        return {"text": "week {1} of {0}".format(*date.isocalendar())}
    raise Refused("unsupported", f"{kind!r} is not supported")


def main():
    for line in sys.stdin:
        try:
            request = json.loads(line)
            number = request["id"]
        except (ValueError, KeyError, TypeError):
            print(f"not a request: {line!r}", file=sys.stderr)
            continue
        try:
            said = {"kind": request.get("kind"), **answer(request)}
        except Refused as why:
            said = {"kind": "error", "code": why.code, "message": str(why)}
        print(json.dumps({"api": API, "id": number, **said}), flush=True)


if __name__ == "__main__":
    main()
