"""Pictures in tools' answers, over many tasks: ``callboard batch`` and ``farm run``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callboard_programs.cli import main
from e2e.serving import environment
from needed import need
from skills.skill_tree import write_skill

need("pxr")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

SCRIPT = """
    from callboard.content import Image, Result


    def both(name: str) -> Result:
        return Result([Image(name.encode()), Image(b"two")], structured={"contrast": 1})


    def bare(name: str) -> Image:
        return Image(name.encode())


"""
TOOLS = """
    tools:
      - name: both
        description: Looks.
        source_file: scripts/look.py
        input_schema: &name {type: object, properties: {name: {type: string}}}
      - {name: bare, description: Looks., source_file: scripts/look.py, input_schema: *name}
"""


class Looking:
    """A skill that answers with pictures, and a way to run it over two files."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        files = {"tools.yaml": TOOLS, "scripts/look.py": SCRIPT}
        write_skill(folder / "skills", "pictures", block="tools: tools.yaml", files=files)
        for name in ("one", "two"):
            (folder / f"{name}.txt").write_text(name)

    def over(self, command: str, tool: str, *options: str) -> tuple[int, list[dict], str]:
        """Return the exit code, the tasks' lines in order of their index, and stderr."""
        words = ["batch"] if command == "batch" else ["farm", "run", "-n", "1"]
        words += [f"pictures__{tool}", "--json", '{"name": "{stem}"}', "--no-open"]
        words += ["--each" if command == "batch" else "--over", str(self.folder / "*.txt")]
        status = main(
            [*words, "--host", "openusd", "--skills", str(self.folder / "skills"), *options]
        )
        shown = self._capsys.readouterr()
        *lines, _ = map(json.loads, shown.out.splitlines())
        return status, sorted(lines, key=lambda line: line["index"]), shown.err


@pytest.fixture
def looking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Looking:
    for name, value in environment(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    return Looking(tmp_path, capsys)


@pytest.mark.parametrize("command", ["batch", "farm"])
def test_pictures_go_to_a_folder(looking: Looking, command: str) -> None:
    if command == "farm":
        need("distributed")
    folder, report = looking.folder / "some" / "pictures", looking.folder / "report.jsonl"
    out = ["--out", str(folder), "--report", str(report)]
    status, lines, told = looking.over(command, "both", *out)
    assert (status, [line["result"] for line in lines]) == (0, [{"contrast": 1}] * 2)
    first, second = "00000{}-pictures__both.png", "00000{}-pictures__both-2.png"
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert kept == {
        **{first.format(index): name for index, name in enumerate([b"one", b"two"])},
        **{second.format(index): b"two" for index in range(2)},
    }
    assert sorted(lines[1]["artefacts"]) == sorted(
        str(folder / name.format(1)) for name in (first, second)
    )
    assert "--out" not in told

    # A task whose picture is missing is run again.
    (folder / first.format(1)).unlink()
    _, lines, _ = looking.over(command, "both", *out)
    assert (folder / first.format(1)).read_bytes() == b"two"


@pytest.mark.parametrize("command", ["batch", "farm"])
def test_a_result_that_is_a_picture_names_its_file(looking: Looking, command: str) -> None:
    if command == "farm":
        need("distributed")
    _, lines, _ = looking.over(command, "bare", "--out", str(looking.folder / "pictures"))
    (shown,) = lines[1]["result"]
    assert "data" not in shown
    assert Path(shown["file"]).read_bytes() == b"two"


@pytest.mark.parametrize("command", ["batch", "farm"])
def test_without_a_folder_stderr_says_that_there_were_pictures(
    looking: Looking, command: str
) -> None:
    if command == "farm":
        need("distributed")
    status, lines, told = looking.over(command, "both")
    assert (status, lines[0]["result"]) == (0, {"contrast": 1})
    assert told.count("--out FOLDER saves them") == 1


def test_a_folder_that_cannot_be_made_is_told_before_any_host_starts(
    looking: Looking, capsys: pytest.CaptureFixture[str]
) -> None:
    (looking.folder / "taken").write_text("no folder")
    where = str(looking.folder / "taken" / "pictures")
    words = ["batch", "x", "--host", "openusd", "--each", str(looking.folder / "*.txt")]
    assert main([*words, "--out", where]) == 2
    told = capsys.readouterr()
    assert "the folder can't be created" in json.loads(told.out)["error"]["message"]


def test_a_report_without_the_pictures_does_not_pass_for_one_with_them(looking: Looking) -> None:
    report, pictures = looking.folder / "report.jsonl", looking.folder / "pictures"
    assert looking.over("batch", "both", "--report", str(report))[0] == 0
    status, _, told = looking.over("batch", "both", "--report", str(report), "--out", str(pictures))
    assert status == 2
    assert "is the report of a run with a different" in told
    assert "--out" in told
