"""Both sides of the host resources extension, connected to each other and to misbehaving peers."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from callboard.bundles.files import mime_types
from callboard.bundles.files.file_store import FileStore
from callboard.bundles.files.host_resources import (
    CAPABILITY,
    LIST_METHOD,
    MAX_SIZE,
    READ_METHOD,
    HostResourcesPlatform,
    advertisement,
)
from callboard.bundles.files.token_bucket import TokenBuckets
from callboard.errors import CallboardError, InvalidParams, MethodNotFound
from callboard.extensions import HostCapabilityMissing, HostResourceError, host


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class World:
    """A platform with two workspaces."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        (self.root / "notes.md").write_text("# Grüße", encoding="utf-8")
        (self.root / "hero.usda").write_bytes(b"\x00\xffusd")
        (self.root / "sub").mkdir()
        (self.root / "sub" / "shots.json").write_text('{"a": 1}')
        (folder / "other").mkdir()
        (folder / "other" / "secret.txt").write_text("secret")
        self.uploads = folder / "uploads"
        self.stores = {
            "mine": FileStore([self.root], self.uploads / "mine"),
            "theirs": FileStore([folder / "other"], self.uploads / "theirs"),
        }
        self.clock = Clock()
        self.platform = HostResourcesPlatform(self.stores.get, TokenBuckets(clock=self.clock))

    def ask(self, method: str, params: Any, workspace: str = "mine") -> dict[str, Any]:
        return self.platform.handle(method, params, workspace=workspace, bundle="rigging")

    def read(self, uri: Any, workspace: str = "mine") -> dict[str, Any]:
        (content,) = self.ask(READ_METHOD, {"uri": uri}, workspace)["contents"]
        return content  # type: ignore[no-any-return]

    def listed(self, workspace: str = "mine", **wanted: Any) -> dict[str, str]:
        params = {"_meta": {"filter": wanted}} if wanted else {}
        resources = self.ask(LIST_METHOD, params, workspace)["resources"]
        return {resource["name"]: resource["uri"] for resource in resources}

    def fails(self, method: str, params: Any, workspace: str = "mine") -> CallboardError:
        with pytest.raises(CallboardError) as caught:
            self.ask(method, params, workspace)
        return caught.value


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_advertisement_is_the_contracts() -> None:
    assert advertisement() == {
        "read": {"enabled": True, "range": False, "maxSize": 10485760},
        "list": {"enabled": True},
        "write": {"enabled": False},
        "schemes": ["files"],
    }
    advertisement()["read"].clear()
    assert advertisement()["read"]["maxSize"] == 10485760


def test_text_comes_as_text_and_anything_else_as_base64(world: World) -> None:
    files = world.listed()
    assert sorted(files) == ["hero.usda", "notes.md", "shots.json"]
    assert world.read(files["notes.md"]) == {
        "uri": files["notes.md"],
        "mimeType": "text/markdown",
        "text": "# Grüße",
    }
    assert world.read(files["shots.json"])["text"] == '{"a": 1}'
    assert world.read(files["hero.usda"]) == {
        "uri": files["hero.usda"],
        "mimeType": "model/vnd.usda",
        "blob": base64.b64encode(b"\x00\xffusd").decode(),
    }


def test_text_in_another_encoding_arrives_whole(world: World) -> None:
    (world.root / "old.txt").write_bytes("Grüße".encode("latin-1"))
    content = world.read(world.listed()["old.txt"])
    assert "text" not in content
    assert base64.b64decode(content["blob"]) == "Grüße".encode("latin-1")


def test_ids_say_nothing_about_paths_and_stay_the_same(world: World) -> None:
    files = world.listed()
    assert all(re.fullmatch(r"files://fl_[0-9a-f]{24}", uri) for uri in files.values())
    assert len(set(files.values())) == 3
    assert world.listed() == files
    elsewhere = FileStore([world.root], world.uploads / "theirs")
    assert {file.uri for file in elsewhere.list_files()}.isdisjoint(files.values())


def test_an_id_outlives_a_restart(world: World) -> None:
    notes = world.listed()["notes.md"]
    again = FileStore([world.root], world.uploads / "mine")
    file, data = again.read(notes.removeprefix("files://"), MAX_SIZE)
    assert (file.name, data) == ("notes.md", "# Grüße".encode())
    assert {file.uri for file in again.list_files()} == set(world.listed().values())


