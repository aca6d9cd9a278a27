"""Runs many tasks: sends the orders, retries a task when its host is lost, and yields the results.
There are two executors: hosts on this machine, and hosts behind a Dask scheduler."""

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
    """One attempt at a task: the order, and the number of the attempt."""

    task: Task
    order: Json
    number: int = 1


class Loss(NamedTuple):
    """The loss of a host during an attempt: the reason, and whether the task had begun."""

    error: HostError
    begun: bool = True


class Executor(Protocol):
    """Hosts that perform orders. Use it on one thread."""

    def room(self) -> int:
        """Return the number of further attempts that the executor accepts now."""
        ...

    def send(self, attempts: Sequence[Attempt]) -> None: ...

    def ended(self) -> Iterable[tuple[Attempt, Json | Loss]]:
        """Return the attempts that have ended, each with its answer or its loss. If none ends
        within half a second, return an empty list. Raises HostError when no host is left for the
        remaining attempts."""
        ...


def results(
    executor: Executor,
    attempts: Iterable[Attempt],
    retries: int = 0,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[TaskResult, None, None]:
    """Yield the results as they arrive. Raises HostError when the executor does, PeerError if the
    tool doesn't exist or a capability that it needs is missing, and KeyboardInterrupt once
    ``stopped`` returns True."""
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
