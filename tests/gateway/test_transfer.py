"""``instances__transfer`` between two hosts with the tests' own scenes and files."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from gateway_thread import running_gateway

from callboard.errors import HostError
from callboard_programs.gateway.transfer.pairs import identifier, items_of, paired
from callboard_programs.gateway.transfer.scene_facts import SceneFacts
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from e2e.serving import Program, callboard, environment
from needed import need
from serving import Served, served, text_of
from waiting import until

USD = {"format": "usd", "import": [".usdc"], "export": [".usdc"]}
FREE = {"type": "object"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Scene:
    """Objects by path. They are saved in a simple file format, which can't store ``lens``."""

    def __init__(self, up: str = "Y", metres: float = 1.0) -> None:
        self.info = {"units_per_meter": 1 / metres, "up_axis": up, "fps": 24.0}
        self.objects: dict[str, dict[str, Any]] = {}
        #: The animation keys of each object that has any.
        self.keys: dict[str, list[dict[str, Any]]] = {}
        #: Called during an import, to make it fail.
        self.trouble: Any = None
        self.before_export: Any = None
        self.after_export: Any = None
        #: True if the artist may be asked before a file is written or read.
        self.asks = False
        self.files: list[Path] = []

    def add(self, name: str, parent: str | None = None, **more: Any) -> None:
        place = {"translate": [0.0] * 3, "rotate": [0.0] * 3, "scale": [1.0] * 3}
        told = {"name": name, "path": name, "type": "mesh", "parent": parent, "visible": True}
        self.objects[name] = {**told, **place, "color": None, **more}

    def offer(self, host: Served) -> None:
        host.on_main(lambda: host.host.set_ports({**host.host.ports, "exchange": self}))
        reads = {"annotations": {"readOnlyHint": True}}
        host.tool("scene__scene_info", lambda: self.info, FREE, **reads)
        host.tool("scene__list_objects", self.listed, FREE, **reads)
        host.tool("scene__get_object", self.get, FREE, **reads)
        host.tool("exchange__formats", lambda: {"formats": [USD]}, FREE, **reads)
        host.tool("animation__list_keys", self.keys_of, FREE, **reads)
        changes = {"annotations": {"destructiveHint": self.asks}}
        host.tool("exchange__export", self.export, FREE, **changes)
        host.tool("exchange__import", self.take, FREE, **changes)

    def listed(self, offset: int = 0, limit: int = 100, details: bool = False) -> Any:
        return {"objects": list(self.objects.values())[offset:], "total": len(self.objects)}

    def get(self, name: str) -> Any:
        if name not in self.objects:
            raise HostError(f"there is no object '{name}'")
        return self.objects[name]

    def keys_of(self, name: str, offset: int, limit: int) -> Any:
        return {"keys": self.keys[name]}

    def export(self, path: str, allow_missing_uvs: bool, objects: Any = None) -> Any:
        assert allow_missing_uvs, "a texture without UVs must not stop the transfer"
        if self.before_export is not None:
            self.before_export()
        file = Path(path)
        file.parent.mkdir()
        lost = {"lens", "modifiers"}
        written = [{k: v for k, v in o.items() if k not in lost} for o in self.objects.values()]
        file.write_text(json.dumps(written))
        self.files.append(file)
        if self.after_export is not None:
            self.after_export()
        return {"path": path}

    def take(self, path: str) -> Any:
        self.files.append(Path(path))
        if self.trouble is not None:
            self.trouble()
        for each in json.loads(Path(path).read_text()):
            taken = each["name"] in self.objects
            if each["name"] == "Skin":
                each["modifiers"] = [{"name": "Cache", "type": "mesh_sequence_cache"}]
            self.add(
                each["name"] + "_1" * taken,
                **{k: each[k] for k in each if k not in ("name", "path")},
            )
        return {"created_count": 1}


@contextmanager
def hosts(source: Scene, far: Scene, *roots: list[str]) -> Iterator[list[Served]]:
    with (
        served(announce=True, roots=roots[0]) as first,
        served(announce=True, roots=roots[-1]) as second,
    ):
        source.offer(first)
        far.offer(second)
        yield [first, second]


