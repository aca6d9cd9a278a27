"""The orders of a run. Hosts perform the orders, and the answers of the hosts become results."""

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

#: The note for a run in which a tool changed the scene but no option saves the scene.
UNSAVED = (
    "the tool changed the scene, and nothing saved it afterwards; unless the tool writes it "
    "itself, add --save, which saves each scene to its own file"
)
OPEN, SAVE, SKILL = "scene__open_file", "scene__save_file", "skills__describe"
#: The topic on which supervisors report a lost host and its task: ``{worker, key, why, code}``.
LOST = "callboard-lost"


class RunOwner(NamedTuple):
    """The client on whose behalf a run is made: its name, its version, and the holder of its
    token."""

    name: str
    version: str
    holder: str
    holder_id: str


@dataclass(frozen=True)
class Work:
    """The work that is the same for every task. ``host_options`` are options of ``callboard
    serve``. ``retries`` is the number of times that a task is tried again after its host was lost.
    ``timeout`` is in seconds. ``needs`` has the amounts that a host must offer, by name. ``skills``
    has the skills that a host must have, each with its version, or None for any version. ``asker``
    is the client on whose behalf the run is made, or None for the user who typed the command.
    ``trace`` is the run's W3C ``traceparent``. If ``files`` is true, the answers contain their
    pictures, sounds and files in full."""

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
    trace: str | None = None

    def described(self) -> Json:
        """Return the settings that the results depend on."""
        return {
            "tool": self.tool,
            "arguments": self.given,
            "open": self.open,
            "save": self.save,
            "host": list(self.host_options),
        }

    def order(self, task: Task, key: str) -> Json:
        """Return the order for one task. ``key`` is unique among all unfinished orders."""
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
        if self.trace is not None:
            order["trace"] = self.trace
        return order if self.asker is None else {**order, "asker": list(self.asker)}

    def _called(self, given: Json) -> Json:
        # A tool's name has no dot, but a workflow's name has one: skill.workflow.
        if "." in self.tool:
            return {"tool": RUN, "arguments": {"name": self.tool, "inputs": given}}
        return {"tool": self.tool, "arguments": given}


# -- in a host, or in its client -------------------------------------------------------------------


def carried_out(
    client: Requester,
    order: Json,
    notified: Notified = pass_over,
    who: str = "the host",
    skills: Mapping[str, str | None] | None = None,
) -> Json:
    """Perform an order, and return ``{status, value, printed, artefacts?, content?, unsaved?,
    never?}``. ``never`` is true when every task would fail this way. ``skills`` has the host's
    skills and their versions. If it is None, the host is asked for them. Raises HostError when the
    host is gone."""
    began = time() - 0.1  # File times come from a coarser clock.
    try:
        for name, wanted in order.get("skills", {}).items():
            _require(who, name, wanted, _version_of(client, name, who, skills))
        given = order["tool"], order["arguments"], order["scene"], order["save"]
        result = on_scene(client, *given, notified, order.get("trace"))
        value = content_of(result)
        artefacts = artefacts_of(value, began)
    except HostError:
        raise
    except CallboardError as error:
        words = printed(error.result) if isinstance(error, FailedCall) else {}
        reported = {"status": "failed", "value": failure(error), "printed": words}
        return {**reported, "never": never_goes(error)}
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
    trace: str | None = None,
) -> Json:
    """Open ``scene`` if there is one, call the tool, and save the scene if ``save`` is true. Raises
    FailedCall, RemoteError or HostError."""
    if scene is not None:
        call_tool(client, OPEN, {"path": scene, "discard_changes": True}, notified, trace=trace)
    result = call_tool(client, tool, given, notified, trace=trace)
    if save:
        call_tool(client, SAVE, {}, notified, trace=trace)
    return result


def is_changed(result: Json) -> bool:
    """Return whether the call with this result changed the scene."""
    return "callboard/undo" in result.get("_meta", {})


def printed(result: Json) -> Json:
    """Return the printed text in a tool's result, as ``{stdout?, stderr?}``."""
    meta = result.get("_meta", {})
    names = ("stdout", "stderr")
    return {name: text for name in names if (text := meta.get(f"callboard/{name}"))}


def _version_of(
    client: Requester, name: str, who: str, skills: Mapping[str, str | None] | None
) -> str | None:
    """Return the version of a host's skill. Raises InvalidParams or FailedCall if the host doesn't
    have the skill."""
    if skills is None:
        version: str | None = content_of(call_tool(client, SKILL, {"name": name}))["version"]
        return version
    if name not in skills:
        raise InvalidParams(f"{who} has no skill '{name}'; install it there")
    return skills[name]


def _require(who: str, skill: str, wanted: str | None, has: str | None) -> None:
    """Raise InvalidParams if ``who`` has the skill in a version other than ``wanted``."""
    if wanted is not None and has != wanted:
        raise InvalidParams(
            f"{who} has {skill} {has or 'without a version'}, but {wanted} is needed; install that "
            "version there, or ask for the one it has"
        )


# -- at the sender ---------------------------------------------------------------------------------


def result_of(task: Task, answer: Json, attempts: int = 1) -> TaskResult:
    """Return a task's result, made from the answer to its order."""
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
    """From now on, have ``performer`` perform this process's orders."""
    global _performer
    _performer = performer


def perform(order: Json) -> Json:
    """Perform an order on a worker. Dask calls this function. Return the answer of ``carried_out``,
    with ``worker`` and ``seconds`` added."""
    if _performer is None:
        raise RuntimeError("this Dask worker isn't a callboard host; start `callboard farm worker`")
    return _performer(order)
