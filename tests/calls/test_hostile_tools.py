"""No result of a tool, and no exception in it, can harm anything else. The client gets an answer,
and the server keeps running."""

from __future__ import annotations

import asyncio
import enum
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from callboard.calls.outcomes import RESULT_LIMIT
from callboard.content import Image, Result, Text
from callboard.errors import CallboardError, HostError, InvalidParams
from callboard.service.resources import ServedResource
from serving import Served, served, text_of

KINDS = ["function", "generator", "coroutine", "any", "any generator"]
ENDS: list[type[BaseException]] = [
    SystemExit,
    KeyboardInterrupt,
    GeneratorExit,
    StopIteration,
    asyncio.CancelledError,
    RecursionError,
    MemoryError,
    ZeroDivisionError,
]


def trap(end: type[BaseException]) -> Callable[..., Any]:
    def spring(*_args: object, **_kwargs: object) -> Any:
        raise end(3)

    return spring


def evil(base: type, *names: str, end: type[BaseException]) -> Any:
    """Return a class whose methods with the given names raise ``end``."""
    return type("Evil", (base,), dict.fromkeys(names, trap(end)))


def exceptions(end: type[BaseException]) -> dict[str, BaseException]:
    text = evil(str, "__str__", "__format__", "__iter__", "__len__", "__add__", end=end)("x")
    raised: dict[str, BaseException] = {
        "its text": evil(Exception, "__str__", end=end)("x"),
        "its repr": evil(Exception, "__repr__", "__str__", end=end)("x"),
        "its text, and no Exception": evil(BaseException, "__str__", "__repr__", end=end)("x"),
        "its traceback": type("Evil", (Exception,), {"__traceback__": property(trap(end))})("x"),
        "its cause": type("Evil", (Exception,), {"__cause__": property(trap(end))})("x"),
        "its notes": type("Evil", (Exception,), {"__notes__": property(trap(end))})("x"),
        "its class": type("Evil", (Exception,), {"__class__": property(trap(end))})("x"),
        "its arguments": KeyError(evil(object, "__str__", "__repr__", end=end)()),
        "its text's text": ValueError(text),
        "everything": evil(Exception, "__getattribute__", "__str__", "__repr__", end=end)("x"),
        "ours, with its text": HostError(text),
        "ours, with its data": InvalidParams("x", data={"a": evil(dict, "items", end=end)(a=1)}),
        "like ours": evil(CallboardError, "__str__", end=end)("x"),
        "the end itself": end(3),
    }
    loop = ValueError("round")
    loop.__cause__ = loop
    raised["a circle"] = loop
    return raised


class Level(enum.IntEnum):
    HIGH = 3


def values(end: type[BaseException]) -> dict[str, Any]:
    items = evil(dict, "items", "keys", "get", "__iter__", "__len__", end=end)
    flat = evil(list, "__iter__", "__len__", "__getitem__", end=end)
    number = evil(int, "__repr__", "__str__", "__int__", "__index__", end=end)
    text = evil(str, "__str__", "__format__", "encode", "__len__", end=end)
    seen = []

    class Later(dict[str, Any]):
        """A mapping whose items can be read only once."""

        def items(self) -> Any:
            seen.append(1)
            return super().items() if len(seen) == 1 else trap(end)()

    return {
        "its items": items(a=1),
        "its items, inside": {"a": [items(a=1)]},
        "its items, later": {"a": Later(b=1)},
        "its iterator": {"a": flat([1])},
        "its number": {"a": number(1)},
        "its text": text("x"),
        "its text, inside": {"a": text("x")},
        "its key": {text("x"): 1},
        "its class": type("Evil", (), {"__class__": property(trap(end))})(),
        "its picture": Image(evil(bytes, "__len__", "__iter__", end=end)(b"x")),
        "its block": [Text(text("x"))],
        "its result": Result(flat([Text("x")]), structured=items(a=1)),
        "its meta": Result(["x"], meta=items(a=1)),
    }


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as running:
        yield running


def register(server: Served, kind: str, do: Callable[[], Any]) -> str:
    name = kind.replace(" ", "_")

    def function() -> Any:
        return do()

    def generator() -> Any:
        yield
        return do()

    async def coroutine() -> Any:
        await asyncio.sleep(0)
        return do()

    tool = {"function": function, "any": function, "coroutine": coroutine}.get(kind, generator)
    affinity = "any" if kind.startswith("any") else "main"
    if name in server.app.tools:
        server.app.tools.unregister(name)
    server.tool(name, tool, affinity=affinity)
    return name