@pytest.fixture
def client(home: Path) -> Iterator[FakeClient]:
    with running_gateway() as gateway, gateway.client() as client:
        yield client


@pytest.fixture
def work(home: Path) -> Path:
    folder = home / "work"
    folder.mkdir()
    return folder


def transfer(client: FakeClient, **more: Any) -> Any:
    return client.call("instances__transfer", {"from": "fake", "to": "fake_2", **more})


def told(result: Any) -> Any:
    assert not result["isError"], text_of(result)
    return result["structuredContent"]


def test_what_arrives_is_compared_and_what_is_lost_is_listed(
    client: FakeClient, work: Path
) -> None:
    source, far = Scene(), Scene()
    source.add("Rig", type="empty")
    source.add("Shot", "Rig", type="camera", lens=35.0, translate=[1.0, 2.0, 3.0])
    source.add("Skin", modifiers=[{"name": "Bend", "type": "armature"}])
    source.add("Aside")
    far.add("Rig")
    with hosts(source, far, [str(work)]):
        answer = told(transfer(client, objects=["Rig", "Skin"]))
    assert answer["transferred"] == 3
    assert {"from": "Rig", "to": "Rig_1"} in answer["renamed"]
    lost = {(each["what"], *each["objects"]) for each in answer["lost"]}
    assert lost == {
        ("lens", "Shot"),
        ("parent", "Shot"),
        ("modifiers", "Skin"),
        ("motion of the shape (linked to the file that is gone)", "Skin"),
    }
    assert answer["added"] == ["Aside"]
    assert [path.parent.parent for path in source.files] == [work]
    assert source.files == far.files
    assert list(work.iterdir()) == []


def test_without_a_root_of_both_nothing_is_written(client: FakeClient, home: Path) -> None:
    for name in ("here", "there"):
        (home / name).mkdir()
    source, far = Scene(), Scene()
    source.add("Cube")
    with hosts(source, far, [str(home / "here")], [str(home / "there")]):
        refused = transfer(client)
        assert refused["isError"]
        assert "add one folder as a root in both" in text_of(refused)
        assert source.files == []
        assert told(transfer(client, folder=str(home / "here")))["transferred"] == 1


def test_a_folder_outside_of_the_roots_is_said_to_be_outside(
    client: FakeClient, work: Path, home: Path
) -> None:
    outside = home / "outside"
    outside.mkdir()
    source, far = Scene(), Scene()
    source.add("Cube")
    with hosts(source, far, [str(work)]):
        refused = transfer(client, folder=str(outside))
        assert refused["isError"]
        why = text_of(refused)
        assert f"{outside} is outside of the roots of fake, which has {work}" in why
        assert "Give a folder below one of its writable roots" in why
        assert "exist" not in why
        assert source.files == []
        (work / "deeper").mkdir()
        assert told(transfer(client, folder=str(work / "deeper")))["transferred"] == 1


def test_an_instance_that_knows_no_usd_is_named(client: FakeClient, work: Path) -> None:
    source = Scene()
    source.add("Cube")
    with served(announce=True, roots=[str(work)]) as first, served(announce=True) as second:
        source.offer(first)
        second.on_main(lambda: second.host.set_ports({**second.host.ports, "exchange": source}))
        refused = transfer(client)
        assert refused["isError"]
        assert "fake_2 can't import USD now" in text_of(refused)
        assert source.files == []
        second.tool(
            "exchange__formats",
            lambda: {"formats": [{**USD, "import": [], "missing": "install it"}]},
        )
        assert "install it" in text_of(transfer(client))
        assert "both fake_2" in text_of(transfer(client, **{"from": "fake_2"}))


