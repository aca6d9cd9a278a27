"""A bundle is made, checked, packed, installed and downgraded."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bundles.server_bundles import manifest, skill_bundle
from callboard.bundles.installed.install_folders import user_bundles
from callboard_programs.cli import main
from callboard_programs.cli.install_skill_command import is_older


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("CALLBOARD_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def versions() -> list[str]:
    return [bundle.manifest.version for bundle in user_bundles().installed()]


def made(name: str = "shot-notes", version: str = "0.1.0", **changes: Any) -> Path:
    """Make a bundle with a changed manifest. This Python runs its server."""
    assert main(["new-bundle", name]) == 0
    folder = Path(name)
    written = json.loads((folder / "manifest.json").read_text())
    written["version"] = version
    written["server"]["mcp_config"]["command"] = sys.executable
    written["server"].update(changes)
    (folder / "manifest.json").write_text(json.dumps(written, indent=1))
    return folder


def found_in(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    capsys.readouterr()
    main(["lint", *map(str, arguments)])
    return capsys.readouterr().out.splitlines()


def test_a_new_bundle_is_packed_and_installed(capsys: pytest.CaptureFixture[str]) -> None:
    folder = made()
    assert found_in(capsys, folder, "--start") == []
    assert main(["pack", str(folder)]) == 0
    assert capsys.readouterr().out.strip() == "shot-notes-0.1.0.mcpb"
    first = Path("shot-notes-0.1.0.mcpb").read_bytes()
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert archive.namelist() == ["manifest.json", "server.py"]
    assert main(["pack", str(folder), "--no-start", "--out", "again.mcpb"]) == 0
    assert Path("again.mcpb").read_bytes() == first
    assert found_in(capsys, "again.mcpb", "--start") == []
    assert main(["install-skill", "again.mcpb"]) == 0
    assert "Its server runs and has 1 tool: count_words." in capsys.readouterr().out
    assert versions() == ["0.1.0"]


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"entry_point": "main.py"}, "server.entry_point 'main.py' isn't a file of the bundle"),
        (
            {"mcp_config": {"command": sys.executable, "args": ["${__dirname}/gone.py"]}},
            "its command runs 'gone.py', which isn't a file of the bundle",
        ),
        (
            {"mcp_config": {"command": sys.executable, "args": ["${user_config.gone}"]}},
            "the server's command uses ${user_config.gone}, which is not set",
        ),
        ({"entry_point": "\0.py"}, "server.entry_point '�.py' isn't a file of the bundle"),
        ({"entry_point": "\x1b[2J.py"}, "server.entry_point '�[2J.py' isn't a file"),
        ({"entry_point": "a" * 5000}, "aaa' isn't a file of the bundle"),
        ({"mcp_config": {"command": "no-such-program"}}, "warning: the program 'no-such-program'"),
        ({"mcp_config": {}}, "server.mcp_config.command must be a string"),
    ],
)
def test_lint_finds_what_its_server_lacks(
    capsys: pytest.CaptureFixture[str], changes: dict[str, Any], finding: str
) -> None:
    folder = made(**changes)
    (line,) = found_in(capsys, folder)
    assert finding in line
    number = int(line.split(":")[1])
    assert (folder / "manifest.json").read_text().splitlines()[number - 1].strip() not in ("{", "}")
    if "warning" not in line:
        assert main(["pack", str(folder)]) == 1
        assert not list(Path().glob("*.mcpb"))


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (
            "import sys; sys.exit('no\\x1b such licence')",
            "Its last output: shot-notes: no� such lic",
        ),
        ("print('hello')\nimport sys; sys.stdin.read(1)", "ended with exit status"),
        (
            "import json\nwhile True:\n    m = json.loads(input())\n"
            "    r = {'protocolVersion': '2025-06-18', 'capabilities': {}, 'serverInfo': {}}\n"
            "    r = {'result': r} if m['method'] == 'initialize' else "
            "{'error': {'code': -32601, 'message': 'no'}}\n"
            "    print(json.dumps({'jsonrpc': '2.0', 'id': m.get('id'), **r}), flush=True)",
            "did not list its tools",
        ),
    ],
)
def test_a_server_that_doesnt_run_isnt_installed(
    capsys: pytest.CaptureFixture[str], script: str, problem: str
) -> None:
    folder = made()
    assert main(["install-skill", str(folder), "--no-start"]) == 0
    (folder / "server.py").write_text(script)
    assert problem in found_in(capsys, folder, "--start")[0]
    assert found_in(capsys, folder) == []
    capsys.readouterr()
    assert main(["install-skill", str(folder)]) == 1
    error = capsys.readouterr().err
    assert "so it was not installed: its server " in error
    assert problem in error
    assert "0.1.0 is still in use" in error


def test_a_bundles_skill_is_looked_through(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = skill_bundle(tmp_path, "def main(:\n").rename("reader")
    assert any(
        line.startswith("scripts/run.py:1: error: can't") for line in found_in(capsys, folder)
    )
    Path("empty").mkdir()
    Path("empty", "manifest.json").write_text(manifest("empty"))
    assert "neither a SKILL.md nor a server" in found_in(capsys, "empty")[0]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_downgrade_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = str(skill_bundle(tmp_path, "def main(): pass\n", version="1.9.0"))
    new = str(skill_bundle(tmp_path, "def main(): pass\n", version="1.10.0"))
    assert main(["install-skill", new]) == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main(["install-skill", old]) == 1
    assert "1.10.0 is installed, which is newer than 1.9.0; add --downgrade" in (
        capsys.readouterr().err
    )
    monkeypatch.setattr(sys, "stdin", Terminal("\n"))
    assert main(["install-skill", old]) == 1
    assert "Install 1.9.0 over it? [y/N]" in capsys.readouterr().err
    assert versions() == ["1.10.0"]
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert main(["install-skill", old]) == 0
    assert versions() == ["1.9.0"]
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert main(["install-skill", new]) == 0
    assert main(["install-skill", old, "--downgrade"]) == 0
    assert versions() == ["1.9.0"]


def test_versions_are_ordered_as_semver_does() -> None:
    order = "0.9 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0 1.0.1"
    ordered = [*order.split(), "1.9", "1.10", "2024.1", "2024.b"]
    for at, version in enumerate(ordered):
        assert all(is_older(version, later) for later in ordered[at + 1 :])
        assert not any(is_older(version, earlier) for earlier in ordered[: at + 1])
    assert not is_older("1.0", "1.0.0+build.5")
    assert not is_older("1.0.0+build.5", "1.0")


MANIFEST = """\
{
  "manifest_version": "0.3",
  "name": "shot-notes",
  "version": "0.1.0",
  "description": "Counts the words of a text.",
  "author": {"name": "A studio"},
  "server": {
    "type": "python",
    "entry_point": "server.py",
    "mcp_config": {
      "command": "python3",
      "args": [
        "${__dirname}/server.py",
        "--limit=${user_config.limit}"
      ]
    }
  },
  "user_config": {
    "limit": {
      "type": "number",
      "title": "Most notes", "description": "Most."
    }
  }
}
"""


@pytest.mark.parametrize(
    ("written", "wrong", "finding"),
    [
        ('"user_config": {', '"user_confg": {', "18: error: key 'user_confg' isn't known; did"),
        ('"limit": {', '"limits": {', "14: error: the server's command uses ${user_config.limit}"),
        ('"number"', '"nubmer"', "20: error: user_config['limit'].type must be one of"),
        (
            '"type": "num',
            '"types": "num',
            "20: error: key 'types' isn't known; did you mean 'type'?",
        ),
        ('"title":', '"titel":', "21: warning: key 'titel' isn't known; did you mean 'title'?"),
        ('"version"', '"verison"', "4: error: key 'verison' isn't known; did you mean 'version'?"),
        ('"server":', '"sever":', "7: error: key 'sever' isn't known; did you mean 'server'?"),
        ('{"name": "A studio"}', '"A studio"', "6: error: author must be an object"),
        ('"0.1.0",', '"0.1.0"', "5: error: manifest.json is not JSON: "),
        ('"command": "python3"', '"comand": "python3"', "11: error: key 'comand' isn't known"),
        # The report gives the line of the key, even if the value is on another line.
        ('"number"', '\n"nubmer"', "20: error: user_config['limit'].type must be one of"),
    ],
)
def test_a_mistake_in_a_manifest_is_told_where_it_stands(
    capsys: pytest.CaptureFixture[str], written: str, wrong: str, finding: str
) -> None:
    folder = made()
    manifest = folder / "manifest.json"
    assert MANIFEST.count(written) == 1
    # The layout doesn't matter: some tools indent with tabs.
    manifest.write_text(MANIFEST.replace(written, wrong).replace("  ", "\t"))
    # Windows has no python3.
    (line,) = [one for one in found_in(capsys, folder) if "'python3', which runs" not in one]
    assert line.startswith(f"manifest.json:{finding}")


@pytest.mark.parametrize(
    ("server", "finding"),
    [
        (
            "import sys\n\n\ndef load():\n    import no_such_module\n\n\nload()\n",
            "server.py:5: error: ",
        ),
        ("import json\n\njson.loads('{')\n", "server.py:3: error: "),
        ("import sys\n\nsys.exit('no licence')\n", "server.py:1: error: "),
    ],
)
def test_a_server_that_ends_is_told_where_it_did(
    capsys: pytest.CaptureFixture[str], server: str, finding: str
) -> None:
    folder = made()
    (folder / "server.py").write_text(server)
    (line,) = found_in(capsys, folder, "--start")
    assert line.startswith(finding)
