"""``host(ctx)`` in a tool reaches the client's platform or, in an installed bundle, this
application."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from server_bundles import skill_bundle

from callboard.bundles.files.host_resources import CAPABILITY, advertisement
from callboard.bundles.installed.install_folders import PROVIDED, user_bundles
from callboard.extensions import host
from serving import Served, served, text_of
from stateless_client import Stateless

SCRIPT = """
from callboard.extensions import HostCapabilityMissing, HostResourceError, host

async def main(ctx, uri=None):
    h = host(ctx)
    if not h.available:
        return {"available": False}
    try:
        if uri is None:
            found = (await h.list(mime_type="text/plain")).resources
            return {"names": [one.name for one in found], "uris": [one.uri for one in found]}
        return {"text": (await h.read(uri)).contents[0].text}
    except HostResourceError as error:
        return {"code": error.code, "data": error.data}
"""
OFFER = advertisement()
NOT_OFFERED: list[dict[str, Any]] = [
    {},
    {"extensions": {}},
    {"extensions": None},
    {"extensions": {CAPABILITY: True}},
    {"extensions": {CAPABILITY: {"read": True, "list": "yes"}}},
    {"extensions": {CAPABILITY: {"read": {"enabled": "true"}, "list": {"enabled": 1}}}},
    {"experimental": [CAPABILITY]},
]
OFFERED: list[dict[str, Any]] = [
    {"extensions": {CAPABILITY: OFFER}},
    {"experimental": {CAPABILITY: OFFER}},
    {"extensions": {CAPABILITY: "malformed"}, "experimental": {CAPABILITY: OFFER}},
]


def ids(values: list[dict[str, Any]]) -> list[str]:
    return [json.dumps(value)[:60] for value in values]


async def read(ctx: Any, uri: str = "files://x") -> dict[str, Any]:
    resources = host(ctx)
    if not resources.available:
        raise ValueError("This host can't read files. Pass the content inline via `seed_data`.")
    result = await resources.read(uri)
    return {"text": result.contents[0].text}


def content(params: dict[str, Any]) -> dict[str, Any]:
    if params["uri"] == "files://gone":
        return {"error": {"code": -32002, "message": "no", "data": {"uri": params["uri"]}}}
    entry = {"uri": params["uri"], "mimeType": "text/plain", "text": "theirs"}
    return {"contents": [entry]}


# -- against the client's platform, in both eras ---------------------------------------------------


@pytest.mark.parametrize("capabilities", OFFERED, ids=ids(OFFERED))
def test_a_session_whose_client_offers_is_read_from(capabilities: dict[str, Any]) -> None:
    answers = {"ai.nimblebrain/resources/read": content}
    with served() as running:
        running.tool("read", read)
        with running.client(capabilities, answers) as client:
            assert client.call("read")["structuredContent"] == {"text": "theirs"}
            gone = client.call("read", {"uri": "files://gone"})
            assert gone["isError"] is True


@pytest.mark.parametrize("capabilities", OFFERED, ids=ids(OFFERED))
def test_a_request_that_offers_is_asked_and_comes_back(capabilities: dict[str, Any]) -> None:
    with served() as running:
        running.tool("read", read)
        client = Stateless(running.client(), capabilities)

        def answered(answer: dict[str, Any]) -> dict[str, Any]:
            asking = client.call("read")
            assert asking["resultType"] == "input_required"
            ((key, ask),) = asking["inputRequests"].items()
            params = {"uri": "files://x"}
            assert ask == {"method": "ai.nimblebrain/resources/read", "params": params}
            again = {
                "name": "read",
                "arguments": {},
                "inputResponses": {key: answer},
                "requestState": asking["requestState"],
            }
            result: dict[str, Any] = client.request("tools/call", again)["result"]
            return result

        assert answered(content({"uri": "a"}))["structuredContent"] == {"text": "theirs"}
        refused = answered(content({"uri": "files://gone"}))
        assert refused["isError"] is True
        assert text_of(refused) == "no"
        assert refused["_meta"]["callboard/error"] == "HostResourceError"
        assert answered({"nonsense": 1})["isError"] is True


@pytest.mark.parametrize("capabilities", NOT_OFFERED, ids=ids(NOT_OFFERED))
def test_without_an_offer_nothing_is_sent_and_the_agent_is_told(
    capabilities: dict[str, Any],
) -> None:
    with served() as running:
        running.tool("read", read)
        with running.client(capabilities) as client:
            result = client.call("read")
            assert result["isError"] is True
            assert "inline via `seed_data`" in text_of(result)
            assert client.received == []
        alone = Stateless(running.client(), capabilities).call("read")
        assert alone["isError"] is True
        assert "inline via `seed_data`" in text_of(alone)


# -- against this application ----------------------------------------------------------------------


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "ours.txt").write_text("ours")
    user_bundles().install(skill_bundle(tmp_path, SCRIPT), PROVIDED)
    return folder


def listed(running: Served, client: Any) -> dict[str, Any]:
    content: dict[str, Any] = client.call("reader__run")["structuredContent"]
    return content


def test_an_installed_bundle_reads_the_workspace(project: Path) -> None:
    with served(skills=True, roots=[str(project)]) as running, running.client() as client:
        answer = listed(running, client)
        assert answer["names"] == ["ours.txt"]
        (uri,) = answer["uris"]
        assert client.call("reader__run", {"uri": uri})["structuredContent"] == {"text": "ours"}
        unknown = "files://fl_" + "0" * 24
        gone = client.call("reader__run", {"uri": unknown})["structuredContent"]
        assert gone == {"code": -32002, "data": {"uri": unknown}}
        alone = Stateless(running.client())
        assert listed(running, alone)["names"] == ["ours.txt"]


def test_the_clients_own_files_come_first(project: Path) -> None:
    def list_theirs(params: dict[str, Any]) -> dict[str, Any]:
        assert params["_meta"]["filter"] == {"mimeType": "text/plain"}
        return {"resources": [{"uri": "files://theirs", "name": "theirs.txt"}]}

    answers = {"ai.nimblebrain/resources/list": list_theirs}
    with (
        served(skills=True, roots=[str(project)]) as running,
        running.client({"extensions": {CAPABILITY: OFFER}}, answers) as client,
    ):
        assert listed(running, client)["names"] == ["theirs.txt"]


def test_the_workspace_is_the_clients_roots(project: Path) -> None:
    (project / "client").mkdir()
    (project / "client" / "client.txt").write_text("client's")
    answer = {"roots": [{"uri": (project / "client").as_uri()}]}
    with served(skills=True, roots=[str(project)]) as running:
        with running.client({"roots": {}}, {"roots/list": lambda params: answer}) as client:
            assert listed(running, client)["names"] == ["client.txt"]
        alone = Stateless(running.client(), {"roots": {}})
        asking = alone.call("reader__run")
        ((key, ask),) = asking["inputRequests"].items()
        assert ask == {"method": "roots/list"}
        params = {
            "name": "reader__run",
            "arguments": {},
            "inputResponses": {key: answer},
            "requestState": asking["requestState"],
        }
        result = alone.request("tools/call", params)["result"]
        assert result["structuredContent"]["names"] == ["client.txt"]


def test_what_the_artist_withdrew_is_not_offered(project: Path) -> None:
    config: dict[str, Any] = {"roots": [str(project)], "deny": ["filesystem.read"]}
    with served(skills=True, **config) as running, running.client() as client:
        assert listed(running, client) == {"available": False}


def test_a_skill_that_is_no_bundle_gets_nothing_of_ours(home: Path, tmp_path: Path) -> None:
    source = skill_bundle(tmp_path, SCRIPT)
    folder = tmp_path / "skills" / "reader"
    folder.parent.mkdir()
    source.rename(folder)
    (home / "bundles").mkdir(parents=True)
    with served(skills=True, skill_paths=[folder.parent]) as running, running.client() as client:
        assert listed(running, client) == {"available": False}
