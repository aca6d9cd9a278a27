"""``callboard call``: its arguments, its questions and its output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard.content import Audio, Image, Resource, Result
from callboard_programs.cli import main
from needed import need
from serving import served

GIVEN = {"name": "Würfel"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_arguments_may_come_through_a_pipe(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some shells, such as PowerShell, remove quotes from arguments. Text that they pipe may begin
    with a byte order mark."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))

    def echo(**given: Any) -> dict[str, Any]:
        return given

    with served(announce=True) as server:
        server.tool("echo", echo)
        done = subprocess.run(
            [sys.executable, "-m", "callboard", "call", "echo", "--json", "-"],
            input=json.dumps(GIVEN, ensure_ascii=False).encode(encoding),
            capture_output=True,
        )
    assert json.loads(done.stdout) == GIVEN, done.stderr


def test_arguments_may_come_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    (tmp_path / "given.json").write_text(json.dumps(GIVEN), encoding="utf-8")

    def echo(**given: Any) -> dict[str, Any]:
        return given

    with served(announce=True) as server:
        server.tool("echo", echo)
        assert main(["call", "echo", "--json", f"@{tmp_path / 'given.json'}"]) == 0
        assert json.loads(capsys.readouterr().out) == GIVEN
        assert main(["call", "echo", "--json", f"@{tmp_path / 'gone.json'}"]) != 0
        assert "can't be read" in capsys.readouterr().err


def test_a_job_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command shows the job's progress, returns its result, and fails if the job fails."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    let_go = asyncio.Event()

    async def held(ctx: Any) -> dict[str, Any]:
        ctx.progress(1, 2, "half way")
        await let_go.wait()
        return GIVEN

    def fails() -> None:
        raise RuntimeError("the lamp is \x1b[31mout")

    with served(announce=True) as server:
        server.tool("held", held, execution="async")
        server.tool("fails", fails, execution="async")
        assert main(["call", "held"]) == 0
        assert "job_id" in json.loads(capsys.readouterr().out)
        server.app.guest.loop.call_soon_threadsafe(let_go.set)
        assert main(["call", "held", "--wait"]) == 0
        assert json.loads(capsys.readouterr().out) == GIVEN
        assert main(["call", "fails", "--wait"]) == 1
        told = capsys.readouterr().err
        assert "RuntimeError: the lamp is \ufffd[31mout" in told
        assert "report --call" in told


def test_a_tools_text_never_controls_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lone surrogate, which can't be encoded, doesn't end the command either."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    odd = "\x9b2J\x7f\ud800"

    def tell(ctx: Any) -> dict[str, str]:
        ctx.progress(1, 2, "half\x1b]0;title\x07way")
        return {"text": odd}

    with served(announce=True) as server:
        server.tool("tell", tell)
        assert main(["call", "tell"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out) == {"text": odd}
    assert not {"\x9b", "\x7f", "\ud800"} & set(told.out)
    assert "way" in told.err
    assert "\x1b" not in told.err


def asking(ctx: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {
            "shot": {"type": "string", "title": "Shot", "minLength": 3},
            "take": {"type": "integer", "default": 1},
        },
        "required": ["shot"],
    }
    answer = ctx.elicit("Publish to which \x1b[31mshot?", schema)
    return {"accepted": answer.accepted, **answer.content}


def test_questions_are_answered_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    with served(announce=True) as server:
        server.tool("asking", asking)
        server.tool("later", asking, execution="async")
        for tool in (["asking"], ["later", "--wait"]):
            assert main(["call", *tool, "--answer", '{"shot": "sc010"}']) == 0
            told = json.loads(capsys.readouterr().out)
            assert told == {"accepted": True, "shot": "sc010"}
            assert main(["call", *tool, "--answer", "false"]) == 0
            assert json.loads(capsys.readouterr().out) == {"accepted": False}
            assert main(["call", *tool]) == 6
            told = json.loads(capsys.readouterr().out)["error"]
            assert told["kind"] == "unanswered"
            assert """--answer '{"shot": "…", "take": "…"}'""" in told["message"]
        assert main(["call", "asking", "--answer", "sc010"]) == 2
        assert "--answer is not JSON" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_questions_are_answered_at_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an invalid value the command asks again, and stdout holds nothing but the result."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    need("terminals")
    ours, theirs = os.openpty()
    with served(announce=True) as server:
        server.tool("asking", asking)
        os.write(ours, b"x\nsc010\n\n")
        done = subprocess.run(
            [sys.executable, "-m", "callboard", "call", "asking"],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=60,
        )
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    os.close(theirs)
    assert json.loads(done.stdout) == {"accepted": True, "shot": "sc010", "take": 1}
    assert "Publish to which \ufffd[31mshot?" in shown
    assert "minLength" in shown
    assert "take [1]: " in shown


def test_each_kind_of_failure_has_its_code_and_all_have_one_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))

    def fails() -> None:
        raise RuntimeError("the lamp is out")

    def failed(*words: str) -> tuple[int, str, dict[str, Any]]:
        status = main(["call", *words])
        told = capsys.readouterr()
        error = json.loads(told.out)["error"]
        assert f"callboard: {error['message']}".splitlines()[0] in told.err
        return status, error["kind"], error

    assert failed("fails")[:2] == (3, "unreachable")
    with served(announce=True) as server:
        server.tool("fails", fails)
        server.tool("barred", fails, required_capabilities=["teleport"])
        status, kind, error = failed("fails")
        assert (status, kind) == (1, "failed")
        assert "RuntimeError: the lamp is out" in error["message"]
        assert error["call"]
        assert failed("gone")[:2] == (2, "wrong")
        schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
        server.tool("counts", fails, {**schema, "required": ["count"]})
        assert failed("counts", "--json", '{"count": "many"}')[:2] == (2, "wrong")
        status, kind, error = failed("counts", "--json", '{"cuont": 1}')
        assert (status, kind) == (2, "wrong")
        assert "must have 'count', and not 'cuont'" in error["message"]
        assert failed("fails", "--json", "[]")[:2] == (2, "wrong")
        # Some Windows shells pass JSON like this, without its quotes.
        status, kind, error = failed("fails", "--json", "{count: 1}")
        assert (status, kind) == (2, "wrong")
        assert error["message"].endswith("remove the quotes: give @FILE, or give - and pipe it in")
        status, kind, error = failed("barred")
        assert (status, kind, error["code"]) == (4, "refused", -32001)
        assert error["data"]["missing"] == ["teleport"]


def test_pictures_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    pictures = [Image(b"one"), Resource("file:///a.txt", "zwei"), Audio(b"three")]

    def looks() -> Result:
        return Result(pictures, structured={"contrast": 1})

    with served(announce=True) as server:
        server.tool("looks", looks)
        server.tool("bare", lambda: pictures)
        assert main(["call", "looks"]) == 0
        told = capsys.readouterr()
        assert json.loads(told.out) == {"contrast": 1}
        assert "the answer contains a picture (image/png), a file (text/plain)" in told.err
        assert "--out FILE saves it" in told.err

        for _ in range(2):  # The second call overwrites the file.
            assert main(["call", "looks", "--out", "look.png"]) == 0
        told = capsys.readouterr()
        assert "a picture (image/png) is in look.png\n" in told.err
        kept = {path.name: path.read_bytes() for path in tmp_path.glob("look*")}
        assert kept == {"look.png": b"one", "look-2.png": b"zwei", "look-3.png": b"three"}

        for _ in range(2):  # The second file is saved next to the first.
            assert main(["call", "bare", "--out", "some/pictures/"]) == 0
            (shown, text, _) = json.loads(capsys.readouterr().out)
            assert "data" not in shown
            assert Path(shown["file"]).read_bytes() == b"one"
            assert Path(text["resource"]["file"]).read_bytes() == b"zwei"
        assert len(list((tmp_path / "some" / "pictures").iterdir())) == 6


def test_a_place_where_no_picture_can_be_saved_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command reports the problem before the call if it can, and otherwise with the result."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    calls = []

    def looks() -> Result:
        calls.append(1)
        return Result([Image(b"one")], structured={"contrast": 1})

    with served(announce=True) as server:
        server.tool("looks", looks)
        assert main(["call", "looks", "--out", str(tmp_path / "gone" / "look.png")]) == 2
        assert "there is no folder" in capsys.readouterr().err
        assert not calls
        assert main(["call", "looks", "--out", str(tmp_path / ("x" * 300))]) == 1
        told = capsys.readouterr()
        assert json.loads(told.out) == {"contrast": 1}
        assert told.err.startswith("callboard: ")


class Broken(Image):
    def block(self) -> dict[str, Any]:
        return {**super().block(), "data": "not base64"}


def test_a_broken_picture_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    with served(announce=True) as server:
        server.tool("broken", lambda: Broken(b""))
        assert main(["call", "broken"]) == 1
        assert "a picture (image/png) that is broken" in capsys.readouterr().err