EACH = [*((kind, SystemExit) for kind in KINDS), *((KINDS[0], end) for end in ENDS[1:])]


@pytest.mark.parametrize(("kind", "end"), EACH)
def test_whatever_is_raised_is_answered(
    server: Served, kind: str, end: type[BaseException]
) -> None:
    with server.client() as client:
        for what, error in exceptions(end).items():

            def fail(error: BaseException = error) -> Any:
                raise error

            name = register(server, kind, fail)
            answer = client.request("tools/call", {"name": name, "arguments": {}})
            told = "error" in answer or answer["result"]["isError"]
            assert told, (what, answer)
        assert client.request("ping")["result"] == {}


@pytest.mark.parametrize(("kind", "end"), EACH)
def test_whatever_is_returned_is_answered(
    server: Served, kind: str, end: type[BaseException]
) -> None:
    with server.client() as client:
        for what, value in values(end).items():
            name = register(server, kind, lambda value=value: value)
            answer = client.request("tools/call", {"name": name, "arguments": {}})
            assert "result" in answer, (what, answer)
        assert client.request("ping")["result"] == {}


def on_its_way(end: type[BaseException]) -> dict[str, Callable[[Any], Any]]:
    """Return functions that send the client hostile values while the tool runs."""
    text = evil(str, "__str__", "__format__", "encode", "__len__", "__hash__", "__eq__", end=end)
    number = evil(float, "__float__", "__le__", "__lt__", "__repr__", "__bool__", end=end)
    mapping = evil(dict, "items", "keys", "get", "__iter__", "__len__", end=end)
    schema = {"type": "object", "properties": {"a": mapping(type="string")}}
    return {
        "progress": lambda ctx: ctx.progress(number(1), number(2), text("x")),
        "progress of no number": lambda ctx: ctx.progress(object(), [], {}),
        "progress without an end": lambda ctx: ctx.progress(float("nan"), float("inf")),
        "progress of huge numbers": lambda ctx: ctx.progress(10**400, -(10**400)),
        "log": lambda ctx: ctx.log(text("info"), text("x"), data=mapping(a=1)),
        "log of no text": lambda ctx: ctx.log(None, object(), data=object()),
        "log at no level": lambda ctx: ctx.log([], "x"),
        "print": lambda ctx: print(text("x"), end=text("y")),
        "print of a picture": lambda ctx: sys.stdout.write(b"x"),  # type: ignore[call-overload]
        "elicit": lambda ctx: ctx.elicit(text("x"), schema, key=text("k")),
        "elicit by no form": lambda ctx: ctx.elicit("x", {"type": number(1)}),
        "sample": lambda ctx: ctx.sample([mapping(role="user")], max_tokens=number(1)),
        "read": lambda ctx: ctx.read_resource(text("thing://x")),
        "port": lambda ctx: ctx.port(text("scene.read")),
        "port of no text": lambda ctx: ctx.port([]),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", [SystemExit, ZeroDivisionError])
def test_whatever_is_said_on_the_way_is_answered(
    server: Served, kind: str, end: type[BaseException]
) -> None:
    capabilities = {"elicitation": {}, "sampling": {}}
    asked = {
        "elicitation/create": lambda params: {"action": "accept", "content": {"a": "x"}},
        "sampling/createMessage": lambda params: {"role": "assistant", "content": {}, "model": "x"},
    }
    with server.client(capabilities, asked) as client:
        for what, say in on_its_way(end).items():
            name = register_with_context(server, kind, say)
            params = {"name": name, "arguments": {}, "_meta": {"progressToken": what}}
            answer = client.request("tools/call", params)
            assert "result" in answer or "error" in answer, what
        assert client.request("ping")["result"] == {}


def register_with_context(server: Served, kind: str, say: Callable[[Any], Any]) -> str:
    def function(ctx: Any) -> str:
        say(ctx)
        return "said"

    def generator(ctx: Any) -> Any:
        yield
        say(ctx)
        return "said"

    async def coroutine(ctx: Any) -> str:
        waited = say(ctx)
        if asyncio.iscoroutine(waited):
            await waited
        return "said"

    tool = {"function": function, "any": function, "coroutine": coroutine}.get(kind, generator)
    name = f"says_{kind.replace(' ', '_')}"
    server.app.tools.unregister(name)
    server.tool(name, tool, affinity="any" if kind.startswith("any") else "main")
    return name


# When the generator is collected, Python warns that it didn't end.
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <generator object test_a_tool_that_will_not_end"
    ":pytest.PytestUnraisableExceptionWarning"
)
def test_a_tool_that_will_not_end_its_slices_is_answered(server: Served) -> None:
    going = True

    def stubborn() -> Any:
        while going:
            with suppress(BaseException):
                yield trap

    server.tool("stubborn", stubborn, timeout_secs=0.2)
    try:
        with server.client() as client:
            answer = client.request("tools/call", {"name": "stubborn", "arguments": {}})
            assert answer["error"]["code"] == -31002
            assert client.request("ping")["result"] == {}
    finally:
        going = False


