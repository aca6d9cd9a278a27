"""Runs over many tasks, on simulated hosts with predefined outcomes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import pytest

from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.mapping.tasks import Task
from callboard_programs.farm.orders import Work
from callboard_programs.farm.runner import Attempt, Loss, results

DONE: Json = {"status": "done", "value": 1}
CRASH = Loss(HostError("it crashed"))
NEVER: Json = {"status": "failed", "value": {"message": "unknown tool", "code": -32602}}


class Hosts:
    """Simulated hosts that can make two attempts at a time. For each task's index, ``fates`` holds
    the outcomes of the attempts at that task. Any further attempt succeeds."""

    def __init__(self, fates: dict[int, list[Json | Loss]]) -> None:
        self._fates = {index: deque(each) for index, each in fates.items()}
        self._out: list[Attempt] = []
        self.begun: list[tuple[int, int]] = []

    def room(self) -> int:
        return 2 - len(self._out)

    def send(self, attempts: Sequence[Attempt]) -> None:
        self._out += attempts
        assert len(self._out) <= 2

    def ended(self) -> Iterable[tuple[Attempt, Json | Loss]]:
        attempt = self._out.pop(0)
        fates = self._fates.get(attempt.task.index)
        self.begun.append((attempt.task.index, attempt.number))
        return [(attempt, fates.popleft() if fates else DONE)]


def run(hosts: Hosts, count: int, retries: int = 0) -> list[tuple[int, str, int]]:
    work = Work("scene__info", {"n": "{index}"})
    attempts = (Attempt(one, work.order(one, "")) for one in map(Task, range(count), [""] * count))
    return [(one.index, one.status, one.attempts) for one in results(hosts, attempts, retries)]


def test_each_is_sent_where_there_is_room_and_answered_once() -> None:
    assert run(Hosts({}), 5) == [(index, "done", 1) for index in range(5)]
    assert run(Hosts({}), 0) == []


def test_a_lost_hosts_task_goes_again_so_often_and_fails_then() -> None:
    hosts = Hosts({0: [CRASH], 1: [CRASH, CRASH, CRASH]})
    assert sorted(run(hosts, 3, retries=1)) == [(0, "done", 2), (1, "failed", 2), (2, "done", 1)]


def test_what_had_not_begun_is_no_attempt() -> None:
    waiting = CRASH._replace(begun=False)
    assert run(Hosts({0: [waiting, waiting]}), 1) == [(0, "done", 1)]


def test_a_tools_own_failure_is_not_tried_again() -> None:
    failed = {"status": "failed", "value": {"message": "no camera"}}
    assert run(Hosts({0: [failed]}), 1, retries=5) == [(0, "failed", 1)]


def test_a_tool_that_is_nowhere_ends_the_run() -> None:
    hosts = Hosts({0: [{**NEVER, "never": True}]})
    with pytest.raises(PeerError, match="unknown tool") as raised:
        run(hosts, 50)
    assert raised.value.code == -32602
    assert hosts.begun == [(0, 1)]


def test_a_run_that_is_stopped_sends_no_more() -> None:
    hosts = Hosts({})
    attempts = [Attempt(Task(index, ""), {}) for index in range(9)]
    going = results(hosts, attempts, stopped=lambda: len(hosts.begun) == 3)
    with pytest.raises(KeyboardInterrupt):
        list(going)
    assert len(hosts.begun) == 3