def test_a_sidecar_tags_its_file_and_is_not_listed(world: World, tmp_path: Path) -> None:
    (world.root / "hero.usda.tags").write_text("character\n approved \n\n")
    (world.root / "alone.tags").write_text("a file of its own")
    files = world.listed()
    assert sorted(files) == ["alone.tags", "hero.usda", "notes.md", "shots.json"]
    assert world.listed(tags=["approved", "character"]) == {"hero.usda": files["hero.usda"]}
    assert world.listed(tags=["approved", "prop"]) == {}
    if os.name != "nt":
        (tmp_path / "elsewhere").write_text("secret")
        (world.root / "notes.md.tags").symlink_to(tmp_path / "elsewhere")
        assert world.listed(tags=["secret"]) == {}


def test_exactly_ten_mebibytes_pass_and_one_byte_more_does_not(world: World) -> None:
    path = world.root / "big.bin"
    path.write_bytes(b"\0" * MAX_SIZE)
    uri = world.listed()["big.bin"]
    assert len(base64.b64decode(world.read(uri)["blob"])) == 10485760
    with path.open("ab") as file:
        file.write(b"\0")
    error = world.fails(READ_METHOD, {"uri": uri})
    assert error.code == -32005
    assert error.data == {"uri": uri, "size": 10485761, "maxSize": 10485760}


def test_unknown_foreign_and_unreadable_get_one_answer(world: World) -> None:
    foreign = world.listed("theirs")["secret.txt"]
    gone = world.listed()["notes.md"]
    (world.root / "notes.md").unlink()
    asked = [foreign, gone, "files://fl_" + "0" * 24, "files://", "files://../project/hero.usda"]
    asked += [f"files://{world.root}/hero.usda", "files://fl_x", "files://nul\0"]
    errors = [world.fails(READ_METHOD, {"uri": uri}) for uri in asked]
    errors.append(world.fails(READ_METHOD, {"uri": foreign}, "no such workspace"))
    for uri, error in zip([*asked, foreign], errors, strict=True):
        assert error.code == -32002
        assert error.data == {"uri": uri}
        assert error.message == errors[0].message
        assert str(world.root) not in error.message
    assert world.read(foreign, "theirs")["text"] == "secret"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")
def test_a_file_that_became_a_link_or_a_pipe_is_not_found(world: World, tmp_path: Path) -> None:
    files = world.listed()
    secret = tmp_path / "other" / "secret.txt"
    (world.root / "notes.md").unlink()
    (world.root / "notes.md").symlink_to(secret)
    (world.root / "hero.usda").unlink()
    os.mkfifo(world.root / "hero.usda")
    (world.root / "sub" / "shots.json").unlink()
    (world.root / "sub").rmdir()
    (tmp_path / "other" / "shots.json").write_text("secret")
    (world.root / "sub").symlink_to(tmp_path / "other")
    for uri in files.values():
        assert world.fails(READ_METHOD, {"uri": uri}).code == -32002
    assert world.listed() == {}


@pytest.mark.parametrize(
    "uri", ["entities://fl_1", "file:///etc/passwd", "FILES://x", "/etc/passwd", "", "files:x"]
)
def test_another_scheme_is_refused(world: World, uri: str) -> None:
    error = world.fails(READ_METHOD, {"uri": uri})
    assert error.code == -32602
    assert error.data == {"uri": uri, "supported": ["files"]}


@pytest.mark.parametrize("params", [None, {}, {"uri": None}, {"uri": 7}, {"uri": ["files://x"]}])
def test_a_read_without_a_uri_is_refused(world: World, params: Any) -> None:
    assert world.fails(READ_METHOD, params).code == -32602


def test_filters_are_exact_and_all_have_to_hold(world: World) -> None:
    store = world.stores["mine"]
    store.put("a.png", b"1", tags=["texture", "hero"])
    store.put("b.png", b"2", tags=["texture"])
    assert sorted(world.listed(mimeType="image/png")) == ["a.png", "b.png"]
    assert sorted(world.listed(tags=["texture"])) == ["a.png", "b.png"]
    assert sorted(world.listed(tags=["texture", "hero"])) == ["a.png"]
    assert sorted(world.listed(mimeType="text/markdown", tags=["texture"])) == []
    assert sorted(world.listed(mimeType="image/*")) == []
    assert len(world.listed(scheme="files", tags=[])) == 5
    assert world.listed("no such workspace") == {}


