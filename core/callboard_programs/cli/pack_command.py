"""``callboard pack``: checks a bundle's folder, and packs it into one file."""

from __future__ import annotations

import argparse
import os
import zipfile
from dataclasses import asdict
from pathlib import Path

from callboard.bundles.installed.manifest import folder_name, read_manifest
from callboard.errors import HostError, PeerError
from callboard.ground.atomic_write import replacing
from callboard.ground.plain_text import plain, plain_json
from callboard_programs.cli.bundle_source import findings_about, unpacked

#: The date of every entry. It is fixed, so that packing the same folder again produces an identical
#: file.
_DATE = (1980, 1, 1, 0, 0, 0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, help="the bundle's folder, which contains manifest.json"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="by default NAME-VERSION.mcpb")
    parser.add_argument(
        "--no-start", action="store_true", help="don't start the bundle's server to list its tools"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object: {file, findings}"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the findings and the path of the file. If any finding is an error, write no file and
    return 1."""
    if not arguments.folder.is_dir():
        raise PeerError(f"{arguments.folder} is not a folder")
    try:
        findings = findings_about(arguments.folder, start=not arguments.no_start)
        if not arguments.json:
            for finding in findings:
                print(plain(str(finding)))
        good = all(finding.severity != "error" for finding in findings)
        file = _pack(arguments.folder, arguments.out) if good else None
    except OSError as error:
        raise HostError(f"the bundle can't be packed: {error.strerror or error}") from None
    if arguments.json:
        written = [asdict(finding) for finding in findings]
        print(plain_json({"file": file and str(file), "findings": written}))
    elif file is not None:
        print(file)
    return 0 if good else 1


def _pack(source: Path, out: Path | None) -> Path:
    """Write the bundle's file, and return its path. Raises UnpackError or OSError."""
    with unpacked(source) as folder:
        manifest = read_manifest(folder)
        target = out or Path(f"{folder_name(manifest.name)}-{manifest.version}.mcpb")
        with replacing(str(target)) as partial, zipfile.ZipFile(partial, "w") as archive:
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o755 if os.access(path, os.X_OK) else 0o644) << 16
                entry.create_system = 3  # Declares Unix, so that unpackers apply the modes.
                archive.writestr(entry, path.read_bytes())
    return target
