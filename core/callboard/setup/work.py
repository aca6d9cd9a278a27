"""Doing what was planned, with a note of what was there before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from callboard.clients.book import ClientBook
from callboard.install.hosts import installer
from callboard.setup.kept import Kept, KeptFile, digest, listing, new_kept, read_kept
from callboard.setup.plan import ClientPlan, HostPlan, Plan

Tell = Callable[[str], None]


def set_up(plan: Plan, tell: Tell) -> Kept:
    """Installs and configures. Each line that ``tell`` gets was done. Raises CallboardError,
    OSError; what was done until then can be undone."""
    kept = read_kept() or new_kept()
    kept.save()
    for host in plan.hosts:
        _install(host, kept, tell)
    for client in plan.clients:
        if not client.refused:
            _configure(client, kept, tell)
    return kept


@contextmanager
def watched_all(plan: Plan, kept: Kept) -> Iterator[None]:
    """Notes what hosts write meanwhile of their own accord."""
    with ExitStack() as stack:
        for host in plan.hosts:
            stack.enter_context(_watched(host, kept))
        yield


def _configure(client: ClientPlan, kept: Kept, tell: Tell) -> None:
    if client.name not in kept.tokens and client.name not in [c.name for c in ClientBook().all()]:
        kept.tokens.append(client.name)
        kept.save()
    change = client.change(client.token())
    if not change.difference:
        return
    kept.will_write(client.path, client.name)
    kept.save()
    change.write()
    kept.wrote(client.path)
    kept.save()
    tell(f"wrote {client.path}, for {client.known.title}")


def _install(host: HostPlan, kept: Kept, tell: Tell) -> None:
    how = installer(host.host)
    with _watched(host, kept):
        kept.hosts += [host.host] if host.host not in kept.hosts else []
        kept.save()
        for line in how.install(None, None, False):
            tell(line)


@contextmanager
def _watched(host: HostPlan, kept: Kept) -> Iterator[None]:
    """Notes what comes and changes meanwhile in the user's folders of one host."""
    how = installer(host.host)
    rewritten = [path for folder in host.versions.values() for path in how.rewritten(folder)]
    for path in rewritten:
        kept.will_write(path)
    for folder in host.versions.values():
        kept.will_make(folder)
    kept.save()
    before = {name for folder in host.versions.values() for name in listing(folder)}
    try:
        yield
    finally:
        for folder in host.versions.values():
            for name in sorted(set(listing(folder)) - before):
                _came(name, kept)
        for path in rewritten:
            kept.wrote(path)
        kept.save()


def _came(name: str, kept: Kept) -> None:
    if name.endswith("/"):
        folder = name.rstrip("/")
        if folder not in kept.folders:
            kept.folders.append(folder)
    else:
        kept.files.setdefault(name, KeptFile(None, None)).after = digest(Path(name))
