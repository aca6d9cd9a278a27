"""What the artist is asked before a call runs, and what the artist has decided for good.

Only whoever attends the desk, a panel inside the host, can answer; no client has a way to. Without
an attendant nobody could answer, so nothing is asked: then ``ask`` policies allow, and what must
not run unattended is withdrawn as a capability instead.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from time import time
from typing import Literal

from callboard.calls.call import Call
from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import RefusedByArtist

Subject = Literal["script", "destructive", "outside_roots", "client_roots"]
ConsentPolicy = Literal["ask", "ask_once", "allow", "refuse"]
Decision = Literal["allow", "allow_session", "refuse"]

#: Seconds the artist has; then it is a no.
PATIENCE = 120.0
DEFAULT_POLICIES: dict[Subject, ConsentPolicy] = {
    "script": "ask",
    "destructive": "allow",
    "outside_roots": "ask_once",
}
_WHY: dict[Subject, str] = {
    "script": "runs code of its own in this application",
    "destructive": "deletes or replaces things",
    "outside_roots": "writes outside the workspace",
    "client_roots": "names folders of its own to work in",
}


@dataclass(frozen=True)
class Question:
    """One card on the artist's desk. ``deadline`` is Unix time, seconds."""

    id: str
    tool: str
    client: str
    subject: Subject
    why: str
    arguments: Json
    asked: float
    deadline: float
    answer: asyncio.Future[Decision] = field(repr=False, compare=False)


class ConsentDesk:
    """Questions that wait and policies that hold. On the server's loop."""

    def __init__(self) -> None:
        self.policies = dict(DEFAULT_POLICIES)
        self.questions: dict[str, Question] = {}
        self._changes: Changes[[]] = Changes()
        self._attendants = 0
        self._granted: dict[str, set[Subject]] = {}

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls ``listener`` whenever a question comes or goes, or a policy changes; returns the
        way to stop."""
        return self._changes.watch(listener)

    def set_policy(self, subject: Subject, policy: ConsentPolicy) -> None:
        """Replaces what holds for calls of this kind from now on."""
        self.policies[subject] = policy
        self._changes.tell()

    @property
    def attended(self) -> bool:
        return self._attendants > 0

    def attend(self) -> None:
        """Somebody can answer from now on."""
        self._attendants += 1

    def leave(self) -> None:
        """One attendant less; without any, what waits is refused."""
        self._attendants -= 1
        if not self.attended:
            for question in list(self.questions.values()):
                self.answer(question.id, "refuse")

    def answer(self, id: str, answer: Decision) -> None:
        """The artist's answer. A question that is gone meanwhile is nobody's any more."""
        question = self.questions.get(id)
        if question is not None and not question.answer.done():
            question.answer.set_result(answer)

    def forget(self, peer: str) -> None:
        """A session ended, and with it what was allowed for it."""
        self._granted.pop(peer, None)

    async def check(self, call: Call) -> None:
        """Returns when the call may run. Raises RefusedByArtist."""
        for subject in _subjects(call):
            await self._check(call, subject)

    async def ask_about_roots(self, call: Call, folders: list[str]) -> Decision | None:
        """Whether folders that a client named outside the artist's roots count for it. None where
        nobody is there to ask."""
        if not self.attended:
            return None
        why = "wants to work in " + ", ".join(folders) + ", outside your roots"
        try:
            return await self._ask(call, "client_roots", why)
        except RefusedByArtist:
            return "refuse"

    async def _check(self, call: Call, subject: Subject) -> None:
        policy = self.policies[subject]
        peer = call.request.peer.label
        if policy == "refuse":
            raise _refused(call, "the artist's settings refuse a call that " + _WHY[subject])
        if policy == "allow" or not self.attended or subject in self._granted.get(peer, ()):
            return
        answer = await self._ask(call, subject)
        if answer == "refuse":
            raise _refused(call, "the artist refused it")
        if answer == "allow_session" or policy == "ask_once":
            self._granted.setdefault(peer, set()).add(subject)

    async def _ask(self, call: Call, subject: Subject, why: str = "") -> Decision:
        loop = asyncio.get_running_loop()
        now = time()
        question = Question(
            secrets.token_hex(8),
            call.tool.name,
            call.request.peer.client.name,
            subject,
            why or _WHY[subject],
            call.arguments,
            now,
            now + PATIENCE,
            loop.create_future(),
        )
        self.questions[question.id] = question
        self._changes.tell()
        try:
            return await asyncio.wait_for(question.answer, PATIENCE)
        except asyncio.TimeoutError:
            raise _refused(call, f"the artist did not answer within {PATIENCE:g} s") from None
        finally:
            del self.questions[question.id]
            self._changes.tell()


def _subjects(call: Call) -> list[Subject]:
    concern = call.tool.concern
    subjects: list[Subject] = [] if concern is None else [concern]
    if call.leaves_roots:
        subjects.append("outside_roots")
    return subjects


def _refused(call: Call, why: str) -> RefusedByArtist:
    return RefusedByArtist(
        f"{call.tool.name} was not run: {why}. Ask the artist before you try it again"
    )
