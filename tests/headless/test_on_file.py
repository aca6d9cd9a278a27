"""An agent's code over a file on disk, in a headless Blender that one call starts. The artist's own
application is a fake host."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import CALL_TIMEOUT, CAPABILITY_MISSING, INVALID_PARAMS
from callboard.ground.live_process import is_process_alive
from callboard.ground.png import Picture, encode
from callboard.host import HostIdentity
from callboard.workspace.containment import Root
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import FakeHost
from clients.panel_artist import Artist
from e2e.serving import Program, callboard, environment
from needed import needs
from serving import Served, served, text_of
from skills.scripting_host import ScriptingHost
from waiting import until

TOOL = "script_on_file__execute"
#: Seconds for anything that starts a Blender on a busy machine.
PATIENCE = 120.0

MADE = """
import os, sys
from pathlib import Path
import bpy

folder = Path(sys.argv[1])
trap = bpy.data.texts.new("trap.py")
trap.write(f"open({str(folder / 'sprung')!r}, 'w').close()")
trap.use_module = True
driver = bpy.data.objects["Cube"].driver_add("location", 0).driver
driver.expression = f"len([open({str(folder / 'sprung')!r}, 'w')])"
bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
bpy.data.images.load(str(folder / "outside.png")).use_fake_user = True
bpy.ops.wm.save_as_mainfile(filepath=str(folder / "roots" / "leads.blend"), relative_remap=False)
os._exit(0)  # Blender's module may hang when Python ends.
"""
#: Leaves the id of the process and of a program that it starts, and never ends.
ENDLESS = """
import os, subprocess, sys, time
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open({began!r} + ".part", "w") as file:
    file.write(f"{{os.getpid()}} {{other.pid}}")
os.rename({began!r} + ".part", {began!r})
print("began")
while True:
    time.sleep(1)
