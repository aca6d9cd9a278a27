"""What a run's hosts are sent, how they do it, and what becomes of their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Literal, NamedTuple

from callboard.content import Json
from callboard.errors import CallboardError, HostError, InvalidParams
from callboard.jobs.workflows import RUN
from callboard.mapping.tasks import Task, TaskResult, filled, stamp_of
from callboard_programs.client.http_client import pass_over
from callboard_programs.client.tool_call import (
    FailedCall,
    Notified,
    Requester,
    beside,
    call_tool,
    content_of,
    failure,
    never_goes,
)
from callboard_programs.farm.artefacts import artefacts_of

#: What is said of a scene that a tool changed, and that nobody was asked to save.
UNSAVED = (
    "the tool changed the scene, and nothing saved it afterwards; where the tool doesn't write it "
    "itself, --save saves each scene where it came from"
)
OPEN, SAVE, SKILL = "scene__open_file", "scene__save_file", "skills__describe"
#: Where supervisors tell which task a host was lost with: ``{worker, key, why, code}``.
LOST = "callboard-lost"


class RunOwner(NamedTuple):
    """For whom a run is done: what the client calls itself, and who holds its token."""

    name: str
    version: str
    holder: str
    holder_id: str


@dataclass(frozen=True)
class Work:
    """What is done for each task. ``host_options`` are those of ``callboard serve``; ``retries``
    says how often a task is tried again whose host was lost; ``timeout`` is in seconds. ``needs``
    are amounts of what hosts offer, by name; ``skills`` are those that a host must have, each with
    its version or None for any. ``asker`` is None for whoever typed the command. ``files`` says
    that pictures, sounds and files of the answers are wanted whole."""

    tool: str
    given: Json
    host_options: Sequence[str] = ()
    open: bool = True
    save: bool = False
    retries: int = 2
    timeout: float | None = None
    needs: Mapping[str, float] = field(default_factory=dict)
    skills: Mapping[str, str | None] = field(default_factory=dict)
    asker: RunOwner | None = None
    files: bool = False

    def described(self) -> Json:
        """What makes its results other ones."""
        return {
            "tool": self.tool,
            "arguments": self.given,
            "open": self.open,
            "save": self.save,
            "host": list(self.host_options),
        }

    def order(self, task: Task, key: str) -> Json:
        """What is sent for one task. ``key`` tells it apart from all that are out."""
        order = {
            "key": key,
            **self._called(filled(self.given, task) if self.given else dict(task.values)),
            "scene": task.file if self.open and task.file else None,
            "save": self.save,
            "timeout": self.timeout,
            "skills": dict(self.skills),
        }
        if self.files:
            order["files"] = True
        return order if self.asker is None else {**order, "asker": list(self.asker)}

    def _called(self, given: Json) -> Json:
        # A tool's name has no dot, a workflow's has one: skill.workflow.
        if "." in self.tool:
            return {"tool": RUN, "arguments": {"name": self.tool, "inputs": given}}
        return {"tool": self.tool, "arguments": given}


# -- in a host, or by a client of it ---------------------------------------------------------------


def carried_out(
    client: Requester,
    order: Json,
    notified: Notified = pass_over,
    who: str = "the host",
    skills: Mapping[str, str | None] | None = None,
) -> Json:
    """Does what the order says: ``{status, value, printed, artefacts?, content?, unsaved?,
    never?}``. ``never`` says that no task can be done so. ``skills`` are the host's, with their
    versions, where they are known; else it is asked. Raises HostError where the host is gone."""
    began = time() - 0.1  # files are stamped by a coarser clock
    try:
        for name, wanted in order.get("skills", {}).items():
            _require(who, name, wanted, _version_of(client, name, who, skills))
        given = order["tool"], order["arguments"], order["scene"], order["save"]
        result = on_scene(client, *given, notified)
        value = content_of(result)
        artefacts = artefacts_of(value, began)
    except HostError:
        raise
    except CallboardError as error:
        words = printed(error.result) if isinstance(error, FailedCall) else {}
        told = {"status": "failed", "value": failure(error), "printed": words}
        return {**told, "never": never_goes(error)}
    content = beside(result)
    if not order.get("files"):
        content = [{"type": block["type"]} for block in content]
    return {
        "status": "done",
        "value": value,
        "printed": printed(result),
        "artefacts": artefacts,
        "content": content,
        "unsaved": order["scene"] is not None and not order["save"] and is_changed(result),
    }


def on_scene(
    client: Requester,
    tool: str,
    given: Json,
    scene: str | None = None,
    save: bool = False,
    notified: Notified = pass_over,
) -> Json:
    """Calls the tool, on that scene if there is one, and saves it where asked to. Raises
    FailedCall, RemoteError, HostError."""
    if scene is not None:
        call_tool(client, OPEN, {"path": scene, "discard_changes": True}, notified)
    result = call_tool(client, tool, given, notified)
    if save:
        call_tool(client, SAVE, {}, notified)
    return result


def is_changed(result: Json) -> bool:
    """Whether that call changed the scene."""
    return "callboard/undo" in result.get("_meta", {})


def printed(result: Json) -> Json:
    """``{stdout?, stderr?}`` of a tool's result."""
    meta = result.get("_meta", {})
    names = ("stdout", "stderr")
    return {name: text for name in names if (text := meta.get(f"callboard/{name}"))}


def _version_of(
    client: Requester, name: str, who: str, skills: Mapping[str, str | None] | None
) -> str | None:
    """Raises InvalidParams, FailedCall where there is no such skill."""
    if skills is None:
        version: str | None = content_of(call_tool(client, SKILL, {"name": name}))["version"]
        return version
    if name not in skills:
        raise InvalidParams(f"{who} has no skill '{name}'; install it there")
    return skills[name]


def _require(who: str, skill: str, wanted: str | None, has: str | None) -> None:
    """Raises InvalidParams where ``who`` has another version than the one that is wanted."""
    if wanted is not None and has != wanted:
        raise InvalidParams(
            f"{who} has {skill} {has or 'without a version'}, wanted is {wanted}; install that "
            "version there, or ask for the other"
        )


# -- at whoever sent it ----------------------------------------------------------------------------


def result_of(task: Task, answer: Json, attempts: int = 1) -> TaskResult:
    """How the task ended, by what it was answered with."""
    status: Literal["done", "failed"] = "done" if answer["status"] == "done" else "failed"
    names = ("worker", "printed", "seconds", "unsaved")
    return TaskResult(
        task.index,
        task.file,
        status,
        answer["value"],
        attempts,
        stamp_of(task.file),
        task.key,
        answer.get("artefacts", {}),
        answer.get("content", ()),
        {name: answer[name] for name in names if answer.get(name)},
    )


_performer: Callable[[Json], Json] | None = None


def perform_by(performer: Callable[[Json], Json]) -> None:
    """From now on this process performs orders so."""
    global _performer
    _performer = performer


def perform(order: Json) -> Json:
    """What Dask calls on a worker: what ``carried_out`` says, with ``worker`` and ``seconds``."""
    if _performer is None:
        raise RuntimeError("this Dask worker is no callboard host; start `callboard farm worker`")
    return _performer(order)
