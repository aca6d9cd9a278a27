"""Defines workspace roots, the meaning of ``workspace://``, and the paths that a tool may be given.

A ``workspace://`` path and a relative path always end up inside the first usable root, or are
refused. An absolute path passes unchanged under the policy ``advisory``, and must lie inside some
root under ``strict``. A path lies inside a root if its real path, with symlinks resolved as far as
it exists, lies under the root's real path. The result is the path as the artist would write it.

The path that is checked is exactly the path that is opened, so a path that applications read in
more than one way is refused. A backslash separates names on Windows, and in some applications
everywhere; elsewhere it is part of a name. So on POSIX only another platform's absolute path, which
nothing here opens, may hold a backslash. ``//`` begins a path relative to the scene in one
application and an absolute path in others. ``Host.misreads`` reports other ways in which an
application reads a path as a different one.

The check holds for the moment it is made. A program that can write inside a root can swap a folder
for a symlink between our answer and the moment the host opens the path. Hosts open by name, so this
gap can't be closed from here: resolve late, right before opening, and don't store the answer. Files
that callboard itself writes, rather than the application, go through the open folder, which is
checked again (``ground/held_folder.py``). Roots keep an agent from straying; they aren't a sandbox
against programs that already run as the artist.

Call everything here from any thread. Making roots only reads text, but every check of a path may
wait for the file system.
"""

from __future__ import annotations

import ntpath
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Literal, NamedTuple

from callboard.errors import NoWorkspaceRoots, WorkspaceResolveError
from callboard.workspace import same_folder
from callboard.workspace.path_text import (
    Flavour,
    decode_once,
    file_uri,
    is_windows_absolute,
    path_from_file_uri,
    require_one_meaning,
    require_text,
    require_windows_name,
    shown,
)

RootsPolicy = Literal["advisory", "strict"]
RootSource = Literal["client", "artist", "project"]

NATIVE: Flavour = "windows" if os.name == "nt" else "posix"

_MOST_ROOTS = 100
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//?)?")


class Root(NamedTuple):
    """One root. ``path`` is absolute, in this machine's form, or None when the URI names nothing
    that can be opened here (another scheme, another platform's path). A root without a path is only
    shown."""

    uri: str
    name: str
    path: str | None
    read_only: bool = False
    source: RootSource = "artist"


def parse_root(
    text: str,
    *,
    name: str | None = None,
    read_only: bool = False,
    source: RootSource = "artist",
    flavour: Flavour = NATIVE,
) -> Root:
    """Return the root for an absolute path or a URI. Raises WorkspaceResolveError, which says what
    to write instead, for a relative path or a broken ``file://`` URI. The folder needn't exist."""
    require_text(text, flavour)
    os_path = _module(flavour)
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() == "file":
        uri, path = text, path_from_file_uri(text)
    elif scheme and scheme[2] == "//":
        return Root(text, name or text, None, read_only, source)
    elif is_windows_absolute(text) or text.startswith("/"):
        uri, path = file_uri(text), text
    else:
        raise WorkspaceResolveError(
            f"the root {shown(text)} isn't absolute; give a full path or a file:// URI"
        )
    here = is_windows_absolute(path) == (flavour == "windows")
    if not here:
        return Root(uri, name or text, None, read_only, source)
    if flavour == "windows":
        require_one_meaning(path, flavour)
    path = os_path.normpath(path)
    return Root(uri, name or os_path.basename(path) or path, path, read_only, source)


