"""``tools/list`` stays short. It leaves out the output schemas of the tools that ship, and rarely
needed tools until their first call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from callboard.content import Json
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import FakeHost
from serving import served, text_of
from skills.skill_tree import write_skill
from waiting import until

#: Maximum number of bytes in ``tools/list`` with everything that ships for a host.
MOST_BYTES = 35_000
HOSTS = Path(__file__).resolve().parents[2] / "hosts"
SHAPE = "{type: object, properties: {n: {type: integer}}}"
TOOLS = f"tools:\n- {{name: go, description: Goes., output_schema: {SHAPE}}}\n"
FILES = {"tools.yaml": TOOLS, "scripts/go.py": "def main(): return {'n': 1}\n"}
RARE = "tools: tools.yaml\nload: when-called"


def listed(client: FakeClient) -> dict[str, Json]:
    tools: list[Json] = []
    cursor: dict[str, str] = {}
    while True:
        page = client.request("tools/list", cursor)["result"]
        tools += page["tools"]
        if "nextCursor" not in page:
            return {tool["name"]: tool for tool in tools}
        cursor = {"cursor": page["nextCursor"]}


@pytest.mark.parametrize("kind", ["openusd", "blender", "maya", "houdini", "3dsmax"])
def test_the_list_of_what_ships_is_short(kind: str) -> None:
    own = HOSTS / f"callboard_{kind.removeprefix('3ds')}" / "skills"

    class Shipping(FakeHost):
        @property
        def skill_paths(self) -> Sequence[str]:
            return [str(own)] if own.is_dir() else []

    config = {"skills": True, "capture_missing_capabilities": True}
    with served(lambda: Shipping(kind=kind), **config) as server, server.client() as client:
        tools = listed(client)
        size = len(json.dumps(list(tools.values()), ensure_ascii=False, separators=(",", ":")))
        assert "scene__create_primitive" in tools
        assert size <= MOST_BYTES, f"{size} bytes are too many; mark a skill `load: when-called`"


def shipping(folder: Path) -> type[FakeHost]:
    write_skill(folder, "rare", block=RARE, files=FILES)

    class Shipping(FakeHost):
        @property
        def skill_paths(self) -> Sequence[str]:
            return [str(folder)]

    return Shipping


def test_a_rare_skill_is_found_and_loaded_by_its_first_call(tmp_path: Path) -> None:
    with served(shipping(tmp_path), skills=True) as server, server.client() as client:
        told = client.initialize()["result"]["instructions"]
        assert "skills__search finds more tools than are listed" in told
        client.listen()
        assert "rare__go" not in listed(client)
        hits = client.call("skills__search", {"query": "rare"})["structuredContent"]["hits"]
        assert ("rare__go", False) in [(hit["name"], hit["loaded"]) for hit in hits]
        assert client.call("rare__go")["structuredContent"] == {"n": 1}
        assert "rare__go" in listed(client)
        assert client.wait_for("notifications/tools/list_changed")


def test_a_call_in_a_batch_loads_its_skill(tmp_path: Path) -> None:
    with served(shipping(tmp_path), skills=True) as server, server.client() as client:
        result = client.call("batch__run", {"calls": [{"tool": "rare__go"}]})
        assert result["structuredContent"]["results"][0]["result"] == {"n": 1}


def test_nothing_is_loaded_while_the_artist_paused(tmp_path: Path) -> None:
    with served(shipping(tmp_path), skills=True) as server, server.client() as client:
        server.app.guest.loop.call_soon_threadsafe(server.app.dispatcher.pause)
        until(lambda: server.app.dispatcher.paused, "the pause")
        assert client.request("tools/call", {"name": "rare__go"})["error"]["code"] == -31004
        assert "rare__go" not in server.app.tools


def test_calls_load_only_so_many_tools(tmp_path: Path) -> None:
    many = "tools:\n" + "".join(f"- {{name: t{n}, description: Does.}}\n" for n in range(101))
    scripts = {f"scripts/t{n}.py": "def main(): return {}\n" for n in range(101)}
    write_skill(tmp_path, "many", files={"tools.yaml": many, **scripts})
    with served(skills=True, skill_paths=[tmp_path]) as server, server.client() as client:
        error = client.request("tools/call", {"name": "many__t1"})["error"]
        assert "call skills__load with name 'many'" in error["message"]
        assert client.call("skills__load", {"name": "many"})["isError"] is False
        assert client.call("many__t1")["isError"] is False


def test_what_ships_tells_its_output_schema_when_asked(tmp_path: Path) -> None:
    with served(skills=True) as server, server.client() as client:
        assert not [name for name, tool in listed(client).items() if "outputSchema" in tool]
        asked = {"name": "scene", "tool": "scene__transform"}
        told = client.call("skills__describe", asked)["structuredContent"]
        assert "translate" in told["input_schema"]["properties"]
        assert "object" in told["output_schema"]["properties"]
        wrong = client.call("skills__describe", {"name": "scene", "tool": "nothing"})
        assert "it has: " in text_of(wrong)


def test_what_others_wrote_is_listed_whole(tmp_path: Path) -> None:
    write_skill(tmp_path, "own", files=FILES)
    with served(skills=True, skill_paths=[tmp_path]) as server, server.client() as client:
        assert listed(client)["own__go"]["outputSchema"]["properties"] == {"n": {"type": "integer"}}