def test_what_fails_on_the_far_side_leaves_no_file(client: FakeClient, work: Path) -> None:
    source, far = Scene(), Scene()
    source.add("Cube")

    def fail() -> None:
        raise HostError("the file can't be read")

    far.trouble = fail
    with hosts(source, far, [str(work)]):
        refused = transfer(client)
        assert refused["isError"]
        assert "fake_2: " in text_of(refused)
        assert "can't be read" in text_of(refused)
        assert far.objects == {}
    assert list(work.iterdir()) == []


def test_without_a_session_it_is_the_same_client_to_both(client: FakeClient, work: Path) -> None:
    source, far = Scene("Z"), Scene("Z")
    source.add("Cube", translate=[1.0, 2.0, 3.0])
    with hosts(source, far, [str(work)]):
        call = {"name": "instances__transfer", "arguments": {"from": "fake", "to": "fake_2"}}
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"_meta": META, **call},
        }
        headers = {
            "Mcp-Session-Id": None,
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "instances__transfer",
        }
        answer = told(client.post(message, headers).message["result"])
    assert answer["converted"]["up_axis"] == ["Z", "Z"]
    assert answer["lost"] == []


@pytest.mark.parametrize(
    ("far", "what"),
    [(Scene("Z", 0.01), "place [0.01"), (Scene("Y"), "place [1.0, 2.0, 3.0]")],
    ids=["units", "up axis"],
)
def test_what_arrives_elsewhere_is_refused(
    client: FakeClient, work: Path, far: Scene, what: str
) -> None:
    source = Scene("Z")
    source.add("Cube", translate=[1.0, 2.0, 3.0])
    with hosts(source, far, [str(work)]):  # These hosts convert no units or axes.
        refused = transfer(client)
        assert refused["isError"]
        assert f"Cube: {what}" in text_of(refused)
        assert "instead of [1.0, 3.0, -2.0]" in text_of(refused)
        # These hosts have no undo.
        assert "The copies are still in fake_2" in text_of(refused)


def test_an_object_that_arrives_larger_is_refused(client: FakeClient, work: Path) -> None:
    source, far = Scene(), Scene()
    source.add("Cube", bounds={"min": [0.0, 0.0, 0.0], "max": [1.0, 1.0, 1.0]}, children=[])

    def grow() -> None:
        for each in json.loads(far.files[-1].read_text()):
            each["bounds"]["max"][0] = 1.01
            far.files[-1].write_text(json.dumps([each]))

    far.trouble = grow
    with hosts(source, far, [str(work)]):
        refused = transfer(client)
        assert refused["isError"]
        assert "Cube: world box [0.0, 0.0, 0.0, 1.01, 1.0, 1.0] instead of" in text_of(refused)


def test_a_key_that_arrives_elsewhere_is_refused(client: FakeClient, work: Path) -> None:
    source, far = Scene(), Scene()
    source.add("Runner", key_count=2)
    for scene, arrived in ((source, 8.0), (far, 0.08)):
        places = ((1, 0.0), (24, arrived))
        scene.keys["Runner"] = [{"frame": f, "translate": [x, 0.0, 0.0]} for f, x in places]
    with hosts(source, far, [str(work)]):
        refused = transfer(client)
    assert refused["isError"]
    assert "Runner: place at 24 [0.08, 0.0, 0.0] instead of [8.0, 0.0, 0.0]" in text_of(refused)


def test_a_box_in_another_unit_is_the_same_box(client: FakeClient, work: Path) -> None:
    source, far = Scene(metres=0.01), Scene()
    source.add("Cube", bounds={"min": [-100.0] * 3, "max": [200.0] * 3}, children=[])

    def convert() -> None:
        (cube,) = json.loads(far.files[-1].read_text())
        cube["bounds"] = {"min": [-1.0] * 3, "max": [2.0] * 3}
        # Each axis of a world transform is as long as one unit of the object.
        cube["scale"] = [0.01] * 3
        far.files[-1].write_text(json.dumps([cube]))

    far.trouble = convert
    with hosts(source, far, [str(work)]):
        assert told(transfer(client))["lost"] == []


