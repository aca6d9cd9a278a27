"""Calls to ``jobs__status`` that wait, and results that are too large for its answer."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

from callboard.clients.holder import LOCAL
from callboard.clients.owner import Owner
from callboard.content import Image, Json, Result
from callboard.jobs.jobs import TASKS, Job
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from serving import Served, served, text_of
from stateless_client import Stateless
from waiting import job_ended, until


def begin(client: FakeClient, tool: str, **arguments: Any) -> str:
    id: str = client.call(tool, arguments)["structuredContent"]["job_id"]
    return id


def status_calls(server: Served) -> int:
    calls = list(server.app.dispatcher.calls.values())
    return sum(call.tool.name == "jobs__status" and call.state == "running" for call in calls)


def test_a_change_is_dated() -> None:
    job = Job("tool", LOCAL)
    job.updated = job.created - timedelta(days=1)
    job.note("completed")
    assert job.describe()["updated"] >= job.describe()["created"]


def test_a_wait_ends_with_the_job() -> None:
    """While the call waits, the main thread and other calls keep running."""
    let_go = asyncio.Event()

    async def held() -> str:
        await let_go.wait()
        return "there"

    with served() as server, server.client() as client:
        server.tool("held", held, execution="async")
        id = begin(client, "held")
        params = {"name": "jobs__status", "arguments": {"job_id": id, "wait_s": 50}}
        waiting = client.start("tools/call", params)
        until(lambda: status_calls(server) == 1, "the status to wait")
        assert server.on_main(lambda: "free") == "free"
        assert client.call("jobs__status", {"job_id": id})["structuredContent"]["status"] == (
            "working"
        )
        assert not waiting.done()
        server.app.guest.loop.call_soon_threadsafe(let_go.set)
        job = waiting.result(DEADLINE)["result"]["structuredContent"]
        assert job["status"] == "completed"
        assert job["result"]["structuredContent"] == {"result": "there"}


def test_a_wait_ends_by_itself_and_tells_progress_meanwhile() -> None:
    async def on(ctx: Any) -> None:
        for done in range(10_000):
            ctx.progress(done, 10_000, f"frame {done}")
            await asyncio.sleep(0.01)

    with served() as server, server.client() as client:
        server.tool("on", on, execution="async")
        id = begin(client, "on")
        params = {
            "name": "jobs__status",
            "arguments": {"job_id": id, "wait_s": 0.5},
            "_meta": {"progressToken": "p"},
        }
        job = client.request("tools/call", params)["result"]["structuredContent"]
        assert job["status"] == "working"
        told = client.wait_for("notifications/progress")
        assert told[0]["params"]["progressToken"] == "p"
        assert told[0]["params"]["message"].startswith("frame")
        assert client.call("jobs__cancel", {"job_id": id})["isError"] is False


def test_a_wait_that_is_cancelled_leaves_the_job_alone() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    with served() as server, server.client() as client:
        server.tool("forever", forever, execution="async")
        id = begin(client, "forever")
        arguments = {"job_id": id, "wait_s": 50}
        params = {"name": "jobs__status", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": params}
        waiting = client.in_thread(lambda: client.post(message))
        until(lambda: status_calls(server) == 1, "the status to wait")
        client.notify("notifications/cancelled", {"requestId": "w"})
        assert waiting.result(DEADLINE).messages == []
        until(lambda: status_calls(server) == 0, "the status to end")
        assert server.app.jobs.get(id, Owner(LOCAL)).status == "working"
        until(
            lambda: not server.app.jobs.get(id, Owner(LOCAL))._changes.watched,
            "the end of the last listener",
        )


def test_a_wait_is_bounded() -> None:
    with served() as server, server.client() as client:
        for wrong in (-1, 51, "long"):
            result = client.call("jobs__status", {"job_id": "x", "wait_s": wrong})
            assert result["isError"] is True
            assert "wait_s" in result["content"][0]["text"]


def test_a_large_result_is_a_resource() -> None:
    async def large(size: int) -> Json:
        return {"text": "x" * size}

    with served() as server, server.client() as client:
        server.tool("large", large, execution="async")
        id = begin(client, "large", size=100_000)
        job = job_ended(client, id)
        assert "result" not in job
        answer = client.call("jobs__status", {"job_id": id})
        assert len(json.dumps(answer)) < 5_000
        (link,) = [block for block in answer["content"] if block["type"] == "resource_link"]
        assert link["uri"] == job["result_link"]["uri"]
        contents = client.request("resources/read", {"uri": link["uri"]})["result"]["contents"]
        result = json.loads(contents[0]["text"])
        assert result["structuredContent"] == {"text": "x" * 100_000}
        assert job["result_link"]["bytes"] > 100_000
        whole = client.call("jobs__status", {"job_id": id, "whole": True})["structuredContent"]
        assert whole["result"] == result


def test_no_result_is_read_of_a_job_that_runs_or_is_not_there() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    with served() as server, server.client() as client:
        server.tool("forever", forever, execution="async")
        for id in (begin(client, "forever"), "nobody's"):
            answer = client.request("resources/read", {"uri": f"job://{id}/result"})
            assert answer["error"]["code"] == -32002


def test_a_jobs_picture_is_shown_as_a_picture() -> None:
    picture = Image(b"\x89PNG" + bytes(60_000))

    async def drawn() -> Result:
        return Result(["a picture", picture], {"path": "a.png"})

    with served() as server, server.client() as client:
        server.tool("drawn", drawn, execution="async")
        id = begin(client, "drawn")
        answer = client.call("jobs__status", {"job_id": id, "wait_s": 50})
    assert answer["content"][-1] == picture.block()
    result = answer["structuredContent"]["result"]
    assert result["structuredContent"] == {"path": "a.png"}
    # The result isn't repeated as text.
    assert len(json.dumps(answer["structuredContent"])) < 1000


def test_a_client_that_asks_for_a_job_gets_one() -> None:
    async def drawn(as_job: bool = False) -> str:
        return "drawn"

    asking = {"type": "boolean", "format": "as-job"}
    schema = {"type": "object", "properties": {"as_job": asking}}
    with served() as server, server.client() as client:
        server.tool("drawn", drawn, schema)
        now = client.call("drawn", {"as_job": False})["structuredContent"]
        assert now == {"result": "drawn"}
        id = begin(client, "drawn", as_job=True)
        job = client.call("jobs__status", {"job_id": id, "wait_s": 50})["structuredContent"]
        assert job["result"]["structuredContent"] == {"result": "drawn"}
        assert client.call("drawn", {"as_job": "yes"})["isError"] is True


def test_a_job_whose_tool_failed_is_failed() -> None:
    """As a task, the job is reported as completed, because the tasks extension requires this if
    there is a result."""

    def fails() -> None:
        raise RuntimeError("the lamp is out")

    with served() as server, server.client() as client:
        server.tool("fails", fails, execution="async")
        id = begin(client, "fails")
        job = client.call("jobs__status", {"job_id": id, "wait_s": 50})["structuredContent"]
        assert job["status"] == "failed"
        assert "the lamp is out" in text_of(job["result"])
        stateless = Stateless(server.client(), {"extensions": {TASKS: {}}})
        task = stateless.request("tasks/get", {"taskId": id})["result"]
        assert (task["status"], task["result"]["isError"]) == ("completed", True)
        assert "error" not in task
