"""An artist at the panel who answers clients' questions."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from callboard.calls.consent import Decision
from callboard_testing.fake_client import FakeClient
from serving import Served
from waiting import until

#: A function that calls the tool as one kind of client, and returns whether it ran.
Way = Callable[[], bool]


class Artist:
    def __init__(self, server: Served) -> None:
        self.controls = server.app.controls
        self.controls.status.watch(lambda snapshot: None)
        self.controls.attend()

    @property
    def seen(self) -> Any:
        return self.controls.status.snapshot

    def answers(self, answer: Decision, way: Way) -> bool:
        """Return whether the call ran, once its one question has been answered."""
        call = in_thread(way)
        question = until(lambda: self.seen.questions, "a question")[0]
        self.controls.answer(question.id, answer)
        ran = call.result(20)
        until(lambda: not self.seen.questions, "no question")
        return bool(ran)


def in_thread(work: Callable[[], Any]) -> Future[Any]:
    return FakeClient("http://127.0.0.1:1").in_thread(work)
