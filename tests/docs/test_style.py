"""Texts for people are easy to read: they have short sentences, no filler and complete tables.
`codespell` checks the spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docs.prose import PAGES, PROJECT, prose

MOST_WORDS = 40
#: Words that claim that something is easy, and add nothing.
FILLER = re.compile(r"\b(?:simply|obviously|easily|basically|clearly|of course)\b", re.IGNORECASE)


def sentences(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield each sentence with the line at which its paragraph starts; titles, tables and pictures
    have none."""
    start, words = 0, ""
    for number, line in enumerate([*lines, ""], 1):
        item = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        if not line.strip() or item or line.lstrip().startswith(("#", "|", "<", "!")):
            for sentence in re.split(r"(?<=[.:;!?])[)*\"]*\s+", words):
                yield start, sentence
            start, words = number, ""
        if not line.lstrip().startswith(("#", "|", "<", "!")):
            words += " " + re.sub(r"\]\([^)]*\)", "]", line.strip())


def mistakes(page: Path) -> Iterator[str]:
    lines = prose(page)
    level = 0
    for number, line in enumerate(lines, 1):
        if line != line.rstrip() or "\t" in line:
            yield f"{number}: blanks at the end, or a tab"
        for word in FILLER.findall(line):
            yield f"{number}: {word!r} says nothing"
        if "![](" in line:
            yield f"{number}: a picture without a word for who can't see it"
        if title := re.match(r"(#+) ", line):
            if len(title[1]) > level + 1:
                yield f"{number}: a title of level {len(title[1])} below one of level {level}"
            level = len(title[1])
        if line.startswith("|"):
            columns = line.replace(r"\|", "").count("|")
            if not lines[number - 2].startswith("|"):
                wanted = columns
            if columns != wanted:
                yield f"{number}: {columns - 1} cells in a table of {wanted - 1} columns"
    for number, sentence in sentences(lines):
        if len(sentence.split()) > MOST_WORDS:
            yield f"{number}: {len(sentence.split())} words in one sentence: {sentence[:60]}…"


def test_pages_read_well() -> None:
    assert [
        f"{page.relative_to(PROJECT)}:{mistake}" for page in PAGES for mistake in mistakes(page)
    ] == []


def test_the_readme_has_at_most_700_words() -> None:
    assert len((PROJECT / "README.md").read_text("utf-8").split()) <= 700


def test_no_text_installs_callboard_by_name() -> None:
    """Until callboard is published, anyone who registers its name on PyPI decides which code a
    reader runs."""
    by_name = re.compile(
        r"(?:pipx?3? (?:install|run)|uvx|uv tool install) ['\"]?callboard(?![\w.-])"
    )
    folders = ("core", "hosts", "ui", "docs", "examples", "packaging", "benchmarks")
    texts = [path for folder in folders for path in sorted((PROJECT / folder).rglob("*"))]
    pages_with_it = [
        str(path.relative_to(PROJECT))
        for path in [*texts, *PROJECT.glob("*.md"), PROJECT / "server.json"]
        if path.suffix in {".py", ".md", ".json", ".yaml", ".toml", ".svg"}
        and by_name.search(path.read_text("utf-8"))
    ]
    assert pages_with_it == []


def test_the_index_lists_each_decision_and_references_lead_to_one() -> None:
    folder = PROJECT / "docs" / "decisions"
    titles = {path: path.read_text("utf-8").split("\n", 1)[0] for path in folder.glob("[0-9]*.md")}
    index = (folder / "README.md").read_text("utf-8").splitlines()
    assert sorted(line for line in index if line.startswith("- ")) == sorted(
        f"- [{path.name[:4]}]({path.name}): {title[9:]}" for path, title in titles.items()
    )
    parts = ["Context", "Decision", "Consequences", "Turned down"]
    for path in titles:
        assert re.findall(rf"^\*\*({'|'.join(parts)})\b", path.read_text("utf-8"), re.M) == parts, (
            path
        )
    numbers = [path.name[:4] for path in titles]
    assert len(numbers) == len(set(numbers))
    for root in ("core", "hosts", "ui", "tests"):
        for path in sorted((PROJECT / root).rglob("*.py")):
            for named in re.findall(r"docs/decisions/(\d+)", path.read_text("utf-8")):
                assert named in numbers, path
