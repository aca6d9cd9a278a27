"""What a farm's hosts are sent, and how they do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import time
from typing import NamedTuple

from callboard.content import Json
from callboard.errors import InvalidParams
from callboard.jobs.workflows import RUN
from callboard.mapping.tasks import Task, filled
from callboard_programs.batch.artefacts import artefacts_of
from callboard_programs.batch.pool import BatchWork
from callboard_programs.batch.warm_host import on_scene
from callboard_programs.client.http_client import pass_over
from callboard_programs.client.tool_call import Notified, Requester, beside, content_of

#: Where supervisors tell which task a host was lost with: ``{worker, key, why, code}``.
LOST = "callboard-lost"


class Asker(NamedTuple):
    """For whom a run is done: what the client calls itself, and who holds its token."""

    name: str
    version: str
    holder: str
    holder_id: str


@dataclass(frozen=True)
class FarmWork(BatchWork):
    """What is done for each task, as in a batch. ``needs`` are amounts of what hosts offer, by
    name; ``skills`` are those that a host must have, each with its version or None for any.
    ``asker`` is None for whoever typed the command. ``files`` says that pictures, sounds and files
    of the answers are wanted whole."""

    needs: Mapping[str, float] = field(default_factory=dict)
    skills: Mapping[str, str | None] = field(default_factory=dict)
    asker: Asker | None = None
    files: bool = False

    def order(self, task: Task, key: str) -> Json:
        """What is sent for one task. ``key`` is Dask's."""
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


def carried_out(client: Requester, order: Json, notified: Notified = pass_over) -> Json:
    """Does what the order says, by a client of its host: ``{status, value, printed, artefacts,
    content}``. Raises FailedCall, RemoteError, HostError."""
    began = time() - 0.1  # files are stamped by a coarser clock
    result = on_scene(
        client, order["tool"], order["arguments"], order["scene"], order["save"], notified
    )
    value = content_of(result)
    told = {"status": "done", "value": value, "printed": printed(result)}
    content = beside(result)
    if not order.get("files"):
        content = [{"type": block["type"]} for block in content]
    return {**told, "artefacts": artefacts_of(value, began), "content": content}


def printed(result: Json) -> Json:
    """``{stdout?, stderr?}`` of a tool's result."""
    meta = result.get("_meta", {})
    names = ("stdout", "stderr")
    return {name: text for name in names if (text := meta.get(f"callboard/{name}"))}


def require_version(who: str, skill: str, has: str | None, wanted: str | None) -> None:
    """Raises InvalidParams where ``who`` has another version than the one that is wanted."""
    if wanted is not None and has != wanted:
        raise InvalidParams(
            f"{who} has {skill} {has or 'without a version'}, wanted is {wanted}; install that "
            "version there, or ask for the other"
        )


_performer: Callable[[Json], Json] | None = None


def perform_by(performer: Callable[[Json], Json]) -> None:
    """From now on this process performs orders so."""
    global _performer
    _performer = performer


def perform(order: Json) -> Json:
    """What Dask calls on a worker: ``{status, value, printed, artefacts, content, worker}``."""
    if _performer is None:
        raise RuntimeError("this Dask worker is no callboard host; start `callboard farm worker`")
    return _performer(order)
