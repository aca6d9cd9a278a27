"""The questions that an artist answers before a call runs, and the artist's decisions.

Only an attendant of the desk, which is a panel inside the host, can answer; clients can't. If there
is no attendant, nothing is asked: ``ask`` policies then allow the call, and a capability that must
not be used unattended is withdrawn instead.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import time
from typing import Literal, NamedTuple, get_args

from callboard.calls.batch_references import require_shown
from callboard.calls.call import Call
from callboard.calls.grants import (
    DEFAULT_POLICIES,
    ConsentPolicy,
    Grant,
    Grants,
    Scope,
    Subject,
    ToolOrigin,
)
from callboard.calls.tools import BATCH, Tool, ToolRegistry
from callboard.changes import Changes
from callboard.clients.holder import TokenHolder
from callboard.clients.owner import Owner
from callboard.content import Json
from callboard.errors import RefusedByArtist

#: ``allow`` covers only this call, and ``allow_tool`` this tool in this project. The other
#: permissions cover every tool of the kind that was asked about.
Decision = Literal["allow", "allow_session", "allow_project", "allow_tool", "refuse"]
RootsDecision = Literal["allow", "allow_session", "refuse"]

#: Seconds that the artist has to answer. After that the answer is no.
PATIENCE = 120.0
_WHY: dict[Subject, str] = {
    "script": "runs code of its own in this application",
    "destructive": "deletes or replaces things",
    "outside_roots": "writes outside the workspace",
    "client_roots": "names folders of its own to work in",
    "farm": "runs a tool many times on the farm",
}

#: The tool that runs code over a file on disk.
_ON_FILE = "script_on_file__execute"
#: Maximum number of characters of a path in a question. The arguments have the whole path.
_LONGEST_PATH = 200

#: The subjects that the artist is asked about for a call, and the tools that fall under each.
Concerned = Mapping[Subject, Sequence[str]]

_STRICTNESS = ("allow", "ask_once", "ask", "refuse").index
_SCOPES: dict[Decision, Scope] = {
    "allow_session": "session",
    "allow_project": "project",
    "allow_tool": "project",
}


class Question(NamedTuple):
    """One open question to the artist, which the panel shows as a card.

    ``client`` is the client's own name for itself. ``deadline`` is Unix time in seconds.
    ``suggests`` is the answer that a plain yes stands for.
    """

    id: str
    tool: str
    client: str
    owner: Owner
    subject: Subject
    why: str
    arguments: Json
    asked: float
    deadline: float
    suggests: Decision
    answer: asyncio.Future[Decision]


class ConsentDesk:
    """The open questions and the policies in force. Use it on the server's loop."""

    def __init__(self, where: str, tools: ToolRegistry | None = None) -> None:
        """``where`` describes where the artist finds the desk. A grant covers ``tools`` as they are
        when the grant is given."""
        self.where = where
        self._tools = ToolRegistry() if tools is None else tools
        #: Called with true when the desk becomes attended, and with false when it is no longer
        #: attended.
        self.attendance: Changes[[bool]] = Changes()
        #: The policies that the artist chose, and the policies in force, which may be stricter.
        self.chosen = dict(DEFAULT_POLICIES)
        self.policies = dict(DEFAULT_POLICIES)
        #: The least strict policy that the studio allows for each subject.
        self._least: dict[Subject, ConsentPolicy] = {}
        self.questions: dict[str, Question] = {}
        self._changes: Changes[[]] = Changes()
        self._attendants = 0
        self.grants = Grants()
        #: Called when the artist makes a decision that is kept with the project.
        self.kept: Changes[[]] = Changes()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` whenever a question is added or removed, or a policy changes. Return a
        function that removes the listener."""
        return self._changes.watch(listener)

    def set_policy(self, subject: Subject, policy: ConsentPolicy) -> None:
        """Set the policy for calls of this kind from now on. The studio's policy may be
        stricter."""
        self.chosen[subject] = policy
        self._enforce()
        self._decided()

    def require(self, least: Mapping[str, str]) -> None:
        """Make these the least strict policies for their subjects, whatever the artist chooses. If
        a call then needs the artist's consent and nobody can be asked, it is refused."""
        kept: dict[str, ConsentPolicy] = {word: word for word in get_args(ConsentPolicy)}
        self._least = {each: kept[least[each]] for each in DEFAULT_POLICIES if each in least}
        self._enforce()
        self._changes.tell()

    def _enforce(self) -> None:
        self.policies = {
            subject: max(policy, self._least.get(subject, policy), key=_STRICTNESS)
            for subject, policy in self.chosen.items()
        }

    def use_project(
        self, policies: Mapping[Subject, ConsentPolicy] | None, grants: Iterable[Grant]
    ) -> None:
        """Apply the opened project's decisions. ``policies`` is None when nothing was decided for
        it. In that case, each policy is the previous project's policy or the default, whichever is
        stricter."""
        former, self.chosen = self.chosen, {**DEFAULT_POLICIES, **(policies or {})}
        if policies is None:
            for subject, policy in former.items():
                self.chosen[subject] = max(policy, self.chosen[subject], key=_STRICTNESS)
        self._enforce()
        self.grants.replace_project(grants)
        self._changes.tell()

    def revoke(self, grant: str) -> None:
        """End the grant with this id. From then on, the artist is asked about the client's calls
        again."""
        self._drop(lambda one: one.id == grant)

    def forget_client(self, holder: TokenHolder) -> None:
        """End every grant of a client that may no longer connect."""
        self._drop(lambda one: one.client == holder)

    def _drop(self, which: Callable[[Grant], bool]) -> None:
        if self.grants.remove(which):
            self._decided()

    def _decided(self) -> None:
        self.kept.tell()
        self._changes.tell()

    @property
    def attended(self) -> bool:
        return self._attendants > 0

    def attend(self) -> None:
        """Note that one more attendant can answer."""
        self._attendants += 1
        if self._attendants == 1:
            self.attendance.tell(True)

    def leave(self) -> None:
        """Note that an attendant has left. If no attendant remains, open questions are refused."""
        self._attendants -= 1
        if not self.attended:
            # Listeners are called first, because requests that only an artist may allow must be
            # refused before the open questions are.
            self.attendance.tell(False)
            for question in list(self.questions.values()):
                self.answer(question.id, "refuse")

    def answer(self, id: str, answer: Decision) -> None:
        """Pass on the artist's answer to a question. Does nothing if the question is no longer
        open."""
        question = self.questions.get(id)
        if question is not None and not question.answer.done():
            question.answer.set_result(answer)

    def forget(self, session: str) -> None:
        """Note that a session ended, and end its grants."""
        if self.grants.remove(lambda one: one.session == session):
            self._changes.tell()

    async def check(self, call: Call) -> None:
        """Return once the call may run. A batch leads to one question. Raises RefusedByArtist."""
        concerned = _concerned(call)
        if call.tool.name == BATCH:
            await self._check(call, concerned)
            return
        for subject, tools in concerned.items():
            await self._check(call, {subject: tools})

    async def ask_about_roots(self, call: Call, folders: list[str]) -> RootsDecision | None:
        """Ask whether a client's folders outside the artist's roots should be treated as its roots.
        Return None when there is no artist to ask."""
        if not self.attended:
            return None
        why = "asks to work in " + ", ".join(folders) + ", outside your roots"
        try:
            answer = await self._ask(call, "client_roots", "allow", why)
            # Only the artist's own roots are kept with a project.
            return answer if answer in ("allow", "refuse") else "allow_session"
        except RefusedByArtist:
            return "refuse"

    async def ask_about_map(self, call: Call, mapped: Tool, why: str, shown: Json) -> None:
        """Ask whether ``mapped`` may run on the farm. ``why`` and ``shown`` describe the map. While
        an artist is attending, the artist is asked about every map. Raises RefusedByArtist."""
        for subject in mapped.concerned:
            if self.policies[subject] == "refuse":
                raise _refused(call, self._settings_refuse(subject))
            self._require_somebody(call, subject)
        if self.attended and await self._ask(call, "farm", "allow", why, shown) == "refuse":
            raise _refused(call, "the artist refused it")

    async def _check(self, call: Call, concerned: Concerned) -> None:
        changed = self._end_outdated(call, concerned)
        asked = {s: tools for s, tools in concerned.items() if self._asks(call, s, tools)}
        if not asked:
            return
        if call.tool.name == BATCH:
            named = {tool for tools in asked.values() for tool in tools}
            require_shown(call.arguments["calls"], named)
        once = all(self.policies[subject] == "ask_once" for subject in asked)
        suggests: Decision = "allow_session" if once else "allow"
        why = " and ".join(_why(call, subject) for subject in asked)
        for tool, parts in changed.items():
            why += f"; you allowed {tool}, whose {' and '.join(parts)} changed since then"
        answer = await self._ask(call, next(iter(asked)), suggests, why)
        if answer == "refuse":
            raise _refused(call, "the artist refused it")
        scope = _SCOPES.get(answer)
        if scope is None:
            return
        for subject, tools in asked.items():
            for one in tools if answer == "allow_tool" else (None,):
                self.grants.add(call.request.peer, subject, one, scope, self._origins(one))
        self._decided()

    def _origins(self, tool: str | None) -> dict[str, ToolOrigin]:
        named = self._tools.all() if tool is None else [self._tools.get(tool)]
        return {one.name: one.origin for one in named if tool is not None or not one.is_shipped}

    def _end_outdated(self, call: Call, concerned: Concerned) -> dict[str, list[str]]:
        """End the grants for tools that have changed. Return the changed parts by the tools'
        names."""
        named = {tool: self._tools.get(tool) for tools in concerned.values() for tool in tools}
        changed: dict[str, list[str]] = {}

        def is_outdated(grant: Grant) -> bool:
            parts = {
                name: tool.origin.changed(grant.origins[name])
                for name, tool in named.items()
                if grant.client == call.request.peer.holder and name in grant.origins
            }
            changed.update((name, what) for name, what in parts.items() if what)
            return any(parts.values())

        if self.grants.remove(is_outdated):
            self._decided()
        return changed

    def _asks(self, call: Call, subject: Subject, tools: Sequence[str]) -> bool:
        """Return whether the artist must be asked about the subject. Raises RefusedByArtist when
        the policy refuses."""
        policy, peer = self.policies[subject], call.request.peer
        if policy == "refuse":
            raise _refused(call, self._settings_refuse(subject))
        if policy == "allow":
            return False
        self._require_somebody(call, subject)
        if not self.attended:
            return False
        named = [self._tools.get(tool) for tool in tools]
        return not all(
            self.grants.cover(peer, subject, tool.name, tool.origin, is_shipped=tool.is_shipped)
            for tool in named
        )

    def _require_somebody(self, call: Call, subject: Subject) -> None:
        """Raise RefusedByArtist when the studio's policy requires an artist's consent, and no
        artist is attending."""
        least = self._least.get(subject, "allow")
        if least != "allow" and not self.attended:
            raise RefusedByArtist(
                f"{call.tool.name} was not run: the studio's policy requires an artist's consent "
                f"to a call that {_WHY[subject]}, and no artist is here to be asked. "
                "Use an application whose callboard panel is open"
            )

    def _settings_refuse(self, subject: Subject) -> str:
        if self._least.get(subject) == "refuse":
            return f"the studio's policy refuses a call that {_WHY[subject]}"
        return f"the artist's settings, in {self.where}, refuse a call that {_WHY[subject]}"

    async def _ask(
        self,
        call: Call,
        subject: Subject,
        suggests: Decision,
        why: str = "",
        shown: Json | None = None,
    ) -> Decision:
        loop = asyncio.get_running_loop()
        now = time()
        question = Question(
            secrets.token_hex(8),
            call.tool.name,
            call.request.peer.client.name,
            call.request.peer.owner,
            subject,
            why or _WHY[subject],
            call.arguments if shown is None else shown,
            now,
            now + PATIENCE,
            suggests,
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


def _concerned(call: Call) -> Concerned:
    concerned = dict(call.tool.concerned)
    if call.leaves_roots:
        concerned.setdefault("outside_roots", (call.tool.name,))
    return concerned


def _why(call: Call, subject: Subject) -> str:
    """Return the reason why the artist is asked. For code over a file on disk, it names that file,
    and the file that the call saves to."""
    if subject != "script" or call.tool.name != _ON_FILE:
        return _WHY[subject]
    given, saves = call.arguments, "saves nothing"
    if "save_as" in given:
        saves = "may replace" if given.get("overwrite") else "saves to"
        saves += f" {_path_end(given['save_as'])}"
    return f"runs code of its own over the file {_path_end(given['file'])} on disk, and {saves}"


def _path_end(path: str) -> str:
    return path if len(path) <= _LONGEST_PATH else f"…{path[-_LONGEST_PATH:]}"


def _refused(call: Call, why: str) -> RefusedByArtist:
    return RefusedByArtist(
        f"{call.tool.name} was not run: {why}. Ask the artist before you try it again"
    )
