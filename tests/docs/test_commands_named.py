"""Every command and option that a page names exists on the command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest

from callboard_programs.cli import COMMANDS, parser_of
from cli.test_commands import options_below
from docs.blocks import PROJECT, Block, blocks, commands, page_text, pages

#: Placeholders, with a value that a reader might write.
_FOR = {
    "ADDRESS": "https://10.0.0.5/mcp",
    "CLIENT": "cursor",
    "COMMAND": "list",
    "HOST": "maya",
    "N": "1",
    "SECONDS": "1",
    "ID": "1",
}
#: The ways to start the command line, including with an application's Python.
_STARTS = re.compile(
    r"(?:\w+=\S* )*(?:[^\s=]*[/\\])?(?:(?:python|mayapy|hython) -m )?callboard(?: |$)"
    r"|(?:python[\d.]*|py) packaging[/\\]bootstrap\.py (?=serve)"
)
#: Text before the command on Windows: the input of a pipe, or the variable of 3ds Max.
_BEFORE = re.compile(r"(?:echo )?['{].*[}'] \| |(?:set |\$env:)(?=CALLBOARD_ARGUMENTS)")
_ARGUMENTS = re.compile(r'CALLBOARD_ARGUMENTS ?= ?"?([^"]*)"?$')
#: Options of other programs, and those programs.
_OTHERS = {
    "--import-mode": "pytest",
    "--strict": "mypy",
    "-rs": "pytest",
}
#: Parts of argparse's messages about an incomplete command, which a page may merely mention.
_ONLY_BEGUN = ("are required", "expected one argument", "expected at least one argument")


def spans(page: str) -> Iterator[str]:
    """Yield the texts between single backticks, outside of blocks."""
    text = re.sub(r"^ *```.*?^ *```$", "", page_text(page), flags=re.MULTILINE | re.DOTALL)
    for span in re.findall(r"`([^`]+)`", text):
        yield " ".join(span.split())


def words_of(line: str) -> list[str] | None:
    """Return the arguments of our command line, or None if the line doesn't start it."""
    line = _BEFORE.sub("", line, count=1)
    start = _STARTS.match(line)
    if variable := _ARGUMENTS.match(line):
        rest = variable[1]
    elif start is not None:
        rest = line[start.end() :]
    elif line.split(" ")[0] in COMMANDS and " -" in line:
        rest = line
    else:
        return None
    rest = re.split(r" […|>#]", rest + " ")[0]
    return [_FOR.get(word.split("|")[0], word.split("|")[0]) for word in shlex.split(rest)]


def typed(block: Block) -> list[list[str]]:
    """Return the arguments of each line that starts our command line."""
    if block.language not in ("console", "powershell", "bat"):
        return []
    return [words for line, _ in commands(block.text) if (words := words_of(line)) is not None]


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the parser's error about these arguments, or an empty string if it accepts them."""
    try:
        parser_of(words).parse_args(words)
    except SystemExit as end:
        return capsys.readouterr().err if end.code else ""
    return ""


def test_what_a_page_has_typed_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert [
        (page, words, why)
        for page in pages()
        for block in blocks(page)
        for words in typed(block)
        if (why := refused(words, capsys))
    ] == []


def test_what_a_page_names_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert [
        (page, span, why)
        for page in pages()
        for span in spans(page)
        if (words := words_of(span))
        and (why := refused(words, capsys))
        and not any(begun in why for begun in _ONLY_BEGUN)
    ] == []


def options() -> set[str]:
    """Return the options of the command line, and of this project's other programs."""
    parsers = [parser_of([name]) for name in COMMANDS]
    named = {
        text for each in parsers for option in options_below(each) for text in option.option_strings
    }
    for folder in ("benchmarks", "packaging", "tests/hosts", "tests/hostile"):
        for path in (PROJECT / folder).rglob("*.py"):
            named.update(re.findall(r'"(--?[\w-]+)"', path.read_text("utf-8")))
    return named | _OTHERS.keys()


def test_every_option_that_stands_alone_is_one() -> None:
    known = options()
    wrong = [
        (page, span)
        for page in pages()
        for span in spans(page)
        for option in re.findall(r"^--?[a-z][\w-]*", span)
        if option not in known
    ]
    assert wrong == []
