"""Makes the docs pages: `python packaging/bootstrap.py docs [--out build/docs]`.

It ends with an error if a link leads nowhere, or if the generator prints any other warning. It
needs no network, except with `--outside`, which then requests each link to another site.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import docs_drawing
from docs_reference import write_reference

PROJECT = Path(__file__).resolve().parent.parent
#: The files that pages are made from or link to, besides `docs`.
SOURCES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE",
    "benchmarks/README.md",
    "examples/**/*",
    "tests/hosts/*.md",
    "tests/hosts/looks/*.png",
)


#: The examples' pages in the list of pages. Code hosts show a folder instead.
EXAMPLES = "\n```{toctree}\n:hidden:\n:glob:\n\n*/**\n```\n"


def sources() -> Iterator[Path]:
    for pattern in ("docs/**/*", *SOURCES):
        for path in PROJECT.glob(pattern):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def lay_out(folder: Path) -> None:
    """Put the sources into a folder with the project's own layout, in which each link works as it
    does in the project. Add the reference pages."""
    for path in sources():
        target = folder / path.relative_to(PROJECT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(with_drawings(path.read_text("utf-8")), encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    with (folder / "examples" / "README.md").open("a", encoding="utf-8") as page:
        page.write(EXAMPLES)
    write_reference(folder / "docs" / "reference")


def with_drawings(text: str) -> str:
    """Return a page with its flowcharts drawn. Code hosting sites draw flowcharts themselves."""
    return docs_drawing.BLOCK.sub(
        lambda block: f'<div class="drawing">\n{docs_drawing.draw(block[1])}\n</div>', text
    )


def make(out: Path, *, outside: bool) -> int:
    """Build into `out`, and check the links to other sites if asked to. Return Sphinx's exit code,
    which is 1 after a warning."""
    with tempfile.TemporaryDirectory(prefix="callboard-docs-") as folder:
        source = Path(folder) / "source"
        lay_out(source)

        def build(builder: str, target: Path) -> int:
            return subprocess.run(
                [
                    *(sys.executable, "-m", "sphinx", "-b", builder, "-c", str(source / "docs")),
                    *("-d", str(Path(folder) / "doctrees"), "--quiet"),
                    *("--nitpicky", "--fail-on-warning", "--keep-going", str(source), str(target)),
                ],
                check=False,
            ).returncode

        return build("html", out) or (build("linkcheck", Path(folder) / "links") if outside else 0)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bootstrap.py docs", description="Makes the docs pages.")
    parser.add_argument("--out", type=Path, default=PROJECT / "build" / "docs")
    parser.add_argument(
        "--outside",
        action="store_true",
        help="request each link to another site, too",
    )
    chosen = parser.parse_args(arguments)
    if status := make(chosen.out, outside=chosen.outside):
        return status
    print(chosen.out / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