def test_a_coroutine_that_will_not_be_cancelled_is_answered(server: Served) -> None:
    going = True

    async def stubborn() -> None:
        while going:
            with suppress(BaseException):
                await asyncio.sleep(0.01)

    server.tool("stubborn_coroutine", stubborn, timeout_secs=0.2)
    try:
        with server.client() as client:
            answer = client.request("tools/call", {"name": "stubborn_coroutine", "arguments": {}})
            assert answer["error"]["code"] == -31002
            assert client.request("ping")["result"] == {}
    finally:
        going = False


HUGE = {
    "text": lambda: "x" * 120_000_000,
    "rows": lambda: {"rows": ["x" * 1_000_000] * 120},
    "a picture": lambda: Image(b"\0" * 90_000_000),
    "what only programs see": lambda: Result(["short"], structured={"x": "x" * 120_000_000}),
}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kind", "what"), [*((kind, "rows") for kind in KINDS[:3]), *(("any", what) for what in HUGE)]
)
def test_an_answer_without_end_is_refused_with_what_to_do(
    server: Served, kind: str, what: str
) -> None:
    with server.client() as client:
        answer = client.call(register(server, kind, HUGE[what]))
    assert answer["isError"] is True
    assert "120 MB, and at most 34 MB are sent. Ask for less" in text_of(answer)


def test_the_largest_answer_is_sent(server: Served) -> None:
    with server.client() as client:
        name = register(server, "any", lambda: "x" * (RESULT_LIMIT - 1_000))
        assert client.call(name)["isError"] is False


def test_what_is_like_json_arrives_as_json(server: Served) -> None:
    class Named(dict[str, Any]):
        pass

    with server.client() as client:
        name = register(server, "function", lambda: Named(a=(1, Level.HIGH), b={2: True}))
        arrived = client.call(name)["structuredContent"]
        rows = register(server, "function", lambda: [Named(a=1), "x\u200b"])
        listed = client.call(rows)
    assert arrived == {"a": [1, 3], "b": {"2": True}}
    assert listed["structuredContent"] == {"result": [{"a": 1}, "x⟨U+200B⟩"]}
    assert json.loads(text_of(listed)) == [{"a": 1}, "x⟨U+200B⟩"]


@pytest.mark.parametrize("end", [SystemExit, KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("affinity", ["main", "any"])
def test_a_resource_and_a_prompt_are_answered_whatever_they_do(
    server: Served, end: type[BaseException], affinity: Any
) -> None:
    def failing(error: BaseException) -> Callable[[], Any]:
        def fail() -> Any:
            raise error

        return fail

    functions = {what: failing(error) for what, error in exceptions(end).items()}
    functions |= {f"value: {what}": lambda v=value: v for what, value in values(end).items()}
    with server.client() as client:
        for what, function in functions.items():
            resource = ServedResource("test://bad", "bad", function, affinity=affinity)
            server.app.resources.add(resource)
            server.app.prompts.register_function("bad", function, "Bad.", [])
            for method, params in (
                ("resources/read", {"uri": "test://bad"}),
                ("prompts/get", {"name": "bad"}),
            ):
                answer = client.request(method, params)
                assert "result" in answer or "error" in answer, (what, method)
        assert client.request("ping")["result"] == {}