@pytest.mark.parametrize(
    ("wanted", "data"),
    [
        ({"tags": "texture"}, {"receivedType": "string"}),
        ({"tags": {"a": 1}}, {"receivedType": "object"}),
        ({"tags": 7}, {"receivedType": "number"}),
        ({"tags": ["a", 7]}, {"receivedType": "number"}),
        ({"tags": True}, {"receivedType": "boolean"}),
        ({"mimeType": ["a"]}, {"receivedType": "array"}),
        ({"scheme": "entities"}, {"scheme": "entities", "supported": ["files"]}),
        ("all", {"receivedType": "string"}),
        (["tags"], {"receivedType": "array"}),
    ],
)
def test_malformed_filters_are_refused(world: World, wanted: Any, data: dict[str, Any]) -> None:
    error = world.fails(LIST_METHOD, {"_meta": {"filter": wanted}})
    assert error.code == -32602
    assert error.data == data


def test_there_are_no_pages(world: World) -> None:
    assert world.fails(LIST_METHOD, {"cursor": "2"}).code == -32602
    assert world.ask(LIST_METHOD, {"cursor": "", "_meta": None})["resources"]


def test_the_request_after_the_burst_has_to_wait(world: World) -> None:
    for _ in range(500):
        world.ask(LIST_METHOD, {"_meta": {"filter": {"mimeType": "none"}}}, "theirs")
        world.fails(READ_METHOD, {"uri": 7}, "theirs")  # an invalid request counts too
    error = world.fails(LIST_METHOD, {}, "theirs")
    assert error.code == -32004
    assert error.data == {"retryAfterMs": 10}
    world.ask(LIST_METHOD, {})  # each workspace has its own limit
    world.platform.handle(LIST_METHOD, {}, workspace="theirs", bundle="other")
    world.clock.now += 0.004
    assert world.fails(LIST_METHOD, {}, "theirs").data == {"retryAfterMs": 6}
    world.clock.now += 0.0061
    world.ask(LIST_METHOD, {}, "theirs")
    world.clock.now += 3600
    for _ in range(1000):
        world.ask(LIST_METHOD, {"_meta": {"filter": {"tags": ["none"]}}}, "theirs")
    assert world.fails(LIST_METHOD, {}, "theirs").code == -32004


def test_another_method_is_not_found(world: World) -> None:
    with pytest.raises(MethodNotFound):
        world.ask("ai.nimblebrain/resources/write", {})
    with pytest.raises(InvalidParams):
        world.ask(LIST_METHOD, ["x"])


def test_uploads_keep_their_ids_and_tags(world: World) -> None:
    store = world.stores["mine"]
    first = store.put("brief.pdf", b"1", tags=["brief"])
    second = store.put("brief.pdf", b"2")
    assert first.id != second.id
    store.tag(second.id, ["later"])
    (tagged,) = [file for file in store.list_files() if file.name == "notes.md"]
    store.tag(tagged.id, ["note"])
    again = {file.id: file for file in FileStore([world.root], world.uploads / "mine").list_files()}
    assert again[first.id].tags == {"brief"}
    assert again[second.id].tags == {"later"}
    assert again[tagged.id].name == "notes.md"
    assert again[first.id].mime_type == "application/pdf"
    for name in ("", "..", "a/b", "a\\b", "a\nb", "C:x"):
        with pytest.raises(ValueError, match="isn't a file name"):
            store.put(name, b"")


def test_uploads_inside_a_root_are_listed_once(tmp_path: Path) -> None:
    store = FileStore([tmp_path, tmp_path / "sub"], tmp_path / ".callboard" / "uploads")
    visible = FileStore([tmp_path, tmp_path / "sub"], tmp_path / "uploads")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("a")
    (tmp_path / ".hidden").write_text("h")
    store.put("b.txt", b"b")
    assert sorted(file.name for file in store.list_files()) == ["a.txt", "b.txt"]
    visible.put("c.txt", b"c")
    assert sorted(file.name for file in visible.list_files()) == ["a.txt", "c.txt"]