"""
#: Lines of a process that has opened its file, and has run the code.
OPENED = '{"event": "ready"}\n{"event": "opened"}'
RAN = (
    '{"event": "ran", "result": {"isError": false, "content": [], '
    '"structuredContent": {"language": "python", "value": 1}}}'
)


class BlenderArtist(ScriptingHost):
    """A fake host that says it is Blender, so that its calls start one."""

    def __init__(self) -> None:
        super().__init__()
        self._identity = HostIdentity(
            "blender", "Blender", "4.5", headless=False, program=(sys.executable, "-c")
        )
        self.ports["filesystem.write"].suffixes = (".blend",)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``shot.blend``, which contains scripts, and with ``roots/leads.blend``,
    which uses a file outside its folder."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "roots").mkdir()
    (folder / "outside.png").write_bytes(encode(Picture(2, 2, bytes(12))))
    subprocess.run([sys.executable, "-c", MADE, str(folder)], check=True, capture_output=True)
    assert not (folder / "sprung").exists()
    return folder


@pytest.fixture
def shot(made: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "shot.blend"
    copy.write_bytes((made / "shot.blend").read_bytes())
    return copy


@contextmanager
def serving(
    host: type[FakeHost] = BlenderArtist, **config: Any
) -> Iterator[tuple[Served, FakeClient]]:
    config = {"skills": True, "allow": ["script.execute"], **config}
    with served(host, **config) as server, server.client() as client:
        yield server, client


def run(client: FakeClient, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = client.call(TOOL, arguments)
    return result


def pids(began: Path) -> list[int]:
    until(began.exists, "the code", seconds=PATIENCE)
    return [int(pid) for pid in began.read_text("utf-8").split()]


def gone(processes: list[int]) -> bool:
    return not any(map(is_process_alive, processes))


# -- what it answers -------------------------------------------------------------------------------


@pytest.mark.slow
@needs("bpy")
def test_it_answers_as_script_execute_does_and_saves_nothing(shot: Path, made: Path) -> None:
    before = shot.read_bytes()
    code = (
        "print('seen')\n"
        "bpy.data.objects['Cube'].location.z = 5\n"
        "bpy.ops.mesh.primitive_cone_add()\n"
        "sorted(o.name for o in bpy.data.objects)"
    )
    with serving() as (_, client):
        params = {"arguments": {"file": str(shot), "code": code}, "name": TOOL}
        params["_meta"] = {"progressToken": "p"}
        answer = client.request("tools/call", params)["result"]
        steps = [one["params"]["message"] for one in client.wait_for("notifications/progress", 3)]
    assert answer["structuredContent"] == {
        "file": str(shot),
        "language": "python",
        "value": ["Camera", "Cone", "Cube", "Light"],
        "created": ["Cone"],
        "changed": ["Cube"],
        "stdout": "seen\n",
    }
    assert steps == [
        "starts Blender without its window",
        "opens shot.blend",
        "runs the code over shot.blend",
    ]
    # It is no undo step of the open scene.
    assert "callboard/undo" not in answer["_meta"]
    assert shot.read_bytes() == before
    assert not (made / "sprung").exists(), "a script in the file was run"


@pytest.mark.slow
@needs("bpy")
def test_an_error_has_its_line_and_nothing_is_saved(shot: Path, tmp_path: Path) -> None:
    target = tmp_path / "new.blend"
    with serving() as (_, client):
        code = "print('as far as here')\nbpy.data.objects['Cube'].location.z = 5\n1 / 0"
        result = run(client, file=str(shot), code=code, save_as=str(target))
        assert result["isError"]
        assert "ZeroDivisionError" in text_of(result)
        assert 'File "<script>", line 3' in text_of(result)
        assert "stdout:\nas far as here" in text_of(result)
        assert not target.exists()
        result = run(client, file=str(shot), code="import os; os._exit(3)", save_as=str(target))
        assert result["isError"]
        assert "ended with status 3, and nothing was saved" in text_of(result)
        assert not target.exists()
        result = run(client, file=str(shot), code="'x' * 9_000_000")
        assert "MB are sent" in text_of(result)


@pytest.mark.slow
@needs("bpy")
def test_it_saves_to_a_named_file_and_replaces_only_when_asked(shot: Path, tmp_path: Path) -> None:
    original, target = shot.read_bytes(), tmp_path / "out" / "new.blend"
    rename = "bpy.data.objects['Cube'].name = 'Box'"
    names = "sorted(o.name for o in bpy.data.objects)"
    with serving(roots=[str(tmp_path)]) as (_, client):
        saved = run(client, file="shot.blend", code=rename, save_as="out/new.blend")
        size = target.stat().st_size
        facts = {"path": str(target), "bytes": size, "replaced": False}
        assert saved["structuredContent"]["saved"] == facts
        assert shot.read_bytes() == original
        seen = run(client, file="out/new.blend", code=names)["structuredContent"]["value"]
        assert seen == ["Box", "Camera", "Light"]
        refused = run(client, file="shot.blend", code=rename, save_as="shot.blend")
        assert "overwrite: true" in text_of(refused)
        assert shot.read_bytes() == original
        saved = run(client, file="shot.blend", code=rename, save_as="shot.blend", overwrite=True)
        assert saved["structuredContent"]["saved"]["replaced"] is True
        assert shot.with_suffix(".blend1").read_bytes() == original
        assert shot.read_bytes() != original


# -- what it refuses before it starts anything -----------------------------------------------------


def test_what_can_be_foreseen_is_refused(tmp_path: Path) -> None:
    file, other = tmp_path / "a.blend", tmp_path / "b.blend"
    file.touch()
    other.touch()
    (tmp_path / "folder.blend").mkdir()
    with serving(roots=[str(tmp_path)]) as (server, client):
        server.on_main(lambda: server.host.ports["filesystem.write"].save(str(other)))
        for wrong, words in (
            ({"file": "none.blend"}, "there is no file"),
            ({"file": "folder.blend"}, "there is no file"),
            ({"file": "a.blend", "save_as": "b.usda"}, "must end in .blend"),
            ({"file": "a.blend", "save_as": "a.blend"}, "overwrite: true"),
            ({"file": "a.blend", "save_as": "folder.blend"}, "is a folder"),
            ({"file": "a.blend", "save_as": "b.blend", "overwrite": True}, "is open here"),
        ):
            result = run(client, code="1", **wrong)
            assert result["isError"], wrong
            assert words in text_of(result), wrong


def test_a_file_that_is_open_but_gone_is_no_error(tmp_path: Path) -> None:
    for name in ("a.blend", "b.blend", "open.blend"):
        (tmp_path / name).touch()
    with serving(starting("raise SystemExit('started')"), roots=[str(tmp_path)]) as (
        server,
        client,
    ):
        opened = tmp_path / "open.blend"
        server.on_main(lambda: server.host.ports["filesystem.write"].save(str(opened)))
        opened.unlink()
        result = run(client, file="a.blend", code="1", save_as="b.blend", overwrite=True)
        assert "started" in text_of(result)
        # The artist's next save would replace it.
        result = run(client, file="a.blend", code="1", save_as="open.blend")
        assert "is open here" in text_of(result)


def test_a_file_that_is_opened_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    file, target = tmp_path / "a.blend", tmp_path / "b.blend"
    file.touch()
    target.touch()
    began, going = tmp_path / "began", tmp_path / "going"
    program = f"""
