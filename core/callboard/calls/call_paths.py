"""The roots that a call sees, and the targets of its path arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from callboard.calls.call import Call
from callboard.calls.call_workers import CallWorkers
from callboard.calls.consent import ConsentDesk, RootsDecision
from callboard.errors import WorkspaceResolveError
from callboard.ground.held_folder import make_missing, recheck
from callboard.ground.named_files import may_use
from callboard.ports.host import Host
from callboard.workspace.containment import Root, WorkspaceRoots
from callboard.workspace.fields import has_folder, is_absolute
from callboard.workspace.found_paths import FoundPaths
from callboard.workspace.path_text import shown
from callboard.workspace.roots import RootsBook


class CallPaths:
    """Resolves roots and paths. Use it on the loop. Disk access runs on ``workers``."""

    def __init__(
        self, host: Host, roots: RootsBook, consent: ConsentDesk, workers: CallWorkers
    ) -> None:
        self._host = host
        self._roots = roots
        self._consent = consent
        self._workers = workers

    async def find_roots(self, call: Call, needed: bool, asking: Callable[[Call], None]) -> None:
        """Set the call's roots.

        If the client has named roots that the artist hasn't, ``asking`` is called and then the
        artist is asked. ``needed`` is true when the call can't run without roots.
        """

        async def ask(outside: Sequence[Root]) -> RootsDecision | None:
            asking(call)
            answer = await self._consent.ask_about_roots(call, [str(r.path) for r in outside])
            call.state = "waiting"
            return answer

        in_thread = partial(self._workers.run_on_paths, call.tool)
        call.roots = await self._roots.of(call.request, needed=needed, in_thread=in_thread, ask=ask)
        if call.tool.writes_files and self._consent.attended and not _has_folder(call.roots):
            call.roots = None  # The artist is asked about each path, even under ``strict``.

    async def resolve(self, call: Call) -> None:
        """Replace the paths in the call's arguments with the paths that its tool gets. Raises
        WorkspaceResolveError."""
        tool, library = call.tool, self._roots.library
        if library is not None and tool.skill == "assets" and tool.is_shipped:
            call.roots = library
        paths = tool.paths
        if self._roots.policy == "strict" or call.roots is library is not None:
            held = call.roots or WorkspaceRoots(policy="strict")
            call.context.run(may_use.set, partial(_holds, held))
            paths = tool.strict_paths
        if not paths:
            return
        roots = call.roots or WorkspaceRoots()
        places = FoundPaths(roots) if tool.writes_files else None

        def admit(path: str, only_read: bool) -> str:
            writes = tool.writes_files and not only_read
            if not (tool.touches_files or has_folder(path)):
                return path
            admitted = roots.admit(path, write=writes)
            if reason := self._host.misreads(admitted):
                raise WorkspaceResolveError(f"{shown(path)} {reason}")
            if writes or not is_absolute(path):
                roots.require_there(admitted)
            # Under ``strict``, nothing may be read if there are no roots and nobody allows it.
            asked = writes or (self._roots.policy == "strict" and not _has_folder(roots))
            if places is not None and asked:
                # A relative path never leaves the roots. If it seems to, another process is
                # changing the path at this moment.
                if _has_folder(roots) and (not is_absolute(path) or roots.contains(admitted)):
                    places.note(admitted)
                else:
                    call.leaves_roots = True
            return admitted

        call.arguments = await self._workers.run_on_paths(
            tool, paths.resolve, call.arguments, admit
        )
        if places is not None:
            call.context.run(recheck.set, places)
            call.context.run(make_missing.set, places.make)


def _holds(roots: WorkspaceRoots, path: str, write: bool) -> bool:
    try:
        roots.admit(path, write=write)
    except WorkspaceResolveError:
        return False
    return True


def _has_folder(roots: WorkspaceRoots | None) -> bool:
    return roots is not None and roots.first is not None
