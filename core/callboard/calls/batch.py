"""Batch calls, which the ``batch__run`` tool makes. Several calls run as one, with one question to
the artist and one undo step. If one of them fails, all are undone.

The calls run in one turn of the main thread, so no other work runs between two of them. The
capabilities, arguments and paths of each call are checked before the first one runs. A call that
needs the server's loop while it runs, because it is a job or a coroutine or asks a question, can't
be part of a batch call.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, cast

from callboard.calls.batch_references import (
    check_references,
    refers,
    require_no_code,
    resolve_references,
)
from callboard.calls.call import Call, CallServer
from callboard.calls.capabilities import Offer
from callboard.calls.client_questions import InputNeeded
from callboard.calls.context import ToolContext
from callboard.calls.entry import entry_of
from callboard.calls.grants import Subject
from callboard.calls.json_schema import SchemaViolation
from callboard.calls.outcomes import ToolRaised, finished, made
from callboard.calls.results import add_text, name_of
from callboard.calls.tools import BATCH, WORK_ORDER, Tool, ToolRegistry
from callboard.calls.undo_step import UndoStep
from callboard.content import Block, Json, Result
from callboard.errors import CallboardError, CallCancelled, CapabilityMissing, SkillError
from callboard.ports.host import Work
from callboard.protocol.jsonrpc import encode
from callboard.protocol.peer import Ask, AskFailed, PeerRequest

#: Fields of a change that a brief answer contains.
_BRIEF = ("changed", "created", "verified", "doubt")
#: Seconds counted for a call without a time limit if a different call in its batch has one.
SECONDS = 10.0


class BatchFailed(SkillError):
    """One of the calls failed, so the whole batch failed."""


class NotInABatch(SkillError):
    """The call can't be part of a batch."""


class InnerRequest(PeerRequest):
    """The request for one call in a batch: the client's request without its progress."""

    def __init__(self, origin: PeerRequest) -> None:
        meta = {key: value for key, value in origin.meta.items() if key != "progressToken"}
        super().__init__(origin.peer, origin.id, origin.method, {"_meta": meta})
        self._origin = origin

    def notify(self, method: str, params: Json) -> None:
        self._origin.notify(method, params)

    async def ask_all(self, asks: Mapping[str, Ask]) -> dict[str, Json | AskFailed]:
        return await self._origin.ask_all(asks)


@dataclass(frozen=True, eq=False)
class GatheredBatch(Tool):
    """A batch call and the calls that it consists of. The artist is asked about all of them at
    once."""

    inner: tuple[Call, ...] = ()

    @cached_property
    def concerned(self) -> Mapping[Subject, tuple[str, ...]]:
        names: dict[Subject, tuple[str, ...]] = {}
        for call in self.inner:
            for subject, tools in call.tool.concerned.items():
                names[subject] = tuple(dict.fromkeys((*names.get(subject, ()), *tools)))
            if call.leaves_roots:
                already = names.get("outside_roots", ())
                names["outside_roots"] = tuple(dict.fromkeys((*already, call.tool.name)))
        return names

    def missing(self, offer: Offer) -> list[str]:
        return list(
            dict.fromkeys(
                each for call in self.inner for each in call.tool.missing_capabilities(offer)
            )
        )

    @property
    def shown_arguments(self) -> Json:
        """The arguments that the artist is asked about, with the paths that the tools will get."""
        return {"calls": [{"tool": c.tool.name, "arguments": c.arguments} for c in self.inner]}

    @cached_property
    def mutates(self) -> bool:
        return any(call.tool.mutates for call in self.inner)

    @cached_property
    def writes_files(self) -> bool:
        return any(call.tool.writes_files for call in self.inner)

    @cached_property
    def work(self) -> Work:
        return min((call.tool.work for call in self.inner), key=WORK_ORDER.index)


def gather(
    call: Call, tools: ToolRegistry, admit: Callable[[Tool], None], server: CallServer
) -> GatheredBatch:
    """Return the batch that ``call`` requests. Raises InvalidParams, and the errors of
    ``admit``."""
    inner: list[Call] = []
    for index, asked in enumerate(call.arguments["calls"]):
        tool = tools.get(asked["tool"])
        _require_suitable(index, tool)
        admit(tool)
        arguments = asked.get("arguments", {})
        require_no_code(tool.name, tool.required_capabilities, arguments, index)
        check_references(arguments, index, tool.strict_paths)
        if not refers(arguments):
            _check(index, tool, arguments)
        inner.append(Call(tool, arguments, InnerRequest(call.request), server))
    needed = dict.fromkeys(each for one in inner for each in one.tool.required_capabilities)
    brief = call.arguments.get("brief", False)
    limits = [one.tool.time_limit(one.arguments) for one in inner]
    entry = entry_of(partial(_perform, call, inner, brief), BATCH, BATCH)
    own = call.tool
    return GatheredBatch(
        own.name,
        own.description,
        own.input_schema,
        lambda: entry,
        required_capabilities=tuple(needed),
        timeout_secs=sum(limit or SECONDS for limit in limits) if any(limits) else None,
        title=own.title,
        annotations=own.annotations,
        ours=True,
        inner=tuple(inner),
    )