def test_an_index_that_lies_opens_nothing(world: World, tmp_path: Path) -> None:
    file_id = "fl_" + "a" * 24
    uploads = world.uploads / "mine"
    uploads.mkdir(parents=True, exist_ok=True)
    secret = tmp_path / "other" / "secret.txt"
    lie = {file_id: {"path": str(secret)}, "x": 1}
    (uploads / "index.json").write_text(json.dumps(lie))
    store = FileStore([world.root], uploads)
    with pytest.raises(KeyError):
        store.read(file_id, MAX_SIZE)
    (uploads / "index.json").write_text("not json")
    assert len(FileStore([world.root], uploads).list_files()) == 3


def test_kinds_of_files() -> None:
    for name, mime, text in [
        ("a.txt", "text/plain", True),
        ("A.JSON", "application/json", True),
        ("a.gltf", "model/gltf+json", True),
        ("a.svg", "image/svg+xml", True),
        ("a.yaml", "application/yaml", True),
        ("a.mtlx", "application/xml", True),
        ("a.usdz", "model/vnd.usdz+zip", False),
        ("a.tar.gz", "application/octet-stream", False),
        ("a.exr", "image/x-exr", False),
        ("noextension", "application/octet-stream", False),
        (".json", "application/octet-stream", False),
        ("a.unheard-of", "application/octet-stream", False),
    ]:
        assert mime_types.guess(name) == mime
        assert mime_types.is_text(mime) is text


def test_text_types_in_any_dress() -> None:
    assert mime_types.is_text("Application/JSON; charset=utf-8")
    assert mime_types.is_text("application/x-yaml")
    assert not mime_types.is_text("application/jsonsomething")


# The bundle's side


class Ctx:
    """A tool's context. Its client has declared ``capabilities``, and replies with ``answer``."""

    def __init__(self, capabilities: Any, answer: Any = None) -> None:
        self.client_capabilities = capabilities
        self.answer = answer
        self.asked: list[tuple[str, Any]] = []

    async def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        self.asked.append((method, params))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


OFFER = {"extensions": {CAPABILITY: advertisement()}}


class InThisProcess:
    """A context for :func:`callboard.extensions.host` that asks the platform directly."""

    def __init__(self, platform: HostResourcesPlatform) -> None:
        self._platform = platform
        self.client_capabilities = OFFER

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        return self._platform.handle(method, params, workspace="mine", bundle="rigging")


async def seed_tool(seed_uri: str | None, seed_data: str | None, ctx: Any) -> str:
    """The seed's example with its import renamed."""
    h = host(ctx)
    if seed_uri and h.available:
        result = await h.read(seed_uri)
        content = result.contents[0].text
    elif seed_data:
        content = seed_data
    elif seed_uri and not h.available:
        raise ValueError("Pass file contents inline via `seed_data` instead.")
    else:
        raise ValueError("Provide `seed_data` or `seed_uri`.")
    assert content is not None
    return content


