"""Restores everything to its state before setup."""

from __future__ import annotations

import shutil
from pathlib import Path

from callboard.client_files.change import without
from callboard.client_files.known import formats
from callboard.clients.book import ClientBook
from callboard.clients.kept_tokens import forget_token
from callboard.errors import CallboardError, HostError
from callboard.ground.folders import cache_folder, data_folder
from callboard.settings import FILE as SETTINGS
from callboard.transport.instances import listed
from callboard_programs.install.hosts import installer
from callboard_programs.setup.apply import Tell
from callboard_programs.setup.backup import (
    Backup,
    BackupFile,
    end_kept,
    forget,
    listing,
    only_one,
    put_back,
    read_kept,
)

#: The parts of callboard's folder that belong to the user.
_USERS = ("bundles", SETTINGS)


def undo(tell: Tell, dry_run: bool = False) -> bool:
    """Restore everything, and return whether all of it is restored. A later call tries the rest
    again. Raises HostError if callboard is running anywhere, if another setup is running, or if
    callboard can't be removed from a host."""
    if not data_folder().is_dir():
        return _undo_clients(tell, dry_run)
    with only_one():
        kept = read_kept()
        if kept is not None and not _undo_all(kept, tell, dry_run):
            return False
    # Do this after the lock is released, because Windows can't remove a file that is open.
    if kept is None:
        end_kept()
        return _undo_clients(tell, dry_run)
    if not dry_run:
        end_kept()
    _undo_own(kept, tell, dry_run)
    if not dry_run:
        forget(kept.folders)
    return True


def _undo_clients(tell: Tell, dry_run: bool) -> bool:
    """Remove the entries that ``callboard config --write`` wrote into the user's client files. Only
    these can exist when setup has changed nothing. Return whether all are removed."""
    removing, done = False, True
    for known in (one.users for one in formats().values()):
        path = known.path
        if path is None or not path.exists():
            continue
        try:
            change = without(known, path)
            if not change.difference:
                continue
            tell(f"remove callboard from {path}")
            if not dry_run:
                change.write()
        except (CallboardError, OSError) as error:
            tell(f"leave {path}: {error}")
            done = False
        removing = True
    if not removing:
        tell("nothing to undo: `callboard setup` changed nothing here")
    for folder in (data_folder(), cache_folder()):
        if folder.is_dir():
            tell(f"leave {folder}: callboard made it while it ran; delete it if nobody needs it")
    return done


def _undo_all(kept: Backup, tell: Tell, dry_run: bool) -> bool:
    """Undo everything except callboard's own folders. Files that could not be restored stay in the
    notes."""
    running = [f"{each.instance.name} (pid {each.instance.pid})" for each in listed()]
    if running and not dry_run:
        raise HostError(
            f"callboard is running in {', '.join(running)}; quit all of these, then repeat the undo"
        )
    whole = {path for path, file in kept.files.items() if file.is_as_left(Path(path))}
    for host in kept.hosts:
        # Do this before restoring files, because a host may write to its own files once more.
        whole |= _uninstall(host, kept, tell, dry_run)
    left = {
        path: file
        for path, file in kept.files.items()
        if not _undo_file(Path(path), file, path in whole, tell, dry_run)
    }
    if dry_run:
        return not left
    for name in kept.tokens:
        gone = ClientBook().revoke(name)
        if gone is not None:
            forget_token(gone)
    if left:
        kept.files, kept.hosts, kept.tokens = left, [], []
        kept.save()
        tell("fix that, then run `callboard setup --undo` again")
    return not left


def _uninstall(host: str, kept: Backup, tell: Tell, dry_run: bool) -> set[str]:
    """Remove callboard from a host. Files and folders that the host creates during this step are
    recorded as made by setup. Return these files."""
    how = installer(host)
    places = how.user_folders().values()
    before = {name for place in places for name in listing(place)}
    if kept.seen is not None:
        # Setup was killed while a host was running. Of everything that has appeared since that host
        # was started, only empty folders are certain not to be the user's.
        kept.folders += [n.rstrip("/") for n in before - {*kept.seen} if n.endswith("/")]
    for line in how.uninstall(None, dry_run):
        tell(line)
    came = sorted({name for place in places for name in listing(place)} - before)
    kept.folders += [name.rstrip("/") for name in came if name.endswith("/")]
    files = {name for name in came if not name.endswith("/")}
    kept.files.update({name: BackupFile(None, None) for name in files - kept.files.keys()})
    return files


def _undo_file(path: Path, file: BackupFile, whole: bool, tell: Tell, dry_run: bool) -> bool:
    try:
        if whole:
            if file.client is not None:
                tell(f"restore {path}")
            if not dry_run:
                put_back(path, file)
        elif file.client is None:
            if path.exists() and file.before is not None:
                tell(f"leave {path}: it has been changed since")
        else:
            change = without(formats()[file.client].users, path)
            if change.difference:
                tell(f"remove callboard from {path}: it has been changed since, and the rest stays")
                if not dry_run:
                    change.write()
        return True
    except CallboardError as error:
        tell(f"leave {path}: {error}")
    except OSError as error:
        tell(f"leave {path}: {error.strerror or error}")
    return False


def _is_users(path: Path) -> bool:
    """Return whether anything at this path belongs to the user. A search for bundles leaves empty
    folders with locks in them."""
    return path.is_file() or any(
        each.is_file() and each.name != ".lock" for each in path.rglob("*")
    )


def _undo_own(kept: Backup, tell: Tell, dry_run: bool) -> None:
    """Remove callboard's own folders if setup made them. Name the others: they may contain the
    records and tokens of clients that were connected before."""
    for folder in (data_folder(), cache_folder()):
        if not folder.is_dir():
            continue
        if str(folder) not in kept.folders:
            tell(f"leave {folder}: it existed before setup; delete it by hand if nobody needs it")
            continue
        users = [name for name in _USERS if _is_users(folder / name)]
        if users:
            tell(f"leave {folder}: {' and '.join(users)} in it are yours")
            continue
        if not dry_run:
            shutil.rmtree(folder)
        tell(f"remove {folder}")
