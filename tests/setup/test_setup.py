"""``callboard setup`` in a home with clients, and its complete removal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from callboard.clients.book import ClientBook
from callboard.ground.folders import data_folder
from callboard_programs.cli import main
from home_contents import contents

CURSOR = b'{\r\n\t"mcpServers": {"mine": {"command": "x"}}\r\n}'
CODEX = b'# mine\nmodel = "o"\n'
ZED = b'// mine\n{\n  "theme": "dark", // at night\n}\n'
Run = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Codex CLI's file is TOML, which Python 3.10 can't read"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home with three clients that have been used, and without applications."""
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "CALLBOARD_HOME"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "MAYA_APP_DIR", "HOUDINI_USER_PREF_DIR"):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "home"
    for variable in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(folder))
    if sys.platform == "win32":
        # Windows determines the folder itself, and ignores environment variables.
        monkeypatch.setenv("CALLBOARD_HOME", str(folder / "AppData" / "callboard"))
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "callboard").touch(0o755)
    (programs / "callboard.exe").touch(0o755)
    monkeypatch.setenv("PATH", str(programs))
    zed = folder / ("Zed" if sys.platform == "win32" else ".config/zed") / "settings.json"
    for path, data in [
        (folder / ".cursor" / "mcp.json", CURSOR),
        (folder / ".codex" / "config.toml", CODEX),
        (zed, ZED),
    ]:
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    (folder / ".cursor" / "mcp.json").chmod(0o644)
    return folder


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*words: str) -> tuple[int, str, str]:
        status = main(["setup", *words])
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return command


def test_what_it_would_do_is_only_told(run: Run, home: Path) -> None:
    before = contents(home)
    status, out, _ = run("--dry-run")
    assert status == 0
    assert [word for word in ("Cursor", "Codex CLI", "Zed") if word in out] == [
        "Cursor",
        "Codex CLI",
        "Zed",
    ]
    told = json.loads(run("--dry-run", "--json")[1])
    assert {each["client"] for each in told["clients"]} == {"cursor", "codex", "zed"}
    # The test has no terminal, so the command can't ask anybody.
    status, _, err = run()
    assert status == 1
    assert "--yes" in err
    assert contents(home) == before


@pytest.mark.parametrize("times", [1, 2])
def test_all_is_back_byte_for_byte(run: Run, home: Path, times: int) -> None:
    before = contents(home)
    for _ in range(times):
        assert run("--yes", "--no-trial")[0] == 0
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["callboard"]
    assert entry["args"][-2:] == ["--client", "cursor"]
    assert {each.name for each in ClientBook().all()} == {"cursor", "codex", "zed"}
    would = run("--undo", "--dry-run")[1]
    status, out, err = run("--undo", "--yes")
    assert (status, err) == (0, "")
    # The dry run lists everything that is done afterwards, including the removal of the folder with
    # the records.
    assert would == "".join(f"would {line}\n" for line in out.splitlines())
    assert "remove " in out
    assert contents(home) == before
    assert "nothing to undo" in run("--undo", "--yes")[1]
    assert "nothing to undo" in run("--undo")[1]  # There is nothing to ask about.


def test_a_person_at_the_terminal_is_asked_before_all_is_put_back(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(home)
    assert run("--yes", "--no-trial")[0] == 0
    as_set_up = contents(home)
    for answer, status, left in (("n", 1, as_set_up), ("y", 0, before)):
        terminal = StringIO(f"{answer}\n")
        monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys, "stdin", terminal)
        code, _, err = run("--undo")
        assert code == status
        assert "restore everything? [y/N]" in err
        assert contents(home) == left


def test_with_the_gateway_each_token_is_where_only_the_user_reads(run: Run, home: Path) -> None:
    before = contents(home)
    assert run("--yes", "--no-trial", "--gateway", "--client", "cursor")[0] == 0
    path = home / ".cursor" / "mcp.json"
    entry = json.loads(path.read_text())["mcpServers"]["callboard"]
    holder = ClientBook().find(entry["headers"]["Authorization"].removeprefix("Bearer "))
    assert holder is not None
    assert holder.name == "cursor"
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600
    assert run("--undo", "--yes")[0] == 0
    assert contents(home) == before


