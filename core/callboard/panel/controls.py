"""A user interface's view of a running server, and the actions that it can take on that server.

Every method may be called from any thread and returns at once. The next snapshot shows the method's
changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from callboard.calls.capabilities import Capabilities
from callboard.calls.consent import Decision
from callboard.calls.dispatcher import Dispatcher
from callboard.calls.grants import ConsentPolicy, Subject
from callboard.clients.book import ClientBook
from callboard.errors import CallboardError
from callboard.guest.turn import Turn
from callboard.jobs.jobs import Jobs
from callboard.panel.change_controls import ChangeControls
from callboard.panel.saved_runs import SavedRuns
from callboard.panel.snapshot_parts import NEWCOMER
from callboard.panel.status import PathAnswer, PromptsStatus, PromptStatus, StatusFeed
from callboard.panel.view import ServedView
from callboard.ports.capability_names import SCENE_READ
from callboard.ports.host import Host, HostEvent
from callboard.records.reader import Reader
from callboard.records.store import Store
from callboard.skills.catalog import SkillCatalog
from callboard.skills.prompts.registry import PromptRegistry
from callboard.transport.instances import Instance
from callboard.transport.revoke import revoke
from callboard.workspace.containment import Root, RootsPolicy, WorkspaceRoots
from callboard.workspace.roots import RootsBook

if TYPE_CHECKING:
    from callboard.selftest.self_test import SelfTest

__all__ = ["ConsentPolicy", "Controls", "Decision", "Serving", "Subject"]

log = logging.getLogger(__name__)

#: Minimum number of seconds between two snapshots, and between two checks of a stalled main thread.
SNAPSHOT_PAUSE = 0.1
STALL_LOOK = 0.25


class Serving(Protocol):
    """A server that a panel can control."""

    @property
    def controls(self) -> Controls: ...


class Controls:
    """The buttons and the view of one server."""

    def __init__(
        self,
        view: ServedView,
        host: Host,
        loop: asyncio.AbstractEventLoop,
        dispatcher: Dispatcher,
        capabilities: Capabilities,
        roots: RootsBook,
        prompts: PromptRegistry,
        catalog: SkillCatalog,
        clients: ClientBook,
        jobs: Jobs,
        records: Store | None,
        instance: Callable[[], Instance],
    ) -> None:
        """``records`` is None when no records are kept. ``instance`` returns the server's address
        and token."""
        self.status = StatusFeed(self._attended)
        #: The artist's actions on changes made by calls.
        self.changes = ChangeControls(host, dispatcher, self._do)
        self._view = view
        self._host = host
        self._loop = loop
        self._dispatcher = dispatcher
        self._capabilities = capabilities
        self._roots = roots
        self._prompts = prompts
        self._catalog = catalog
        self._clients = clients
        self._jobs = jobs
        self._records = records
        self._instance = instance
        self._pending = False
        self._expiry: asyncio.TimerHandle | None = None
        self._scene = ""
        self._stop_watching: Callable[[], None] | None = None
        self._self_test: SelfTest | None = None
        view.watch(self.refresh)

    @property
    def instance(self) -> Instance:
        """The running server, with the token that its clients need."""
        return self._instance()

    @property
    def records(self) -> Reader | None:
        """A reader of the calls that ended, or None when no records are kept."""
        return None if self._records is None else self._records.reader()

    @property
    def saved_runs(self) -> SavedRuns | None:
        """Makes skills from calls that ended, or None when no records are kept."""
        if self._records is None:
            return None
        redact = self._records.redactor.text
        return SavedRuns(self._records.reader(), self._catalog, redact, self._host)

    @property
    def self_test(self) -> SelfTest:
        """The self-test of this application."""
        if self._self_test is None:
            from callboard.selftest.self_test import SelfTest  # Most sessions never run it.

            self._self_test = SelfTest(self._host, self._loop, self._dispatcher)
        return self._self_test

    # -- commands ---------------------------------------------------------------------------

    def pause(self) -> None:
        """From now on, refuse all calls with ``paused``, including those that are waiting. Lists
        still work."""
        self._do(self._dispatcher.pause)

    def stop(self) -> None:
        """Pause, and end all running, waiting and asking calls. The next snapshot has the number of
        calls that were ended."""
        self._do(self._dispatcher.stop)

    def resume(self) -> None:
        self._do(self._dispatcher.resume)

    def stop_client(
        self, holder: str, answered: Callable[[int], None] = lambda ended: None
    ) -> None:
        """End one client's running, waiting and asking calls and its jobs. ``holder`` is the name
        of the client's token. The client may call again. ``answered`` is called on the server's
        loop with the number of calls that were ended."""

        def stop() -> None:
            ended = self._dispatcher.stop_client(holder)
            self._jobs.end(lambda client: client.name == holder)
            answered(ended)

        self._do(stop)

    def revoke_client(
        self, holder: str, answered: Callable[[str | None], None] = lambda problem: None
    ) -> None:
        """Revoke a client's access to this server and all others, and end its open connections.
        ``holder`` is the name of the client's token. ``answered`` is called on another thread with
        the reason for a failure, or None."""

        def end() -> None:
            try:
                revoke(holder)
            except CallboardError as error:
                answered(error.message)
            else:
                self._do(self._clients.reread)
                answered(None)

        self._do(self._in_thread, end)

    def withdraw(self, capability: str) -> None:
        """Stop offering a capability until it is restored."""
        self._do(self._capabilities.withdraw, capability)

    def restore(self, capability: str) -> None:
        self._do(self._capabilities.restore, capability)

    def set_roots(self, roots: Sequence[Root]) -> None:
        """Replace the artist's own roots. The first root is the workspace."""
        self._do(self._roots.set_artist, list(roots))

    def set_roots_policy(self, policy: RootsPolicy) -> None:
        self._do(self._roots.set_policy, policy)

    def set_consent_policy(self, subject: Subject, policy: ConsentPolicy) -> None:
        self._do(self._dispatcher.consent.set_policy, subject, policy)

    def answer(self, question: str, answer: Decision) -> None:
        """Answer one question of the snapshot."""
        if question.startswith(NEWCOMER):
            id = question.removeprefix(NEWCOMER)
            self._do(self._in_thread, lambda: self._answer_newcomer(id, yes=answer == "allow"))
        else:
            self._do(self._dispatcher.consent.answer, question, answer)

    def revoke_grant(self, grant: str) -> None:
        """End the grant with this id."""
        self._do(self._dispatcher.consent.revoke, grant)

    def attend(self) -> Callable[[], None]:
        """Note that an artist can answer questions from now on. Return a function that notes that
        the artist has left."""
        desk = self._dispatcher.consent
        self._do(desk.attend)
        return lambda: self._do(desk.leave)

    def cancel(self, call: str) -> None:
        """Cancel a running or waiting call. The call's client is notified."""
        self._do(self._dispatcher.cancel, call)

    def load_plug_in(
        self, capability: str, answered: Callable[[str | None], None] = lambda problem: None
    ) -> None:
        """Load the plug-in for a capability, on the main thread. ``answered`` is called on that
        thread or the server's, with the reason for a failure, or None."""
        plug_in = self._host.plug_ins.get(capability)
        if plug_in is None or plug_in.load is None:
            answered(f"callboard can't load a plug-in for {capability}; the artist has to")
            return

        def done(value: object, error: BaseException | None) -> None:
            if error is not None and not isinstance(error, CallboardError):
                log.error("%s could not be loaded", plug_in.name, exc_info=error)
            answered(None if error is None else str(error) or type(error).__name__)
            self.refresh()

        job = Turn(f"load {plug_in.name}", plug_in.load, done, kind="script")

        def submit() -> None:
            try:
                self._dispatcher.main.submit(job)
            except CallboardError as busy:
                answered(busy.message)

        self._do(submit)

    def try_path(
        self,
        path: str,
        answered: Callable[[PathAnswer], None],
        *,
        client: str | None = None,
        write: bool = False,
    ) -> None:
        """Resolve ``path`` as for a call by this client, or by a client without roots. ``client``
        is the id in the client's status. ``answered`` is called on another thread."""

        def ask() -> None:
            session = self._view.session_of(client)
            self._in_thread(lambda: answered(_meaning(self._roots.seen_by(session), path, write)))

        self._do(ask)

    def list_prompts(self, answered: Callable[[PromptsStatus], None]) -> None:
        """Read the prompts as they are on disk now. ``answered`` is called on another thread."""

        def read() -> None:
            served = self._prompts.all()
            prompts = tuple(
                PromptStatus(
                    name, p.description, p.skill, p.source, tuple(a.name for a in p.arguments)
                )
                for name, p in served.prompts.items()
            )
            failures = tuple((f.skill, f.editor_line) for f in served.failures)
            answered(PromptsStatus(prompts, failures))

        self._do(self._in_thread, read)

    def reload_skills(self) -> None:
        """Check the skills on disk again."""
        self._do(self._refresh_catalog)

    def refresh(self) -> None:
        """Have a new snapshot published soon."""
        if self._dispatcher.closed:
            last = self.status.snapshot
            ended = replace(last, serving=False, clients=(), calls=(), questions=(), stalled_ms=0)
            self.status.publish(ended)
        elif self.status.wanted and not self._pending and not self._loop.is_closed():
            self._pending = True
            self._loop.call_soon_threadsafe(self._loop.call_later, SNAPSHOT_PAUSE, self._publish)

    def _answer_newcomer(self, client: str, *, yes: bool) -> None:
        try:
            ClientBook().answer(client, yes=yes)
        except CallboardError as error:  # Another answer came first.
            log.warning("%s", error.message)
        self._do(self._clients.reread)

    # -- on the server's loop ---------------------------------------------------------------

    def _do(self, function: Callable[..., Any], *args: Any) -> None:
        def act() -> None:
            function(*args)
            self.refresh()

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(act)

    def _in_thread(self, work: Callable[[], None]) -> None:
        def contained() -> None:
            try:
                work()
            except Exception:
                log.exception("the panel's request failed")

        self._loop.run_in_executor(None, contained)

    def _attended(self) -> None:
        """Start watching the host when the first viewer appears, and make a snapshot for every new
        viewer."""
        self._do(self._watch)

    def _watch(self) -> None:
        if self._stop_watching is None:
            self._stop_watching = self._host.watch(self._host_event)
            self._read_scene()

    def _host_event(self, event: HostEvent) -> None:
        if self._loop.is_closed() and self._stop_watching is not None:
            self._stop_watching()
        elif event == "project":
            self._do(self._read_scene)
        elif event == "ports":
            self.refresh()

    def _read_scene(self) -> None:
        reader: Any = self._host.ports.get(SCENE_READ)
        if reader is None:
            return

        def done(value: Any, error: BaseException | None) -> None:
            self._scene = str(value or "") if error is None else ""
            self.refresh()

        try:
            job = Turn("scene name", lambda: reader.info().get("file"), done)
            self._dispatcher.main.submit(job)
        except CallboardError:
            log.info("the host is too busy to report which scene is open")

    def _refresh_catalog(self) -> None:
        self._loop.run_in_executor(None, self._catalog.refresh).add_done_callback(
            lambda done: self.refresh()
        )

    def _publish(self) -> None:
        self._pending = False
        snapshot = self._view.snapshot(self._scene)
        self.status.publish(snapshot)
        self._expect_change()
        if self.status.wanted and (snapshot.calls or snapshot.stalled_ms):
            # Stalls and queues change without a notification.
            self._pending = True
            self._loop.call_later(STALL_LOOK, self._publish)

    def _expect_change(self) -> None:
        """Schedule a snapshot for the time when an idle client disappears, because no notification
        reports that."""
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        soon = self._view.next_client_goes_in
        if soon is not None and self.status.wanted:
            self._expiry = self._loop.call_later(soon, self.refresh)


def _meaning(roots: WorkspaceRoots, path: str, write: bool) -> PathAnswer:
    try:
        admitted = roots.admit(path, write=write)
    except CallboardError as refused:
        return PathAnswer(None, refused.message)
    holding = next((root for root in roots.roots if _holds(root, admitted)), None)
    if holding is None:
        return PathAnswer(admitted, "outside every root" if roots.roots else "there are no roots")
    return PathAnswer(admitted, f"inside {holding.name}")


def _holds(root: Root, path: str) -> bool:
    return root.path is not None and WorkspaceRoots([root]).contains(path)