import os, sys, time
print({OPENED!r}, flush=True)
input(), input()
open({str(began)!r}, "w").close()
while not os.path.exists({str(going)!r}):
    time.sleep(0.01)
print({RAN!r}, flush=True)
for order in sys.stdin:
    open({str(target)!r}, "w").write("saved")
"""
    call = {"file": str(file), "code": "1", "save_as": str(target), "overwrite": True}
    with serving(starting(program)) as (server, client):
        pending = client.start("tools/call", {"name": TOOL, "arguments": call})
        until(began.exists, "the code", seconds=PATIENCE)
        server.on_main(lambda: server.host.ports["filesystem.write"].save(str(target)))
        before = target.read_bytes()
        going.touch()
        assert "is open here" in text_of(pending.result(PATIENCE)["result"])
    assert target.read_bytes() == before


def test_hostile_paths_reach_nothing(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "a.blend").touch()
    (root / "a.blend").touch()
    with serving(roots=[str(root)], roots_policy="strict") as (_, client):
        for path in (
            "../outside/a.blend",
            "workspace://../outside/a.blend",
            "workspace://%2e%2e/outside/a.blend",
            str(outside / "a.blend"),
            "a\0.blend",
        ):
            for given in ({"file": path}, {"file": "a.blend", "save_as": path}):
                call = {"name": TOOL, "arguments": {"code": "1", **given}}
                response = client.request("tools/call", call)
                assert response["error"]["code"] == INVALID_PARAMS, given


def test_a_read_only_root_is_read_and_never_written(tmp_path: Path) -> None:
    library, work = tmp_path / "library", tmp_path / "work"
    library.mkdir()
    work.mkdir()
    (library / "a.blend").write_text("not a .blend file", "utf-8")
    roots = [str(work), Root(library.as_uri(), "library", str(library), read_only=True)]
    file = str(library / "a.blend")
    with serving(ScriptingHost, roots=roots) as (_, client):
        # The path is admitted. Only then does the fake host say that it can't be started.
        result = run(client, file=file, code="1", save_as="a.blend")
        assert "without its window" in text_of(result)
        call = {"name": TOOL, "arguments": {"code": "1", "file": file, "save_as": file}}
        response = client.request("tools/call", call)
        assert "read-only root" in response["error"]["message"]


def test_without_anybody_to_ask_it_is_refused(tmp_path: Path) -> None:
    began = tmp_path / "began"
    (tmp_path / "a.blend").touch()
    with serving(allow=[]) as (_, client):
        arguments = {"file": str(tmp_path / "a.blend"), "code": f"open({str(began)!r}, 'w')"}
        response = client.request("tools/call", {"name": TOOL, "arguments": arguments})
        assert response["error"]["code"] == CAPABILITY_MISSING
        assert response["error"]["data"]["missing"] == ["script.execute"]
    assert not began.exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "and saves nothing"),
        ({"save_as": "b.blend"}, "and saves to {folder}b.blend"),
        ({"save_as": "a.blend", "overwrite": True}, "and may replace {folder}a.blend"),
    ],
    ids=["nothing", "new", "over"],
)
def test_the_artist_reads_what_is_saved_where(
    given: dict[str, Any], words: str, tmp_path: Path
) -> None:
    (tmp_path / "a.blend").touch()
    folder = f"{tmp_path}{os.sep}"
    with serving(allow=[], roots=[str(tmp_path)]) as (server, client):
        artist = Artist(server)
        arguments = {"file": "a.blend", "code": "print(1)", **given}
        pending = client.start("tools/call", {"name": TOOL, "arguments": arguments})
        (question,) = until(lambda: artist.seen.questions, "the question")
        assert question.arguments["code"] == "print(1)"
        assert question.arguments["file"] == f"{folder}a.blend"
        over = f"runs code of its own over the file {folder}a.blend on disk"
        assert question.why == f"{over}, {words.format(folder=folder)}"
        artist.controls.answer(question.id, "refuse")
        assert "the artist refused it" in pending.result(20)["error"]["message"]


def test_a_long_path_keeps_the_question_short(tmp_path: Path) -> None:
    with serving(allow=[], roots=[str(tmp_path)]) as (server, client):
        artist = Artist(server)
        arguments = {"file": "a/" * 1500 + "b.blend", "code": "1", "save_as": "c.blend"}
        pending = client.start("tools/call", {"name": TOOL, "arguments": arguments})
        (question,) = until(lambda: artist.seen.questions, "the question")
        assert len(question.why) < 500
        assert f"{Path('a', 'b.blend')} on disk, and saves to" in question.why
        assert question.arguments["file"] == str(tmp_path / arguments["file"])
        artist.controls.answer(question.id, "refuse")
        assert "the artist refused it" in pending.result(20)["error"]["message"]


def test_a_host_that_cant_be_started_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    with serving(ScriptingHost) as (_, client):
        result = run(client, file=str(tmp_path / "a.json"), code="1")
        assert "can't start Fake Host without its window" in text_of(result)
        assert "scene__open_file" in text_of(result)


# -- the process -----------------------------------------------------------------------------------


@pytest.mark.slow
@needs("bpy")
def test_it_has_no_token_no_port_and_no_stdin(
    shot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_TOKEN", "secret")
    monkeypatch.chdir(tmp_path)
    # A file in the current folder isn't imported in place of a module.
    (tmp_path / "json.py").write_text("raise SystemExit('taken')", "utf-8")
    code = """