def require_plain(tool: GatheredBatch) -> None:
    """Raise NotInABatch if one of the called tools is a coroutine. Call it once the tools' scripts
    are loaded."""
    for index, call in enumerate(tool.inner):
        if call.tool.entry.kind == "coroutine":
            raise _unsuitable(index, call.tool, "doesn't run on the main thread")


def add_outcomes(call: Call, result: Json) -> None:
    """Add to a failed batch's result whether its changes were rolled back. Leave the result
    unchanged if the batch was never gathered."""
    if isinstance(call.tool, GatheredBatch):
        add_text(result, _put_back_in_words(call.undo))


def _put_back_in_words(undo: UndoStep | None) -> str:
    if undo is None:
        return "nothing in the scene was changed, or this application has no undo"
    if undo.rolled_back is None:
        return "no call was run"
    if undo.rolled_back:
        return "all changes that its calls made were rolled back, except the files that they wrote"
    return (
        "the changes that its calls made could not be rolled back; check the scene before you "
        "continue"
    )


def _require_suitable(index: int, tool: Tool) -> None:
    if tool.name == BATCH:
        raise NotInABatch(
            f"call {index}: a batch can't contain another batch; list its calls instead"
        )
    if tool.execution == "async":
        raise _unsuitable(index, tool, "is a job")
    if tool.affinity == "any":
        raise _unsuitable(index, tool, "doesn't run on the main thread")


def _unsuitable(index: int, tool: Tool, why: str) -> NotInABatch:
    return NotInABatch(f"call {index}: {tool.name} {why}, so call it separately; nothing was run")


def _check(index: int, tool: Tool, arguments: Json) -> None:
    try:
        tool.check(arguments)
    except SchemaViolation as wrong:
        raise NotInABatch(
            f"call {index}: invalid arguments for {tool.name}: {wrong}; nothing was run"
        ) from None


# -- on the main thread ---------------------------------------------------------------------------


def _perform(batch: Call, inner: list[Call], brief: bool, calls: object) -> Result:
    """Run the calls one after another. Raises BatchFailed, CapabilityMissing or CallCancelled."""
    answered: list[Any] = []
    entries: list[Json] = []
    pictures: list[Json] = []
    for index, call in enumerate(inner):
        if batch.cancelled:
            raise CallCancelled("cancelled")
        try:
            result = _one(call, index, answered)
        except (CapabilityMissing, CallCancelled):
            raise
        except CallboardError as error:
            raise _failed(index, call, f"{name_of(error)}: {error.message}") from None
        except ToolRaised as error:
            raise _failed(index, call, _text(error.result)) from None
        except InputNeeded:
            why = "it asks its client, which a batch can't do; call it separately"
            raise _failed(index, call, why) from None
        if result["isError"]:
            raise _failed(index, call, _text(result))
        value = result.get("structuredContent", {"text": _text(result)})
        answered.append(value)
        shown = _brief(value) if brief else value
        entries.append({"tool": call.tool.name, "result": shown})
        pictures += [block for block in result["content"] if block["type"] != "text"]
    structured = {"results": entries}
    blocks = [encode(structured).decode("utf-8"), *(cast(Block, _Made(one)) for one in pictures)]
    return Result(blocks, structured)


def _brief(value: Any) -> Any:
    """Drop the details of changed objects. A result without changes stays the same."""
    if not isinstance(value, dict) or "changed" not in value:
        return value
    return {key: value[key] for key in _BRIEF if key in value}


def _one(call: Call, index: int, answered: list[Any]) -> Json:
    tool, arguments = call.tool, call.arguments
    if refers(arguments):
        arguments = resolve_references(arguments, answered)
        _check(index, tool, arguments)
    entry = tool.entry
    extra: dict[str, Any] = {"ctx": ToolContext(call)} if entry.takes_ctx else {}
    extra.update(entry.roots(call.visible_roots))
    call.state = "running"
    run = partial(finished, partial(entry.function, **arguments, **extra), made)
    result: Json = call.context.run(_to_the_end, run)
    if tool.output is not None and not result["isError"]:
        try:
            tool.output.check(result.get("structuredContent"))
        except SchemaViolation as wrong:
            raise SkillError(f"{tool.name} violated its own outputSchema: {wrong}") from None
    return result


def _to_the_end(run: Callable[[], Any]) -> Any:
    value = run()
    if not isinstance(value, Generator):
        return value
    while True:
        try:
            next(value)
        except StopIteration as stop:
            return stop.value


def _failed(index: int, call: Call, why: str) -> BatchFailed:
    return BatchFailed(f"call {index} ({call.tool.name}) failed: {why}")


def _text(result: Json) -> str:
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


@dataclass(frozen=True)
class _Made:
    """A block that a call's result already contains."""

    made: Json

    def block(self) -> Json:
        return self.made