def test_what_the_client_wrote_since_stays(run: Run, home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    assert run("--yes", "--no-trial")[0] == 0
    path.write_bytes(path.read_bytes().replace(b'"x"', b'"y"'))
    # Run the setup again.
    assert run("--yes", "--no-trial")[0] == 0
    status, out, _ = run("--undo", "--yes")
    assert status == 0
    assert "has been changed since" in out
    assert json.loads(path.read_bytes()) == {"mcpServers": {"mine": {"command": "y"}}}
    assert (home / ".codex" / "config.toml").read_bytes() == CODEX


def test_a_broken_file_is_left_alone_and_the_others_are_done(run: Run, home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    path.write_bytes(b'{"mcpServers": {')
    before = contents(home)
    status, _, err = run("--yes", "--no-trial")
    assert status == 1
    assert "Cursor" in err
    assert path.read_bytes() == b'{"mcpServers": {'
    assert b"callboard" in (home / ".codex" / "config.toml").read_bytes()
    assert run("--undo", "--yes")[0] == 0
    assert contents(home) == before


@pytest.mark.parametrize("what", ["read-only", "link to a read-only file", "large"])
def test_a_file_that_cannot_be_written_is_left_alone_and_the_others_are_done(
    run: Run, home: Path, what: str
) -> None:
    path = home / ".cursor" / "mcp.json"
    if what == "large":
        path.write_bytes(b'{"a": "' + b"x" * (64 * 2**20) + b'"}')
    else:
        path.chmod(0o444)
    if what.startswith("link"):
        path.symlink_to(path.rename(home / "kept elsewhere.json"))
    before = contents(home)
    status, _, wrong = run("--yes", "--no-trial")
    assert status == 1
    assert "left Cursor alone" in wrong
    assert "read-only" in wrong or "too large" in wrong
    assert b"callboard" in (home / ".codex" / "config.toml").read_bytes()
    assert run("--undo", "--yes")[0] == 0
    assert contents(home) == before


@pytest.mark.slow
def test_what_a_client_keeps_besides_may_be_much(run: Run, home: Path) -> None:
    (home / ".claude.json").write_bytes(b'{"history": "' + b"x" * (20 * 2**20) + b'"}')
    before = contents(home)
    assert run("--yes", "--no-trial", "--client", "claude-code")[0] == 0
    assert b'"callboard"' in (home / ".claude.json").read_bytes()
    assert run("--undo", "--yes")[0] == 0
    assert contents(home) == before


@pytest.mark.parametrize("why", ["is read-only", "is not a file"])
def test_what_cannot_be_put_back_is_named_and_tried_again(run: Run, home: Path, why: str) -> None:
    before = contents(home)
    assert run("--yes", "--no-trial")[0] == 0
    path, aside = home / ".cursor" / "mcp.json", home / "aside.json"
    if why == "is read-only":
        path.chmod(0o444)
    else:
        path.rename(aside)
        path.mkdir()
    status, out, _ = run("--undo", "--yes")
    assert status == 1
    (line,) = [line for line in out.splitlines() if line.startswith(f"leave {path}")]
    assert why in line
    assert "--undo` again" in out
    assert (home / ".codex" / "config.toml").read_bytes() == CODEX
    if why == "is read-only":
        path.chmod(0o644)
    else:
        path.rmdir()
        aside.rename(path)
    assert run("--undo", "--yes")[0] == 0
    assert contents(home) == before


def test_clients_that_were_let_in_before_stay(run: Run, home: Path) -> None:
    _, token = ClientBook().make("mine")
    before = {key: value for key, value in contents(home).items() if not key.endswith(".lock")}
    assert run("--yes", "--no-trial")[0] == 0
    assert run("--undo", "--yes")[0] == 0
    assert ClientBook().find(token) is not None
    after = {key: value for key, value in contents(home).items() if not key.endswith(".lock")}
    assert {key: after[key] for key in before} == before
    assert not [key for key in after.keys() - before.keys() if after[key] is not None]


def test_the_first_undo_names_the_folders_that_existed_before(run: Run, home: Path) -> None:
    (data_folder() / "records").mkdir(parents=True)
    assert run("--yes", "--no-trial")[0] == 0
    leave = f"leave {data_folder()}: it existed before setup; delete it by hand"
    assert f"would {leave}" in run("--undo", "--dry-run")[1]
    status, out, _ = run("--undo", "--yes")
    assert (status, leave in out) == (0, True)
    assert (data_folder() / "records").is_dir()


def test_doctor_makes_no_folder_that_an_undo_would_leave(
    run: Run, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(home)
    main(["doctor"])
    assert f"records can be kept in {data_folder()}" in capsys.readouterr().out
    assert contents(home) == before


def test_where_nothing_is_it_says_so(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "nobody"))
    status, _, err = run("--yes")
    assert status == 1
    assert "no applications or clients were found here" in err
    status, _, err = run("--yes", "--host", "blender")
    assert status == 1
    assert "never started: blender" in err
    assert not (tmp_path / "nobody").exists()


def test_what_the_site_serves_is_not_copied(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAYA_APP_DIR", str(tmp_path / "maya"))
    (tmp_path / "maya" / "2026").mkdir(parents=True)
    assert "install callboard into Maya 2026" in run("--dry-run")[1]
    (tmp_path / "site" / "maya").mkdir(parents=True)
    monkeypatch.setenv("CALLBOARD_SITE", str(tmp_path / "site"))
    assert "copy nothing for maya: the site's folder serves it" in run("--dry-run")[1]
    status, out, err = run("--yes", "--no-trial")
    assert (status, "copied nothing for maya" in out) == (0, True), err
    assert list((tmp_path / "maya").rglob("*")) == [tmp_path / "maya" / "2026"]
    assert run("--undo", "--yes")[0] == 0
    assert (home / ".cursor" / "mcp.json").read_bytes() == CURSOR


def test_what_the_site_lacks_for_blender_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    (site / "blender" / "startup").mkdir(parents=True)
    (site / "blender" / "startup" / "serve_callboard.py").touch()
    monkeypatch.setenv("CALLBOARD_SITE", str(site))
    addon = site / "versions" / "1.2.3" / "blender" / "callboard_addon"
    for missing in (site / "version", addon):
        assert main(["doctor"]) == 1
        wrong = f"WRONG the site's folder doesn't serve Blender, because {missing} is missing"
        assert wrong in capsys.readouterr().out
        plan = run("--dry-run")[1]
        assert (
            f"copy nothing for blender: the site's folder is meant to serve it, but {missing}"
            in plan
        )
        (site / "version").write_text("1.2.3\n")
    addon.mkdir(parents=True)
    assert "doesn't serve Blender" not in (main(["doctor"]), capsys.readouterr().out)[1]
    assert "copy nothing for blender: the site's folder serves it" in run("--dry-run")[1]


def test_a_search_for_bundles_leaves_nothing_of_the_users(
    run: Run, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(home)
    assert run("--yes", "--no-trial")[0] == 0
    assert main(["install-skill", str(home / "no-such-folder")]) == 1
    capsys.readouterr()
    assert run("--undo", "--yes")[0] == 0
    assert contents(home) == before


def test_a_second_undo_names_what_came_since(run: Run) -> None:
    assert run("--yes", "--no-trial")[0] == 0
    assert run("--undo", "--yes")[0] == 0
    (data_folder() / "records").mkdir(parents=True)
    status, out, _ = run("--undo", "--yes")
    assert status == 0
    assert f"leave {data_folder()}: callboard made it while it ran" in out
    assert (data_folder() / "records").is_dir()


def test_entries_that_config_wrote_are_undone(
    run: Run, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "cursor", "--write", "--user"]) == 0, capsys.readouterr().err
    file = home / ".cursor" / "mcp.json"
    assert file.read_bytes() != CURSOR
    assert f"would remove callboard from {file}" in run("--undo", "--dry-run")[1]
    status, out, _ = run("--undo", "--yes")
    assert (status, f"remove callboard from {file}" in out) == (0, True)
    assert "callboard" not in file.read_text("utf-8")
    assert "nothing to undo" in run("--undo", "--yes")[1]


@pytest.mark.slow
def test_where_no_client_is_it_says_how_to_name_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "artist"))
    monkeypatch.setenv("MAYA_APP_DIR", str(tmp_path / "maya"))
    (tmp_path / "maya" / "2026").mkdir(parents=True)
    assert (
        "no client: none was found on this machine; specify one with --client NAME"
        in run("--dry-run")[1]
    )
    _, out, wrong = run("--yes")
    assert "start the application" in out, wrong
    assert "name your client: `callboard setup --client NAME`" in out
    assert "callboard config other" in out
    assert "restart your clients" not in out
