"""A bundle that isn't installed: looked through, and its server started once."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from callboard.bundles.installed.bundle_lint import MANIFEST, lint_bundle
from callboard.bundles.installed.install import InstalledBundle
from callboard.bundles.installed.loading import trouble_here
from callboard.bundles.installed.manifest import ManifestError, folder_name, read_manifest
from callboard.bundles.installed.unpacking import unpack
from callboard.bundles.running.first_start import start_once
from callboard.skills.lint import Finding


def findings_about(source: Path, *, start: bool) -> list[Finding]:
    """What is wrong with a bundle, a folder or an archive; its server is only run to ``start`` it.
    Raises UnpackError, OSError."""
    with unpacked(source) as folder:
        findings = lint_bundle(folder, source)
        if start and not any(finding.severity == "error" for finding in findings):
            findings += start_findings(folder)
        return findings


@contextmanager
def unpacked(source: Path) -> Iterator[Path]:
    """A copy in a folder of the bundle's name, as an installation makes it, for as long as it is
    looked at. Raises UnpackError, OSError."""
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
        return [Finding(MANIFEST, 1, "warning", f"its server was not started: {trouble}")]
    first = start_once(bundle)
    if first.problem is not None:
        problem = f"its server {first.problem}"
        return [Finding(MANIFEST, 1, "warning" if first.late else "error", problem)]
    if not first.tools:
        return [Finding(MANIFEST, 1, "warning", "its server runs, and lists no tools")]
    return []
