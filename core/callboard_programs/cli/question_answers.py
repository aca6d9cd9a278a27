"""Gets the answers to a tool's questions from ``--answer`` or from the person at the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from callboard.calls.client_questions import ELICIT
from callboard.calls.json_schema import SchemaViolation, Validator
from callboard.content import Json
from callboard.errors import CallboardError, PeerError
from callboard.ground.plain_text import plain
from callboard_programs.cli.progress_bar import clear
from callboard_programs.client import refuse
from callboard_programs.client.tool_call import NobodyAnswered

#: The capabilities that a client declares if it answers questions this way.
ASKABLE: Json = {"elicitation": {"form": {}, "url": {}}}
_NO: Json = {"action": "decline"}
_YES = ("y", "yes", "true", "1")
_NEVER = ("n", "no", "false", "0")


class Answers:
    """Answers a tool's questions: first with ``given``, the values of ``--answer`` in the order of
    the questions, then by asking at the terminal. An object fills in a form, and ``true`` and
    ``false`` mean yes and no. Raises PeerError for any other value."""

    def __init__(self, given: list[str]) -> None:
        self._given = [_read(text) for text in given]
        # A program without a console has neither stream.
        streams = (sys.stdin, sys.stderr)
        self._terminal = all(stream is not None and stream.isatty() for stream in streams)
        self._missing: NobodyAnswered | None = None

    @contextmanager
    def missing_sentence(self) -> Iterator[None]:
        """If a call in the block fails after an unanswered question, raise NobodyAnswered instead
        of the call's own error."""
        try:
            yield
        except CallboardError:
            if self._missing is not None:
                raise self._missing from None
            raise

    async def asked(self, method: str, params: Json) -> Json:
        """Return the answer to one of the server's requests. Runs on the client's loop, which waits
        for the person at the terminal."""
        if method != ELICIT:
            return await refuse(method, params)
        if self._given:
            given = self._given.pop(0)
            content = given if isinstance(given, dict) else {}
            return {"action": "accept", "content": content} if given is not False else _NO
        if self._terminal:
            return _typed(params)
        self._missing = NobodyAnswered(_reported(params))
        raise self._missing


def _read(text: str) -> Json | bool:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise PeerError(f"--answer is not JSON: {error}") from None
    if not isinstance(given, (dict, bool)):
        raise PeerError("--answer must be true, false, or an object with the form's fields")
    return given


def _reported(params: Json) -> str:
    message, fields = plain(str(params.get("message", ""))), _fields(params)
    form = json.dumps(dict.fromkeys(fields, "…"), ensure_ascii=False) if fields else "true"
    return (
        f"the tool asks: {message}\nanswer with --answer '{form}', or make the call at a terminal"
    )


def _fields(params: Json) -> dict[str, Json]:
    schema = params.get("requestedSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def _typed(params: Json) -> Json:
    """Ask the person for each field, or for yes or no if the question has no fields. Return the
    answer to the question. If the input ends, the answer is a cancellation."""
    clear()
    shown = [str(params.get("message", "")), *([str(params["url"])] if "url" in params else [])]
    print(plain("\n".join(shown)), file=sys.stderr)
    try:
        fields = _fields(params)
        if not fields:
            return {"action": "accept", "content": {}} if _line("[y/N] ").lower() in _YES else _NO
        required = params["requestedSchema"].get("required", ())
        content = {}
        for name, schema in fields.items():
            value = _field(name, schema, name in required)
            if value is not None:
                content[name] = value
    except EOFError:
        return {"action": "cancel"}
    return {"action": "accept", "content": content}


def _field(name: str, schema: Mapping[str, Any], required: bool) -> Any:
    """Ask for the value of a field until a valid one is typed. Return the value, or None if the
    field is left out."""
    label = schema.get("title") or name
    if about := schema.get("description"):
        label = f"{label} ({about})"
    if choices := _choices(schema):
        label = f"{label}: one of {', '.join(map(str, choices))}"
    if "default" in schema:
        label = f"{label} [{schema['default']}]"
    while True:
        text = _line(f"{label}: ")
        if not text and "default" in schema:
            return schema["default"]
        if not text and not required:
            return None
        try:
            value = _value(text, schema)
            Validator(schema, name=name).check(value)
            return value
        except SchemaViolation as wrong:
            print(plain(str(wrong)), file=sys.stderr)
        except ValueError:
            print(f"enter a value of type {schema.get('type')}", file=sys.stderr)


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    of = schema.get("items", schema) if schema.get("type") == "array" else schema
    titled = of.get("oneOf") or of.get("anyOf") or []
    return list(of.get("enum") or [each.get("const") for each in titled])


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    """Return the typed text as a value of the schema's type. Raises ValueError if the text isn't
    such a value."""
    kind = schema.get("type")
    if kind == "boolean":
        if text.lower() not in _YES + _NEVER:
            raise ValueError(text)
        return text.lower() in _YES
    if kind in ("integer", "number"):
        return int(text) if kind == "integer" else float(text)
    if kind == "array":
        return [each.strip() for each in text.split(",")]
    return text


def _line(prompt: str) -> str:
    """Read a line. ``input`` isn't used, because it would print the prompt on stdout, which is
    reserved for the result. Raises EOFError."""
    print(plain(prompt), end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()
