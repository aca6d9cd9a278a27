"""Carries out the plan. The state before each change is saved first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from callboard.clients.book import ClientBook
from callboard.errors import CallboardError
from callboard_programs.install.hosts import installer
from callboard_programs.setup.backup import Backup, BackupFile, digest, listing
from callboard_programs.setup.plan import ClientPlan, HostPlan, Plan

Tell = Callable[[str], None]


def set_up(plan: Plan, kept: Backup, tell: Tell) -> Plan:
    """Install callboard into the hosts, and configure the clients. ``tell`` is called with a line
    about each finished step. Return the plan, in which a client whose file can't be written is
    marked as refused. Raises CallboardError or OSError. Steps that were finished before an error
    can be undone."""
    kept.save()
    for host in plan.hosts:
        _install(host, kept, tell)
    return replace(plan, clients=[_configured(client, kept, tell) for client in plan.clients])


def _configured(client: ClientPlan, kept: Backup, tell: Tell) -> ClientPlan:
    if client.refused:
        return client
    if client.name not in kept.tokens and client.name not in [c.name for c in ClientBook().all()]:
        kept.tokens.append(client.name)
        kept.save()
    token = client.token()
    try:
        change = client.change(token)
        if not change.difference:
            return client
        kept.will_write(client.path, client.name, change.after)
        kept.save()
        change.write()
    except CallboardError as error:
        return replace(client, refused=error.message)
    except OSError as error:
        why = f"{client.path} can't be written: {error.strerror or error}"
        return replace(client, refused=why)
    kept.wrote(client.path)
    kept.save()
    tell(f"wrote {client.path}, for {client.known.title}")
    return client


def _install(host: HostPlan, kept: Backup, tell: Tell) -> None:
    with watched([host], kept):
        kept.hosts += [host.host] if host.host not in kept.hosts else []
        kept.save()
        for line in installer(host.host).install(None, None, False):
            tell(line)


@contextmanager
def watched(hosts: Sequence[HostPlan], kept: Backup) -> Iterator[None]:
    """Record everything that appears or changes in these hosts' user folders during the block."""
    places = [folder for host in hosts for folder in host.versions.values()]
    rewritten: list[Path] = []
    for host in hosts:
        how = installer(host.host)
        rewritten += [path for folder in host.versions.values() for path in how.rewritten(folder)]
        for folder in how.made_elsewhere():
            kept.will_make(folder)
    for path in rewritten:
        kept.will_write(path)
    for folder in places:
        kept.will_make(folder)
    before = {name for folder in places for name in listing(folder)}
    kept.seen = sorted(name for name in before if name.endswith("/"))
    kept.save()
    try:
        yield
    finally:
        for folder in places:
            for name in sorted(set(listing(folder)) - before):
                _came(name, kept)
        for path in rewritten:
            kept.wrote(path)
        kept.seen = None
        kept.save()


def _came(name: str, kept: Backup) -> None:
    if name.endswith("/"):
        folder = name.rstrip("/")
        if folder not in kept.folders:
            kept.folders.append(folder)
    else:
        kept.files.setdefault(name, BackupFile(None, None)).after = digest(Path(name))
