"""Makes everything that is published, and tests it in environments with no other callboard.

    python packaging/bootstrap.py release [--out DIR] [--unchecked]

Each artifact comes with its bill of materials (.cdx.json) and its licenses (.licenses.txt).
SHA256SUMS covers all of the artifacts. Needs Python 3.11 or later.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from build import HOSTS
from build_distribution import build_source, build_wheel, papers
from build_mcpb import build_mcpb
from build_requirements import PROJECT, BuildError
from build_sbom import NAME as BILL
from try_release import try_bundle, try_source, try_wheel


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bootstrap.py release", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--out", type=Path, default=PROJECT / "dist")
    parser.add_argument(
        "--unchecked", action="store_true", help="only build; don't install or start anything"
    )
    asked = parser.parse_args(arguments)
    try:
        made = release(asked.out)
        if not asked.unchecked:
            _tell("building everything again, to compare")
            check_repeats(made)
            _tell("trying each in an environment with no other part of callboard")
            wheel, source, bundle = (_ending(made, end) for end in (".whl", ".tar.gz", ".mcpb"))
            for line in [*try_wheel(wheel), *try_source(source, wheel), *try_bundle(bundle)]:
                print(f"ok  {line}")
    except BuildError as error:
        print(f"release.py: {error}", file=sys.stderr)
        return 1
    for path in made:
        print(f"{path}  {path.stat().st_size} bytes  sha256 {_digest(path)}")
    _tell(f"next: pipx install {_ending(made, '.whl')}, then callboard setup")
    return 0


def release(out: Path) -> list[Path]:
    """Write all artifacts and the files that accompany them. Return the artifacts' paths. Raises
    BuildError."""
    artefacts = build_all(out)
    for path in artefacts:
        bill, licences = _papers_of(path)
        path.with_name(f"{path.name}.cdx.json").write_bytes(bill)
        path.with_name(f"{path.name}.licenses.txt").write_bytes(licences)
    sums = "".join(f"{_digest(path)}  {path.name}\n" for path in artefacts)
    (out / "SHA256SUMS").write_text(sums, "utf-8", newline="\n")
    return artefacts


def build_all(out: Path) -> list[Path]:
    """Build the hosts' archives, the wheel and the source archive that contain them, and the
    bridge's bundle."""
    out.mkdir(parents=True, exist_ok=True)
    archives = []
    for number, (host, module) in enumerate(HOSTS.items(), start=1):
        _tell(f"building for {host}, {number} of {len(HOSTS)} hosts")
        archives += importlib.import_module(module).build(out, False)
    _tell("building the wheel, the source archive and the bridge's bundle")
    inside = {path.name: path.read_bytes() for path in archives}
    return [*archives, build_wheel(out, inside), build_source(out, inside), build_mcpb(out)]


def check_repeats(artefacts: Sequence[Path]) -> None:
    """Check that a second build produces the same bytes. Raises BuildError."""
    folder = Path(tempfile.mkdtemp())
    try:
        for path in build_all(folder):
            first = _ending(artefacts, path.name)
            if first.read_bytes() != path.read_bytes():
                raise BuildError(f"a second build of {path.name} has different bytes")
    finally:
        shutil.rmtree(folder)


def _papers_of(path: Path) -> tuple[bytes, bytes]:
    """Return an artifact's bill of materials, and all its licenses in one text."""
    files = dict(papers())
    if path.suffix in (".zip", ".mcpb"):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            folder = next(name for name in names if name.endswith(f"licenses/{BILL}"))
            ours = folder.removesuffix(f"licenses/{BILL}")
            papers_there = [name for name in names if name.startswith(f"{ours}licenses/")]
            files = {name.removeprefix(ours): archive.read(name) for name in papers_there}
    bill = files.pop(f"licenses/{BILL}")
    texts = [
        f"==== {name.removeprefix('licenses/')}\n\n".encode() + data.rstrip() + b"\n\n"
        for name, data in sorted(files.items())
    ]
    return bill, b"".join(texts)


def _tell(text: str) -> None:
    """Report a step. The text goes to stderr, because stdout is for the results."""
    print(f"release.py: {text}", file=sys.stderr, flush=True)


def _ending(paths: Sequence[Path], suffix: str) -> Path:
    return next(path for path in paths if path.name.endswith(suffix))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