def test_a_host_without_exchange_uses_its_usd_tools_and_keeps_the_selection(
    client: FakeClient, work: Path
) -> None:
    with (
        served(announce=True, skills=True, roots=[str(work)]) as first,
        served(announce=True, skills=True, roots=[str(work)]) as second,
    ):
        first.on_main(lambda: first.host.scene.create("cube", "Crate", {}))
        first.on_main(lambda: first.host.scene.create("sphere", "Ball", {}))
        first.on_main(lambda: first.host.scene.select(["Ball"]))
        second.on_main(lambda: second.host.scene.create("cube", "Crate", {}))
        answer = told(transfer(client, objects=["Crate"]))
        assert answer["transferred"] == 1
        assert [each["from"] for each in answer["renamed"]] == ["Crate"]
        assert first.on_main(first.host.scene.selection) == ["/Ball"]
        assert len(second.on_main(second.host.scene.names)) == 2
        call = {"instance": "fake_2", "tool": "scene__undo", "arguments": {}}
        assert len(told(client.call("tools__call", call))["undone"]) == 1
        assert second.on_main(second.host.scene.names) == ["/Crate"]
    assert list(work.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows can't halt a process")
def test_a_far_side_that_dies_in_the_middle_leaves_no_file(
    client: FakeClient, home: Path, work: Path
) -> None:
    need("pxr")
    source = Scene()
    source.add("Cube")
    command = [*callboard("serve", "--host", "openusd"), "--root", str(work)]
    with (
        served(announce=True, roots=[str(work)]) as first,
        Program(command, environment(home)) as far,
    ):
        source.offer(first)
        source.after_export = lambda: far.process.send_signal(signal.SIGSTOP)
        call = {
            "name": "instances__transfer",
            "arguments": {"from": "fake", "to": "openusd"},
            "_meta": {"progressToken": 1},
        }
        answering = client.start("tools/call", call)
        # The host was asked to import, but never will.
        told_so_far = client.wait_for("notifications/progress", 3)
        assert "importing" in told_so_far[-1]["params"]["message"]
        far.kill()
        result = answering.result(DEADLINE)["result"]
    assert result["isError"]
    assert "openusd: the host went away during this call" in text_of(result)
    assert list(work.iterdir()) == []


def asking(host: Served) -> Callable[[], None]:
    """Simulate an artist at the host who must be asked first. Return a function that makes the
    artist leave."""
    leave = host.app.controls.attend()
    host.app.controls.set_consent_policy("destructive", "ask")
    return leave


@pytest.mark.parametrize("side", [0, 1], ids=["source", "far"])
def test_what_either_artist_refuses_leaves_both_as_they_were(
    client: FakeClient, work: Path, side: int
) -> None:
    source, far = Scene(), Scene()
    source.add("Cube")
    source.asks, far.asks = side == 0, side == 1
    with hosts(source, far, [str(work)]) as both:
        host = both[side]
        leave = asking(host)
        call = {"name": "instances__transfer", "arguments": {"from": "fake", "to": "fake_2"}}
        answering = client.start("tools/call", call)
        host.app.controls.answer(question_of(host), "refuse")
        result = answering.result(DEADLINE)["result"]
        assert result["isError"]
        assert text_of(result).startswith(("fake: ", "fake_2: ")[side])
        assert "the artist refused it" in text_of(result)
        leave()
    assert (list(source.objects), list(far.objects)) == (["Cube"], [])
    assert far.files == []
    assert list(work.iterdir()) == []


@pytest.mark.parametrize("side", [0, 1], ids=["source", "far"])
def test_cancelled_while_an_artist_is_asked_it_leaves_both_as_they_were(
    client: FakeClient, work: Path, side: int
) -> None:
    source, far = Scene(), Scene()
    source.add("Cube")
    source.asks, far.asks = side == 0, side == 1
    with hosts(source, far, [str(work)]) as both:
        host = both[side]
        leave = asking(host)
        call = {"name": "instances__transfer", "arguments": {"from": "fake", "to": "fake_2"}}
        client.start("tools/call", call, id="going")
        question_of(host)
        client.notify("notifications/cancelled", {"requestId": "going"})
        until(lambda: not host.app.dispatcher.consent.questions, "no question")
        until(lambda: not list(work.iterdir()), "no file to be left")
        leave()
        assert (list(source.objects), list(far.objects)) == (["Cube"], [])
        # Neither side hangs.
        assert told(transfer(client))["transferred"] == 1


def test_cancelled_while_the_source_writes_no_file_stays(client: FakeClient, work: Path) -> None:
    source, far = Scene(), Scene()
    source.add("Cube")
    writes, goes_on = threading.Event(), threading.Event()

    def slowly() -> None:
        writes.set()
        assert goes_on.wait(DEADLINE)

    source.before_export = slowly
    with hosts(source, far, [str(work)]) as both:
        call = {"name": "instances__transfer", "arguments": {"from": "fake", "to": "fake_2"}}
        client.start("tools/call", call, id="going")
        assert writes.wait(DEADLINE)
        client.notify("notifications/cancelled", {"requestId": "going"})
        calls = both[0].app.dispatcher.calls
        until(
            lambda: "exchange__export" not in [one.tool.name for one in list(calls.values())],
            "the end of the call",
        )
        # A main thread that is writing can't be stopped. The file appears later, unless writing it
        # took so long that it was interrupted.
        goes_on.set()
        both[0].on_main(lambda: None)
        until(lambda: not list(work.iterdir()), "no file to be left")
        assert far.files == []


def question_of(host: Served) -> str:
    """Return the first question to the host's artist."""
    desk = host.app.dispatcher.consent
    until(lambda: desk.questions, "a question")
    return next(iter(desk.questions))


def test_a_folder_that_only_one_may_touch_leaves_nothing_there(
    client: FakeClient, home: Path
) -> None:
    for name in ("here", "there"):
        (home / name).mkdir()
    with (
        served(announce=True, skills=True, roots=[str(home / "here")]) as first,
        served(
            announce=True, skills=True, roots=[str(home / "there")], roots_policy="strict"
        ) as second,
    ):
        first.on_main(lambda: first.host.scene.create("cube", "Crate", {}))
        refused = transfer(client, folder=str(home / "here"))
        assert refused["isError"]
        assert text_of(refused).startswith("fake_2: ")
        assert "outside" in text_of(refused)
        assert second.on_main(second.host.scene.names) == []
        assert list((home / "here").iterdir()) == []


class Counted(dict[str, Any]):
    """Objects by path. ``looks`` counts the look-ups."""

    looks = 0

    def get(self, path: str, default: Any = None) -> Any:
        self.looks += 1
        return super().get(path, default)

    def __getitem__(self, path: str) -> Any:
        self.looks += 1
        return super().__getitem__(path)


MANY = 500


@pytest.mark.parametrize("named", ["b_{}.001", "b_{}", "{}"], ids=["new", "same", "other"])
def test_many_objects_are_found_again_without_comparing_each_with_each(named: str) -> None:
    def facts(name: str) -> SceneFacts:
        scene = Scene()
        for number in range(MANY):
            scene.add(name.format(number), translate=[float(number), 0.0, 0.0])
        return SceneFacts(1.0, "Y", 24.0, Counted(scene.objects), tuple(scene.objects))

    there, here = facts("b_{}"), facts(named)
    pairs = paired(there, items_of(there), here)
    assert len(pairs) == (0 if named == "{}" else MANY)
    assert all(
        there.objects[a.path]["translate"] == here.objects[b.path]["translate"]
        for a, b in pairs.items()
    )
    for each in (there, here):
        assert isinstance(each.objects, Counted)
        assert each.objects.looks < 50 * MANY


def test_a_name_in_any_script_is_known_again_however_a_host_writes_it() -> None:
    name = "W\u00fcrfel \u00df \u732b.001"
    by_byte = "".join(c if c.isascii() and c.isalnum() else "_" * len(c.encode()) for c in name)
    by_character = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    assert identifier(name) == identifier(by_byte) == identifier(by_character)
