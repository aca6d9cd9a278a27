"""The pages on bundles, on Python and on the report: snippets run, and nothing is left out."""

from __future__ import annotations

import dataclasses
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import callboard
from callboard.cli import main
from callboard.config import McpHttpConfig
from callboard.demand.report import build
from callboard.extensions import request_capability
from callboard.records.reader import Reader
from callboard.records.store import Store

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
PAGES = ("bundles.md", "python.md", "report.md")


def blocks(page: str, language: str) -> list[tuple[str, str]]:
    """What stands behind the language, and the text."""
    text = (DOCS / page).read_text("utf-8")
    return re.findall(rf"^```{language} ?(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: str, tmp_path: Path) -> None:
    Store(tmp_path / "home" / "records").flush()
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    snippets = blocks(page, "python")
    assert snippets
    for _, snippet in snippets:
        exec(compile(snippet, page, "exec"), namespace)


@pytest.mark.parametrize("page", ["bundles.md", "report.md"])
def test_the_commands_of_a_page_run(page: str, tmp_path: Path) -> None:
    bundle = tmp_path / "shot-notes"
    bundle.mkdir()
    assert main(["new-bundle", "new", "--in", str(tmp_path)]) == 0
    (tmp_path / "new" / "server.py").rename(bundle / "server.py")
    for name, text in blocks(page, "json"):
        (bundle / name).write_text(text)
    lines = [line for _, text in blocks(page, "console") for line in text.splitlines()]
    assert lines
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "callboard"
        assert main(arguments) == 0, line


def test_every_setting_and_every_public_name_is_explained() -> None:
    page = (DOCS / "python.md").read_text("utf-8")
    fields = [each.name for each in dataclasses.fields(McpHttpConfig)]
    assert [name for name in fields if f"| `{name}` |" not in page] == []
    public = [*callboard.__all__, "host", "HostResources"]
    public += [name for name in vars(request_capability) if name.isupper() or name == "descriptor"]
    assert [name for name in public if name not in page] == []


def test_every_key_of_the_report_is_explained(tmp_path: Path) -> None:
    page = (DOCS / "report.md").read_text("utf-8")
    Store(tmp_path / "records").flush()
    assert [key for key in build(Reader(tmp_path / "records")) if f"`{key}`" not in page] == []
