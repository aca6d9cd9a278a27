"""REST under /v1 uses the same service and the same checks as /mcp."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from urllib.parse import quote

import pytest

from callboard.calls.json_schema import Validator
from callboard.service.resources import ServedResource
from callboard_testing.fake_client import events
from callboard_testing.fake_host import DEADLINE
from serving import served
from skills.skill_tree import write_skill
from waiting import until

TOOLS = """\
tools:
- name: hello
  description: Greets somebody.
  affinity: any
  input_schema: {properties: {name: {type: string}}, required: [name]}
- {name: render, description: Needs what is not there., required_capabilities: [hologram]}
- {name: long, description: Takes its time., affinity: any, execution: async}
"""
PROMPTS = """\
prompts:
- name: greet
  description: How to greet.
  template: "Say {{word}} to {{who}}."
  arguments: [{name: who, required: true}, {name: word, default: hello}]
"""
FILES = {
    "tools.yaml": TOOLS,
    "prompts.yaml": PROMPTS,
    "scripts/hello.py": "def main(name):\n    return {'text': f'hello {name}'}\n",
    "scripts/render.py": "raise AssertionError('imported')\n",
    "scripts/long.py": """\
        import asyncio
        async def main(ctx):
            ctx.progress(1, 2, "half")
            await asyncio.Event().wait()
        """,
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))


class Rest:
    def __init__(self, running):
        self.running = running
        self.app = running.app
        self.client = running.client()

    def ask(self, method, path, value=None, headers=None):
        body = b"" if value is None else json.dumps(value).encode()
        return self.client.send(method, body, {"Accept": None, **(headers or {})}, f"/v1/{path}")

    def get(self, path):
        answer = self.ask("GET", path)
        assert answer.status == 200, answer.body
        assert answer.headers["content-type"] == "application/json"
        return json.loads(answer.body)

    def call(self, tool, arguments=None):
        answer = self.ask("POST", "call", {"tool": tool, "arguments": arguments or {}})
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    def problem(self, method, path, status, value=None, headers=None):
        answer = self.ask(method, path, value, headers)
        assert answer.status == status, answer.body
        assert answer.headers["content-type"] == "application/problem+json"
        problem = json.loads(answer.body)
        assert problem["status"] == status
        assert problem["title"]
        assert problem["detail"]
        return problem


@contextmanager
def rest(tmp_path, **config):
    write_skill(tmp_path, "s", block="tools: tools.yaml\nprompts: prompts.yaml", files=FILES)
    with served(skills=True, skill_paths=[tmp_path], **config) as running:
        yield Rest(running)


def test_health_and_readiness(tmp_path):
    with rest(tmp_path) as v1:
        health = v1.get("healthz")
        assert health["instance"] == v1.app.id
        assert health["host"] == v1.running.host.identity.kind
        # On a busy machine the server reports that it isn't ready until it has caught up.
        until(lambda: json.loads(v1.ask("GET", "readyz").body)["ready"] is True, "readiness")


def test_an_agents_token_acts_for_no_artist(tmp_path):
    with rest(tmp_path) as v1:
        act = {"do": "allow", "id": "x"}
        refused = v1.problem("POST", "artist/act", 403, act)
        assert "only this user's own page" in refused["detail"]


def test_a_paused_server_is_not_ready_and_lists_still_work(tmp_path):
    with rest(tmp_path) as v1:
        v1.running.on_main(lambda: setattr(v1.app.dispatcher, "paused", True))
        ready = v1.ask("GET", "readyz")
        assert (ready.status, json.loads(ready.body)["paused"]) == (503, True)
        call = {"tool": "s__hello", "arguments": {"name": "x"}}
        assert v1.problem("POST", "call", 503, call)["code"] == -31004
        assert "retry-after" in v1.ask("POST", "call", call).headers
        assert v1.get("tools")["total"] > 3


def test_a_blocked_host_is_not_ready(tmp_path):
    with rest(tmp_path) as v1, v1.running.thread.block("rendering"):

        def stalled():
            readiness = json.loads(v1.ask("GET", "readyz").body)
            return readiness["stalled_ms"] and readiness

        readiness = until(stalled, "a stalled host")
        assert readiness["ready"] is False
        assert readiness["blocked_by"] == "rendering"


def test_tools_are_listed_and_called_as_over_mcp(tmp_path):
    with rest(tmp_path) as v1, v1.running.client() as mcp:
        listed = mcp.request("tools/list")["result"]["tools"]
        assert v1.get("tools") == {"total": len(listed), "tools": listed}
        assert v1.get("tools/s__hello") in listed
        arguments = {"name": "you"}
        assert v1.call("s__hello", arguments) == mcp.call("s__hello", arguments)
        refused, again = (way.call("s__hello", {"name": 1}) for way in (v1, mcp))
        # Each failed call has its own number.
        first, second = refused.pop("_meta"), again.pop("_meta")
        assert first.pop("callboard/call") != second.pop("callboard/call")
        assert first == second == {"callboard/code": -32602}
        assert refused == again


def test_the_gate_is_the_same(tmp_path):
    with rest(tmp_path) as v1, v1.running.client() as mcp:
        error = mcp.request("tools/call", {"name": "s__render"})["error"]
        problem = v1.problem("POST", "call", 403, {"tool": "s__render"})
        assert (problem["code"], problem["detail"]) == (-32001, error["message"])
        assert problem["data"] == error["data"]
        assert problem["type"] == "urn:callboard:problem:capability-missing"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "nothing", 404),
        ("GET", "", 404),
        ("GET", "tools/s__nothing", 404),
        ("GET", "tools/%ff", 400),
        ("GET", "prompts/nothing", 404),
        ("GET", "prompts/s.greet", 400),
        ("GET", "prompts/s.greet?args=%7B", 400),
        ("GET", "prompts/s.greet?args=%5B%5D", 400),
        ("GET", "prompts/s.greet?args=" + "%5B" * 100_000, 400),
        ("GET", "prompts/s.greet?arguments=%7B%7D", 400),
        ("GET", "search", 400),
        ("GET", "search?q=", 400),
        ("GET", "search?q=a&q=b", 400),
        ("GET", "search?q=a&limit=0", 400),
        ("GET", "search?q=a&limit=many", 400),
        ("GET", "search?q=%ff", 400),
        ("GET", "resources/read", 400),
        ("GET", "resources/read?uri=no:thing", 404),
        ("GET", "jobs/nothing", 404),
        ("DELETE", "jobs/nothing", 404),
        ("GET", "jobs/nothing/events", 404),
        ("GET", "report", 404),
        ("POST", "tools", 405),
        ("DELETE", "call", 405),
        ("TRACE", "healthz", 405),
    ],
)
def test_what_cannot_be_served_is_a_problem(tmp_path, method, path, status):
    if len(path) > 1000:
        path = path[:30_000]
    with rest(tmp_path) as v1:
        v1.problem(method, path, status)


@pytest.mark.parametrize(
    "body", [[], {}, {"tool": 1}, {"tool": ""}, {"tool": "s__hello", "arguments": 1}, {"name": "x"}]
)
def test_a_call_needs_a_tool_and_arguments(tmp_path, body):
    with rest(tmp_path) as v1:
        assert v1.problem("POST", "call", 400, body)["code"] == -32602


def test_a_body_is_json(tmp_path):
    with rest(tmp_path) as v1:
        v1.problem("POST", "call", 415, {"tool": "s__hello"}, {"Content-Type": "text/plain"})
        answer = v1.client.send("POST", b"\xff{", path="/v1/call")
        assert (answer.status, json.loads(answer.body)["code"]) == (400, -32700)


def test_methods_and_head(tmp_path):
    with rest(tmp_path) as v1:
        assert v1.ask("POST", "tools").headers["allow"] == "GET, HEAD"
        got, head = v1.ask("GET", "tools"), v1.ask("HEAD", "tools")
        assert head.body == b""
        assert (head.status, head.headers["content-length"]) == (200, str(len(got.body)))
        assert v1.ask("HEAD", "nothing").status == 404
        assert set(v1.ask("PUT", "jobs/x").headers["allow"].split(", ")) == {
            "DELETE",
            "GET",
            "HEAD",
        }


def test_access_is_the_same_as_for_mcp(tmp_path):
    with rest(tmp_path) as v1:
        v1.problem("GET", "tools", 401, headers={"Authorization": None})
        v1.problem("GET", "tools", 401, headers={"Authorization": "Bearer wrong"})
        v1.problem("GET", "tools", 421, headers={"Host": "evil.example"})
        v1.problem("GET", "tools", 403, headers={"Origin": "https://evil.example"})


def test_prompts(tmp_path):
    with rest(tmp_path) as v1, v1.running.client() as mcp:
        listed = v1.get("prompts")
        assert listed["total"] == 1
        assert listed["prompts"] == mcp.request("prompts/list")["result"]["prompts"]
        assert listed["diagnostics"]["prompt_count"] == 1
        args = quote(json.dumps({"who": "Ann"}))
        rendered = v1.get(f"prompts/s.greet?args={args}")
        assert rendered["messages"][0]["content"]["text"] == "Say hello to Ann."
        assert v1.get(f"prompts/greet?args={args}") == rendered
        missing = v1.problem("GET", "prompts/greet", 400)
        assert missing["detail"] == "missing required argument: who"


def test_prompts_that_are_turned_off_are_not_there(tmp_path):
    with rest(tmp_path, enable_prompts=False) as v1:
        assert v1.problem("GET", "prompts", 404)["code"] == -32601
        v1.problem("GET", "prompts/s.greet", 404)


def test_skills_and_search(tmp_path):
    with rest(tmp_path) as v1:
        listed = v1.get("skills")
        assert listed["total"] == len(listed["skills"])
        one = next(skill for skill in listed["skills"] if skill["name"] == "s")
        assert one["loaded"] is True
        hits = v1.get("search?q=greets%20somebody&limit=1")
        assert [hit["name"] for hit in hits["hits"]] == ["s__hello"]


def test_resources(tmp_path):
    with rest(tmp_path) as v1:
        v1.app.resources.add(
            ServedResource("test://a", "a", lambda: "content", mime_type="text/plain")
        )
        listed = v1.get("resources")
        assert "test://a" in {resource["uri"] for resource in listed["resources"]}
        assert "skill://{name}/SKILL.md" in {r["uriTemplate"] for r in listed["templates"]}
        contents = v1.get("resources/read?uri=" + quote("test://a", safe=""))["contents"]
        assert contents == [{"uri": "test://a", "mimeType": "text/plain", "text": "content"}]


def test_a_job_is_followed_and_stopped(tmp_path):
    with rest(tmp_path) as v1:
        id = v1.call("s__long")["structuredContent"]["job_id"]

        def moving():
            job = v1.get(f"jobs/{id}")
            return "progress" in job and job

        job = until(moving, "the job's progress")
        assert (job["status"], job["progress"]["message"]) == ("working", "half")
        with closing(HTTPConnection(*v1.client.address, timeout=DEADLINE)) as connection:
            connection.request("GET", f"/v1/jobs/{id}/events", headers=v1.client.headers)
            told = events(connection.getresponse())
            assert next(told)["status"] == "working"
            assert v1.ask("DELETE", f"jobs/{id}").status == 200
            assert [job["status"] for job in told][-1] == "cancelled"
        assert v1.get(f"jobs/{id}")["status"] == "cancelled"
        again = v1.ask("GET", f"jobs/{id}/events").messages
        assert [job["status"] for job in again] == ["cancelled"]


def test_a_client_that_leaves_cancels_its_call(tmp_path):
    begun, ended = threading.Event(), threading.Event()

    async def hang(ctx):
        import asyncio

        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with rest(tmp_path) as v1:
        v1.running.tool("hang", hang)
        connection = HTTPConnection(*v1.client.address, timeout=DEADLINE)
        body = json.dumps({"tool": "hang"})
        connection.request("POST", "/v1/call", body, v1.client.headers)
        assert begun.wait(DEADLINE)
        connection.close()
        assert ended.wait(DEADLINE)


def test_a_tool_that_asks_its_client_says_where_it_can(tmp_path):
    def asks(ctx):
        return ctx.elicit("name?", {"type": "object", "properties": {}}).action

    with rest(tmp_path) as v1:
        v1.running.tool("asks", asks)
        result = v1.call("asks")
        assert result["isError"] is True
        assert "over MCP" in result["content"][0]["text"]


def test_a_report_is_there_where_records_are_kept(tmp_path):
    with rest(tmp_path, records=True) as v1:
        v1.problem("POST", "call", 403, {"tool": "s__render"})
        v1.problem("POST", "call", 404, {"tool": "s__nothing"})
        v1.app.records.flush()
        report = v1.get("report")
        schema = v1.get("openapi.json")["components"]["schemas"]["Report"]
        Validator(schema, name="report").check(report)
        # The document names exactly the members that exist, at every level.
        assert report.keys() == schema["properties"].keys()
        for name in ("topMissingCapabilities", "unknownTools", "slowestTools", "callsPerDay"):
            for entry in report[name]:
                assert entry.keys() == schema["properties"][name]["items"]["properties"].keys()
        missing = report["topMissingCapabilities"]
        assert [(entry["capability"], entry["source"]) for entry in missing] == [
            ("hologram", "refused")
        ]
        assert v1.get("report?since=30m")["topMissingCapabilities"] == missing
        assert "30m" in v1.problem("GET", "report?since=soon", 400)["detail"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows doesn't delete files that are open")
def test_records_that_cannot_be_read_are_told(tmp_path):
    with rest(tmp_path, records=True) as v1:
        v1.app.records.flush()
        database = v1.app.records.folder / "calls.db"
        for path in database.parent.glob("calls.db*"):
            path.unlink()
        database.write_bytes(b"garbage" * 1000)
        assert "can't be read" in v1.problem("GET", "report", 500)["detail"]


def test_a_missing_capability_can_be_asked_for(tmp_path):
    with rest(tmp_path, capture_missing_capabilities=True) as v1:
        name = v1.get("tools")["tools"][-1]["name"]
        assert name == "mcpeye_request_capability"
        assert v1.get(f"tools/{name}")["name"] == name
        assert v1.call(name, {"capability": "fly"})["isError"] is False


def test_the_document_names_every_route(tmp_path):
    with rest(tmp_path) as v1:
        document = v1.get("openapi.json")
        assert document["openapi"].startswith("3.1")
        assert document["servers"] == [{"url": v1.app.url.removesuffix("/mcp")}]
        described = {(m.upper(), p) for p, ms in document["paths"].items() for m in ms}
        assert described == {(route.method, route.path) for route in v1.app.rest.routes}
        ids = [one["operationId"] for ms in document["paths"].values() for one in ms.values()]
        assert len(ids) == len(set(ids))
        text = json.dumps(document)
        for reference in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
            assert reference in document["components"]["schemas"]


def test_arguments_of_a_prompt_that_are_no_json_are_named_in_the_sentence(tmp_path):
    with rest(tmp_path) as v1:
        detail = v1.problem("GET", "prompts/s.hello?args={", 400)["detail"]
        assert detail.startswith("args is not JSON: ")
        assert "the body" not in detail
