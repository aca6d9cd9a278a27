"""Checks a bundle that isn't installed, and starts its server once."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from callboard.bundles.installed.install import InstalledBundle
from callboard.bundles.installed.manifest import ManifestError, folder_name, read_manifest
from callboard.bundles.installed.skill_check import trouble_here
from callboard.bundles.installed.unpack import unpack
from callboard_programs.cli.first_start import FirstStart, start_once
from callboard_testing.lint.bundle_lint import is_own, lint_bundle
from callboard_testing.lint.manifest_lines import MANIFEST, ManifestLines
from callboard_testing.lint.skill_lint import Finding


def findings_about(source: Path, *, start: bool) -> list[Finding]:
    """Return the findings about a bundle, given as a folder or an archive. Its server is started
    only if ``start`` is true. Raises UnpackError or OSError."""
    with unpacked(source) as folder:
        findings = lint_bundle(folder, source)
        if start and not any(finding.severity == "error" for finding in findings):
            findings += start_findings(folder)
        return findings


@contextmanager
def unpacked(source: Path) -> Iterator[Path]:
    """Yield a copy of the bundle, in a folder with the same name as after an installation. The copy
    is removed after the block. Raises UnpackError or OSError."""
    with tempfile.TemporaryDirectory(prefix="callboard-bundle-", ignore_cleanup_errors=True) as top:
        first = Path(top, "home", "version", "bundle")
        first.mkdir(parents=True)
        unpack(source, first)
        try:
            name = folder_name(read_manifest(first).name)
        except ManifestError:
            name = first.name
        yield first.rename(first.with_name(name))


def start_findings(folder: Path) -> list[Finding]:
    manifest = read_manifest(folder)
    if manifest.server is None:
        return []
    bundle = InstalledBundle(manifest, folder)
    if trouble := trouble_here(bundle):
        line = ManifestLines(folder).line("server", "mcp_config", "command")
        return [Finding(MANIFEST, line, "warning", f"its server was not started: {trouble}")]
    first = start_once(bundle)
    if first.problem is not None:
        # The server ran in a temporary copy.
        problem = f"its server {first.problem}".replace(f"{folder}{os.sep}", "")
        return [Finding(*_blamed(folder, first), "warning" if first.late else "error", problem)]
    if not first.tools:
        problem = "its server starts, but lists no tools"
        return [Finding(*_blamed(folder, first), "warning", problem)]
    return []


def _blamed(folder: Path, first: FirstStart) -> tuple[str, int]:
    """Return the file and line to blame: the place at which the server failed according to its
    output, or else the file that is run, or else the command that runs that file."""
    lines = ManifestLines(folder)
    entry_point = str(lines.at("server").get("entry_point"))
    # Python's and JavaScript's tracebacks name a file and a line in these forms.
    named = re.compile(re.escape(str(folder)) + r'[/\\]([^":\n]+)(?:", line |:)(\d+)')
    places = [place for word in first.words for place in named.findall(word)]
    for file, line in reversed(places):
        if is_own(folder, file):
            return Path(file).as_posix(), int(line)
    if is_own(folder, entry_point):
        return Path(entry_point).as_posix(), 1
    return MANIFEST, lines.line("server", "mcp_config", "command")