def test_both_ends_talk_to_each_other(world: World) -> None:
    ctx = InThisProcess(world.platform)

    async def talk() -> None:
        h = host(ctx)
        assert (h.available, h.list_available) == (True, True)
        assert h.supports_scheme("files")
        assert not h.supports_scheme("entities")
        (note,) = (await h.list(mime_type="text/markdown")).resources
        assert (note.name, note.mime_type) == ("notes.md", "text/markdown")
        assert await seed_tool(note.uri, None, ctx) == "# Grüße"
        (model,) = (await h.list(mime_type="model/vnd.usda")).resources
        content = (await h.read(model.uri)).contents[0]
        assert content.text is None
        assert content.data == b"\x00\xffusd"
        assert (await h.list(tags=["none"])).resources == ()
        assert len((await h.list()).resources) == 3
        with pytest.raises(HostResourceError) as caught:
            await h.read("entities://x")
        assert caught.value.code == -32602
        assert caught.value.data == {"uri": "entities://x", "supported": ["files"]}

    asyncio.run(talk())


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"extensions": {}},
        {"extensions": None},
        {"extensions": []},
        {"extensions": {CAPABILITY: True}},
        {"extensions": {CAPABILITY: {}}},
        {"extensions": {CAPABILITY: {"read": True, "list": ["enabled"]}}},
        {"extensions": {CAPABILITY: {"read": {"enabled": "yes"}, "list": {"enabled": 1}}}},
        {"extensions": {CAPABILITY: {"read": {"enabled": False}}}},
        {"extensions": {CAPABILITY: {"schemes": "files"}}},
        {"experimental": {CAPABILITY: None}},
        {"extensions": {"ai.nimblebrain/other": advertisement()}},
        None,
    ],
)
def test_no_offer_and_a_malformed_one_are_the_same(capabilities: Any) -> None:
    ctx = Ctx(capabilities)
    h = host(ctx)
    assert (h.available, h.list_available, h.supports_scheme("files")) == (False, False, False)
    for ask in (lambda: h.read("files://x"), lambda: h.list()):
        with pytest.raises(HostCapabilityMissing) as caught:
            asyncio.run(ask())
        assert caught.value.capability_key == CAPABILITY
        assert "inline" in caught.value.message
    assert ctx.asked == []
    with pytest.raises(ValueError, match="seed_data"):
        asyncio.run(seed_tool("files://x", None, ctx))
    assert asyncio.run(seed_tool("files://x", "inline", ctx)) == "inline"


def test_reading_and_listing_are_offered_apart() -> None:
    h = host(Ctx({"extensions": {CAPABILITY: {"list": {"enabled": True}}}}))
    assert (h.available, h.list_available) == (False, True)


def test_the_older_slot_is_read_where_the_newer_has_nothing() -> None:
    assert host(Ctx({"experimental": {CAPABILITY: advertisement()}})).available
    assert host(Ctx({"extensions": {}, "experimental": {CAPABILITY: advertisement()}})).available
    newer = {CAPABILITY: {"read": {"enabled": False}}}
    both = {"extensions": newer, "experimental": {CAPABILITY: advertisement()}}
    assert not host(Ctx(both)).available


def test_what_goes_over_the_wire() -> None:
    ctx = Ctx(OFFER, {"resources": []})
    h = host(ctx)
    asyncio.run(h.list())
    asyncio.run(h.list(scheme="files", mime_type="image/png", tags=("a", "b")))
    asyncio.run(h.list(tags=[]))
    ctx.answer = {"contents": [{"uri": "files://x", "text": ""}]}
    assert asyncio.run(h.read("files://x")).contents[0].text == ""
    assert ctx.asked == [
        (LIST_METHOD, {}),
        (
            LIST_METHOD,
            {"_meta": {"filter": {"scheme": "files", "mimeType": "image/png", "tags": ["a", "b"]}}},
        ),
        (LIST_METHOD, {"_meta": {"filter": {"tags": []}}}),
        (READ_METHOD, {"uri": "files://x"}),
    ]


def test_the_hosts_error_keeps_its_code_and_data() -> None:
    refusal = CallboardError("slow down", code=-32004, data={"retryAfterMs": 12})
    with pytest.raises(HostResourceError) as caught:
        asyncio.run(host(Ctx(OFFER, refusal)).read("files://x"))
    assert (caught.value.code, caught.value.data) == (-32004, {"retryAfterMs": 12})


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        "text",
        {},
        {"contents": None},
        {"contents": {}},
        {"contents": ["x"]},
        {"contents": [{"text": "no uri"}]},
        {"contents": [{"uri": 7, "text": ""}]},
        {"contents": [{"uri": "files://x"}]},
        {"contents": [{"uri": "files://x", "text": 7}]},
    ],
)
def test_a_hosts_nonsense_is_an_error_of_its_own(answer: Any) -> None:
    with pytest.raises(HostResourceError, match="the host sent"):
        asyncio.run(host(Ctx(OFFER, answer)).read("files://x"))


def test_a_blob_that_is_none_says_so_when_it_is_wanted() -> None:
    answer = {"contents": [{"uri": "files://x", "blob": "%%%"}]}
    content = asyncio.run(host(Ctx(OFFER, answer)).read("files://x")).contents[0]
    with pytest.raises(HostResourceError, match="base64"):
        _ = content.data