import os, sys
listening = {line.split()[9] for name in ("tcp", "tcp6") if os.path.exists(f"/proc/self/net/{name}")
    for line in open(f"/proc/self/net/{name}").readlines()[1:] if line.split()[3] == "0A"}
held = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
    if os.path.exists(f"/proc/self/fd/{fd}")] if os.path.isdir("/proc/self/fd") else []
{
    "variables": [name for name in os.environ if name.startswith("CALLBOARD")],
    "secret": any("secret" in word for word in sys.argv),
    "ports": [each for each in held if each.strip("socket:[]") in listening],
    "stdin": os.read(0, 10).decode(),
}
"""
    with serving() as (_, client):
        answer = run(client, file=str(shot), code=code)["structuredContent"]
    assert answer["value"] == {"variables": [], "secret": False, "ports": [], "stdin": ""}


@pytest.mark.slow
@needs("bpy")
def test_under_strict_a_file_that_leads_out_is_not_opened(made: Path) -> None:
    roots = made / "roots"
    with serving(roots=[str(roots)], roots_policy="strict") as (_, client):
        result = run(client, file="leads.blend", code="1")
        assert result["isError"]
        assert "uses files outside of the workspace" in text_of(result)
        assert "outside.png" in text_of(result)
    with serving(roots=[str(made)], roots_policy="strict") as (_, client):
        assert run(client, file="roots/leads.blend", code="1")["structuredContent"]["value"] == 1


@pytest.mark.slow
@needs("bpy")
@pytest.mark.skipif(os.name == "nt", reason="Windows has no groups of processes")
def test_it_ends_with_its_call(shot: Path, tmp_path: Path) -> None:
    def endless(name: str, **more: Any) -> tuple[Path, dict[str, Any]]:
        began = tmp_path / name
        code = ENDLESS.format(began=str(began))
        return began, {"name": TOOL, "arguments": {"file": str(shot), "code": code, **more}}

    with serving() as (server, client):
        began, call = endless("cancelled")
        client.start("tools/call", call, id=77)
        processes = pids(began)
        # The main thread is free meanwhile.
        assert server.on_main(server.host.scene.names) == []
        client.notify("notifications/cancelled", {"requestId": 77})
        until(lambda: gone(processes), "the end of the cancelled processes")

        began, call = endless("late", time_limit=20, save_as=str(tmp_path / "never.blend"))
        error = client.request("tools/call", call)["error"]
        assert error["code"] == CALL_TIMEOUT
        assert "It is ended" in error["message"]
        assert error["data"]["stdout"] == "began\n"
        until(lambda: gone(pids(began)), "the end of the late processes")
        assert not (tmp_path / "never.blend").exists()

        began, call = endless("stopped")
        client.start("tools/call", call)
        processes = pids(began)
        server.app.controls.stop()
        until(lambda: gone(processes), "the end of the stopped processes")


@pytest.mark.slow
@needs("bpy")
@pytest.mark.skipif(os.name == "nt", reason="Windows has no groups of processes")
def test_it_ends_when_its_server_is_killed(shot: Path, tmp_path: Path) -> None:
    began = tmp_path / "began"
    command = callboard("serve", "--host", "blender", "--allow", "script.execute")
    with (
        Program(command, environment(tmp_path / "home")) as program,
        FakeClient(program.url, program.token) as client,
    ):
        arguments = {"file": str(shot), "code": ENDLESS.format(began=str(began))}
        pending = client.start("tools/call", {"name": TOOL, "arguments": arguments})
        processes = pids(began)
        program.kill()
        until(lambda: gone(processes), "the end of the processes")
        assert pending.exception(20) is not None


def starting(program: str) -> type[FakeHost]:
    """Return a host whose calls start this Python program instead of an application."""

    class Starting(BlenderArtist):
        def __init__(self) -> None:
            super().__init__()
            command = (sys.executable, "-c", program)
            self._identity = HostIdentity("blender", "Blender", "4.5", program=command)

    return Starting


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("print('Blender 4.5'); raise SystemExit('no library')", "status 1, and nothing was saved"),
        ('print(\'{"event": "ran"}\', flush=True); input()', "answered out of turn"),
        ('print(\'{"event": "failed", "message": "no"}\', flush=True); input()', "no"),
        ("print('x' * 20_000_000, flush=True); input()", "sent something unreadable"),
        (
            'print(\'{"event": "ready"}\\n[1]\', flush=True); input(); input()',
            "sent something unreadable",
        ),
        (
            'print(\'{"event": "ready"}\\n{"event": "opened"}\\n\''
            '\'{"event": "ran", "result": 3}\', flush=True); input(); input(); input()',
            "sent something unreadable",
        ),
        (
            f"print({OPENED!r}, {RAN!r}, sep=chr(10), flush=True)\n"
            'print(\'{"event": "saved", "bytes": 1e999}\', flush=True); input(); input(); input()',
            "sent something unreadable",
        ),
        (
            f"print({OPENED!r}, {RAN!r}, sep=chr(10), flush=True)\n"
            'print(\'{"event": "saved", "bytes": 0}\', flush=True); input(); input(); input()',
            "was not saved",
        ),
    ],
    ids=[
        "ends",
        "out of turn",
        "failed",
        "too much",
        "not an object",
        "wrong result",
        "endless",
        "no file",
    ],
)
def test_whatever_the_process_says_is_an_answer(program: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "a.blend"
    file.touch()
    with serving(starting(program)) as (_, client):
        result = run(client, file=str(file), code="1", save_as=str(tmp_path / "b.blend"))
        assert result["isError"]
        assert words in text_of(result)


def test_only_a_few_run_at_once(tmp_path: Path) -> None:
    file = tmp_path / "a.blend"
    file.touch()
    began = f"open(os.path.join({str(tmp_path)!r}, f'began{{os.getpid()}}'), 'w').close()"
    with serving(starting(f"import os, time; {began}; time.sleep(600)")) as (server, client):
        call = {"name": TOOL, "arguments": {"file": str(file), "code": "1"}}
        pending = [client.start("tools/call", call) for _ in range(4)]
        until(lambda: len(list(tmp_path.glob("began*"))) == 4, "four processes")
        assert "already running over files" in text_of(run(client, file=str(file), code="1"))
        server.app.controls.stop()
        for each in pending:
            assert "error" in each.result(20)
    processes = [int(path.name.removeprefix("began")) for path in tmp_path.glob("began*")]
    until(lambda: gone(processes), "the end of the processes")


def test_as_a_job_it_is_cancelled_with_the_job(tmp_path: Path) -> None:
    file, began = tmp_path / "a.blend", tmp_path / "began"
    file.touch()
    wait = f"import os, time; open({str(began)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    with serving(starting(wait)) as (_, client):
        job = run(client, file=str(file), code="1", as_job=True)["structuredContent"]["job_id"]
        until(lambda: began.exists() and began.read_text("utf-8"), "the process")
        client.call("jobs__cancel", {"job_id": job})
        until(lambda: gone(pids(began)), "the end of the process")
