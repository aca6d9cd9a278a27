"""One run over many tasks: what is sent to which hosts' executor, what is tried again, what comes
back. There are two executors: hosts of this machine, and those behind a Dask scheduler."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.mapping.tasks import Task, TaskResult
from callboard_programs.client.tool_call import failure
from callboard_programs.farm.orders import result_of


class Attempt(NamedTuple):
    """A task that is sent, for which time."""

    task: Task
    order: Json
    number: int = 1


class Loss(NamedTuple):
    """A host went away with an attempt: why, and whether it had begun."""

    error: HostError
    begun: bool = True


class Executor(Protocol):
    """Hosts that perform orders. Used from one thread."""

    def room(self) -> int:
        """How many more attempts it takes now."""
        ...

    def send(self, attempts: Sequence[Attempt]) -> None: ...

    def ended(self) -> Iterable[tuple[Attempt, Json | Loss]]:
        """Attempts that ended, each with its answer; none after half a second without. Raises
        HostError where no host is left that could do the others."""
        ...


def results(
    executor: Executor,
    attempts: Iterable[Attempt],
    retries: int = 0,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[TaskResult, None, None]:
    """The results as they come. Raises HostError where the executor does, PeerError where the tool
    isn't there or lacks a capability, KeyboardInterrupt once it is ``stopped``."""
    left, more, out = iter(attempts), True, 0
    while more or out:
        if stopped():
            raise KeyboardInterrupt
        room = executor.room()
        new = list(islice(left, room))
        more, out = more and len(new) == room, out + len(new)
        if not out:
            return
        executor.send(new)
        for attempt, answer in executor.ended():
            if isinstance(answer, Loss):
                number = attempt.number + answer.begun
                if number <= retries + 1:
                    executor.send([attempt._replace(number=number)])
                    continue
                answer = {"status": "failed", "value": failure(answer.error)}
            elif answer.get("never"):
                value = answer["value"]
                raise PeerError(value["message"], code=value.get("code"), data=value.get("data"))
            out -= 1
            yield result_of(attempt.task, answer, attempt.number)
