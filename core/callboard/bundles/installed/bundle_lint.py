"""What is wrong with a bundle's folder, before it is packed or installed. Runs nothing of it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callboard.bundles.installed.install import InstalledBundle, require_content
from callboard.bundles.installed.manifest import (
    BundleManifest,
    CapabilityUnavailable,
    ManifestError,
    ServerCommand,
    gate,
    read_manifest,
)
from callboard.bundles.installed.places import PROVIDED
from callboard.bundles.running.programs import as_called_here
from callboard.skills.lint import Finding, lint

MANIFEST = "manifest.json"
#: A file of the bundle's own, in a command or an argument.
_OWN = re.compile(r"\$\{__dirname\}[/\\]+([^\s\"'$]+)")


def lint_bundle(folder: Path, given: Path) -> list[Finding]:
    """Findings about the bundle in ``folder``, and about its skill, sorted by place. ``file`` is
    relative to it, and ``given`` is what messages call it."""
    try:
        manifest = read_manifest(folder)
        require_content(manifest, folder)
    except ManifestError as error:
        return [Finding(MANIFEST, _line(folder, error.message), "error", error.message)]
    findings = list(_findings(manifest, folder))
    if InstalledBundle(manifest, folder).has_skill:
        findings += lint(folder, given=given)
    return sorted(set(findings), key=lambda one: (one.file, one.line, one.message))


def _findings(manifest: BundleManifest, folder: Path) -> Iterator[Finding]:
    try:
        gate(manifest, PROVIDED)
    except CapabilityUnavailable as error:
        yield Finding(MANIFEST, _line(folder, "host_capabilities"), "error", error.message)
    entry_point = _entry_point(folder)
    if entry_point is not None and not _is_own(folder, entry_point):
        message = f"server.entry_point '{entry_point}' isn't a file of the bundle; add it"
        yield Finding(MANIFEST, _line(folder, "entry_point"), "error", message)
    if manifest.server is not None:
        yield from _command(manifest, manifest.server, folder)


def _command(manifest: BundleManifest, server: ServerCommand, folder: Path) -> Iterator[Finding]:
    texts = [server.command, *server.args, *server.env.values()]
    for name in dict.fromkeys(name for text in texts for name in _OWN.findall(text)):
        # What isn't there may be made when it runs, but for the code that is to run.
        if re.search(r"\.[cm]?[jt]s$|\.py$", name) and not _is_own(folder, name):
            message = f"its command runs '{name}', which isn't a file of the bundle; add it"
            yield Finding(MANIFEST, _line(folder, name), "error", message)
    try:
        command, _ = server.resolved(folder, dict.fromkeys(manifest.settings, "x"))
    except ManifestError as error:
        yield Finding(MANIFEST, _line(folder, "mcp_config"), "error", error.message)
        return
    program = as_called_here(command)[0]
    if shutil.which(program) is None:
        message = f"the program '{program}', which runs its server, isn't on this machine's PATH"
        yield Finding(MANIFEST, _line(folder, "command"), "warning", message)


def _entry_point(folder: Path) -> str | None:
    server: Any = json.loads((folder / MANIFEST).read_text("utf-8-sig")).get("server")
    entry_point = server.get("entry_point") if isinstance(server, dict) else None
    return entry_point if isinstance(entry_point, str) else None


def _is_own(folder: Path, name: str) -> bool:
    try:
        place = (folder / name).resolve()
        return place.is_file() and folder.resolve() in place.parents
    except (OSError, ValueError):  # no system has files of such names
        return False


def _line(folder: Path, message: str) -> int:
    """Where the first of the message's names stands in the manifest."""
    try:
        lines = (folder / MANIFEST).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        return 1
    for word in re.findall(r"[\w./-]+", message):
        # A field is named with those around it, of which the manifest may lack the last.
        whole = [word] if re.search(r"[./]", word.strip(".")) else []
        keys = [f'"{key}"' for key in reversed(word.split(".")) if key]
        for text in (*whole, *keys):
            for number, line in enumerate(lines, 1):
                if text in line:
                    return number
    return 1