class WorkspaceRoots:
    """An ordered set of roots; the first with a path is the workspace. Immutable.

    It also works if there are no roots: relative paths are returned unchanged (refused under
    ``strict``), and ``workspace://`` raises NoWorkspaceRoots. ``flavour`` and ``realpath`` default
    to the platform's. Raises WorkspaceResolveError for a root that can't be parsed. Paths must also
    lie inside ``ceiling``, even if a root's folder now leads elsewhere.
    """

    def __init__(
        self,
        roots: Sequence[str | Root] = (),
        *,
        policy: RootsPolicy = "advisory",
        flavour: Flavour = NATIVE,
        realpath: Callable[[str], str] | None = None,
        ceiling: WorkspaceRoots | None = None,
    ) -> None:
        self._ceiling = ceiling
        self._os_path = _module(flavour)
        self._flavour: Flavour = flavour
        self._realpath = realpath or self._os_path.realpath
        self._policy: RootsPolicy = policy
        self._for_writing = False
        self._problems: tuple[str, ...] = ()
        self._roots = tuple(
            root if isinstance(root, Root) else parse_root(root, flavour=flavour) for root in roots
        )
        for root in self._roots:
            if root.path is not None and not self._is_absolute(root.path):
                raise WorkspaceResolveError(
                    f"the root {shown(root.path)} isn't absolute; give a full path"
                )

    @classmethod
    def from_client_roots(
        cls,
        entries: object,
        *,
        policy: RootsPolicy = "advisory",
        flavour: Flavour = NATIVE,
        realpath: Callable[[str], str] | None = None,
    ) -> WorkspaceRoots:
        """Return the roots of a client's ``roots/list`` answer, ``[{uri, name?}]``. Never raises: a
        bad entry is left out and described in :attr:`problems`."""
        good: list[Root] = []
        problems: list[str] = []
        if not isinstance(entries, (list, tuple)):
            entries, problems = (), ["the client's roots aren't a list"]
        if len(entries) > _MOST_ROOTS:
            problems.append(f"the client sent {len(entries)} roots; only {_MOST_ROOTS} are used")
        for number, entry in enumerate(entries[:_MOST_ROOTS], start=1):
            uri = entry.get("uri") if isinstance(entry, dict) else None
            if not isinstance(uri, str):
                problems.append(f"root {number} has no uri")
                continue
            name = entry.get("name")
            if is_windows_absolute(uri) or uri.startswith("/"):
                problems.append(f"root {number}: {shown(uri)} isn't a URI; write file://…")
                continue
            try:
                root = parse_root(
                    uri,
                    name=name if isinstance(name, str) else None,
                    source="client",
                    flavour=flavour,
                )
            except WorkspaceResolveError as wrong:
                problems.append(f"root {number}: {wrong.message}")
                continue
            good.append(root)
            if root.path is None:
                problems.append(f"root {number}: {shown(uri)} isn't a folder on this machine")
        workspace = cls(good, policy=policy, flavour=flavour, realpath=realpath)
        workspace._problems = tuple(problems)
        return workspace

    @property
    def roots(self) -> tuple[Root, ...]:
        """All roots in order, including those without a path."""
        return self._roots

    @property
    def first(self) -> Root | None:
        """The root that ``workspace://`` refers to."""
        return next((root for root in self._roots if root.path is not None), None)

    @property
    def policy(self) -> RootsPolicy:
        return self._policy

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems with the client's entries, one clause each."""
        return self._problems

    def for_writing(self) -> WorkspaceRoots:
        """Return the same roots, with a :meth:`resolve` that also refuses paths in a read-only
        root. Tools that declare ``filesystem.write`` get these."""
        view = WorkspaceRoots(
            self._roots,
            policy=self._policy,
            flavour=self._flavour,
            realpath=self._realpath,
            ceiling=self._ceiling,
        )
        view._problems = self._problems
        view._for_writing = True
        return view

    def admit(self, path: str, *, write: bool) -> str:
        """Return the path that a tool may be given for the argument ``path``. Refuses paths that
        the policy or a read-only root forbids. Raises the same errors as :meth:`resolve`."""
        return (self.for_writing() if write else self).resolve(path)

    def resolve(self, path: str) -> str:
        """Return the local path that ``path`` means. Opens nothing, and the path needn't exist.
        Raises WorkspaceResolveError (a ValueError), which says what to send instead."""
        located = self._locate(path)
        holding = self._innermost_roots(located)
        if self._policy == "strict" and None in holding:
            raise WorkspaceResolveError(
                f"{shown(path)} is outside the workspace; use a workspace:// path, "
                "or ask the artist to add its folder as a root"
            )
        for root in holding if self._for_writing else ():
            if root is not None and root.read_only:
                raise WorkspaceResolveError(
                    f"{shown(path)} is in the read-only root {shown(root.name)}; write to another "
                    "folder, or ask the artist to allow writing there"
                )
        return located

    def require_there(self, path: str) -> None:
        """Raise WorkspaceResolveError if the root that holds an admitted path is gone."""
        for root in self._innermost_roots(path):
            if root is not None and not self._os_path.isdir(root.path):
                advice = "ask the artist to restore it, or to choose another root"
                if root.source == "client":
                    advice = "restore it, or open another folder in your client"
                raise WorkspaceResolveError(
                    f"the root {shown(root.name)} is gone: its folder no longer exists; {advice}"
                )

    def contains(self, path: str) -> bool:
        """Return whether ``path`` lies inside any root. Also return False for a path that can't be
        resolved."""
        try:
            return None not in self._innermost_roots(self._locate(path))
        except WorkspaceResolveError:
            return False

    def _locate(self, path: str) -> str:
        require_text(path, self._flavour)
        if not path:
            raise WorkspaceResolveError("the path is empty; write workspace://<path>")
        first = self.first
        base = None if first is None else first.path
        scheme = _SCHEME.match(path)
        if scheme and scheme[1].lower() == "workspace":
            if base is None:
                raise NoWorkspaceRoots(
                    f"no workspace roots: {shown(path)} can't be resolved; pass an absolute path, "
                    "or add a root in the client or in callboard"
                )
            return self._inside(base, path, self._workspace_parts(path))
        if scheme and scheme[1].lower() == "file":
            local = path_from_file_uri(path)
            require_text(local, self._flavour)
            require_one_meaning(local, self._flavour)
            return local
        if scheme and scheme[2] == "//":
            raise WorkspaceResolveError(
                f"{shown(path)} isn't a path on this machine; "
                "use workspace://, file:// or a plain path"
            )
        require_one_meaning(path, self._flavour)
        if self._is_absolute(path) or base is None:
            return path
        return self._inside(base, path, self._split(path, self._flavour))

    def _workspace_parts(self, path: str) -> list[str]:
        written = path.partition(":")[2]
        if not written.startswith("/"):
            raise WorkspaceResolveError(
                f"{shown(path)} is missing its slashes; write workspace://<path>"
            )
        decoded = decode_once(written)
        require_text(decoded, self._flavour)
        # A URI means the same on every host, so a backslash separates here even on POSIX.
        parts = self._split(decoded, "windows")
        if parts.count("..") != self._split(written, "windows").count(".."):
            raise WorkspaceResolveError(
                f"{shown(path)} hides '..' in percent-encoding; write it plainly"
            )
        if not any(parts):
            raise WorkspaceResolveError(
                f"{shown(path)} doesn't name a file; write workspace://<path>"
            )
        return parts

    def _inside(self, base: str, path: str, parts: Iterable[str]) -> str:
        """Return ``base`` joined with ``parts``, which can't lead out of it, not even on the
        way."""
        kept: list[str] = []
        for part in parts:
            if part == ".." and kept:
                kept.pop()
            elif part == "..":
                raise WorkspaceResolveError(
                    f"{shown(path)} leaves the workspace; name a file inside it, without '..'"
                )
            elif part not in ("", "."):
                if self._flavour == "windows":
                    require_windows_name(part, path)
                kept.append(part)
        joined = str(self._os_path.join(base, *kept))
        require_text(joined, self._flavour)
        real = self._real(joined)
        leaves = self._ceiling is not None and self._ceiling.above(real) is None
        if leaves or not self._is_under(real, self._real(base)):
            raise WorkspaceResolveError(
                f"{shown(path)} leaves the workspace through a link; name a file inside it"
            )
        return joined

    def _innermost_roots(self, path: str) -> set[Root | None]:
        """Return the root nearest above ``path``, or None if there is none. If two roots are the
        same folder, return the read-only one. There may be two results when ``..`` follows a link,
        because the system goes back from the link's target, but most applications go back from the
        link itself."""
        if not self._may_be_local(path):
            return {None}
        ways = {path, str(self._os_path.normpath(path))} if ".." in path else {path}
        return {self.above(self._real(way)) for way in ways}

    def above(self, real: str) -> Root | None:
        """Return the nearest root above a real path. Links in the path aren't followed."""
        limit = None if self._ceiling is None else self._ceiling.above(real)
        if self._ceiling is not None and (limit is None or limit.read_only):
            return limit
        above = [
            (len(self._comparable(base)), root.read_only, root)
            for root, base in self._bases()
            if self._is_under(real, base)
        ]
        return max(above, key=lambda entry: entry[:2])[2] if above else None

    def _bases(self) -> Iterator[tuple[Root, str]]:
        for root in self._roots:
            if root.path is not None:
                yield root, self._real(root.path)

    def _may_be_local(self, path: str) -> bool:
        """Return False for another platform's path, and for a network share that no root is on.
        Accessing such a share would make Windows log in, as the artist, to a server that the client
        chose."""
        if self._flavour == "posix":
            return not is_windows_absolute(path)
        if not self._comparable(path).startswith("\\\\"):
            return True
        share = ntpath.splitdrive(self._comparable(path))[0]
        return any(
            share == ntpath.splitdrive(self._comparable(known))[0]
            for root, base in self._bases()
            for known in (str(root.path), base)
        )

    def _real(self, path: str) -> str:
        # This isn't strict. If a component doesn't exist, the rest stays as written, and a dangling
        # link is followed to the place where a write would create the file.
        try:
            return self._realpath(path)
        except (OSError, ValueError, RecursionError):
            raise WorkspaceResolveError(
                f"{shown(path)} can't be resolved; use another path"
            ) from None

    def _comparable(self, path: str) -> str:
        return str(self._os_path.normcase(path))

    def _is_under(self, real: str, base: str) -> bool:
        real, base = self._comparable(real), self._comparable(base)
        separator = self._os_path.sep
        if real == base or real.startswith(base.rstrip(separator) + separator):
            return True
        return same_folder.FOLDS and self._flavour == "posix" and same_folder.holds(base, real)

    def _is_absolute(self, path: str) -> bool:
        rooted = path.startswith(("/", "\\") if self._flavour == "windows" else "/")
        return rooted or is_windows_absolute(path)

    @staticmethod
    def _split(path: str, flavour: Flavour) -> list[str]:
        return (path.replace("\\", "/") if flavour == "windows" else path).split("/")


def _module(flavour: Flavour) -> ModuleType:
    return ntpath if flavour == "windows" else posixpath
