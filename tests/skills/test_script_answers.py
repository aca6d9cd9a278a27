"""The answers of ``script__execute``: the code's value, its output, and its changes to the
scene."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from callboard.errors import CALL_TIMEOUT
from callboard_testing.fake_client import FakeClient
from serving import Served, served, text_of
from skills.scripting_host import ScriptingHost


@contextmanager
def scripting() -> Iterator[tuple[Served, FakeClient]]:
    """Yield a server and its client. The server is started inside the test, because pytest replaces
    the streams after the fixtures have run."""
    with served(ScriptingHost, skills=True, allow=["script.execute"]) as server:
        server.on_main(lambda: server.host.scene.create("cube", "Old", {}))
        with server.client() as client:
            yield server, client


def run(client: FakeClient, code: str, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = client.call("script__execute", {"code": code, **arguments})
    return result


def test_what_it_prints_and_its_value_are_in_the_answer() -> None:
    with scripting() as (_, client):
        code = "import sys\nprint('one')\nprint('two', file=sys.stderr)\n[1, (2, 3)]"
        assert run(client, code)["structuredContent"] == {
            "language": "python",
            "value": [1, [2, 3]],
            "stdout": "one\n",
            "stderr": "two\n",
        }


def test_what_it_printed_is_in_the_answer_when_it_raises() -> None:
    with scripting() as (_, client):
        result = run(client, "print('as far as here')\n1 / 0")
        assert result["isError"] is True
        assert "ZeroDivisionError" in text_of(result)
        assert "stdout:\nas far as here\n" in text_of(result)


def test_a_long_print_lacks_its_middle() -> None:
    with scripting() as (_, client):
        printed = run(client, "for n in range(9000): print(n)")["structuredContent"]["stdout"]
        assert len(printed) < 11_000
        assert printed.startswith("0\n1\n")
        assert printed.endswith("8999\n")
        assert "characters left out]" in printed


def test_the_answer_names_what_changed_in_the_scene() -> None:
    with scripting() as (_, client):
        made = run(client, "scene.create('cube', 'New', {})")["structuredContent"]
        assert made["created"] == ["/New"]
        moved = run(client, "scene.set_transform('Old', [1, 2, 3], None, None)")
        assert moved["structuredContent"]["changed"] == ["/Old"]
        gone = run(client, "scene.delete(['Old'])")["structuredContent"]
        assert gone["deleted"] == ["/Old"]
        assert "changed" not in gone
        nothing = run(client, "len(scene.names())")["structuredContent"]
        assert nothing == {"language": "python", "value": 1}


def test_a_parent_is_not_changed_by_what_comes_below_it() -> None:
    with scripting() as (_, client):
        code = "scene.set_parent(scene.create('cube', 'New', {}), 'Old', False)"
        assert run(client, code)["structuredContent"]["created"] == ["/Old/New"]
        moved = run(client, "scene.set_transform('New', [1, 2, 3], None, None)")
        assert moved["structuredContent"]["changed"] == ["/Old/New"]


def test_names_are_bounded_and_counted() -> None:
    with scripting() as (_, client):
        code = "for n in range(700): scene.create('cube', f'c{n}', {})"
        answer = run(client, code)["structuredContent"]
        assert len(answer["created"]) == 100
        assert answer["counts"] == {"created": 700}
        assert "more than 500 objects" in answer["not_compared"]


def test_a_time_limit_ends_it_and_puts_the_scene_back() -> None:
    with scripting() as (server, client):
        code = "print('began')\nscene.create('cube', 'New', {})\nwhile True: pass"
        arguments = {"code": code, "time_limit": 0.2}
        error = client.request("tools/call", {"name": "script__execute", "arguments": arguments})
        assert error["error"]["code"] == CALL_TIMEOUT
        assert "within 0.2 s" in error["error"]["message"]
        assert error["error"]["data"]["stdout"] == "began\n"
        # The main thread is free again, and the artist's scene is as it was.
        assert server.on_main(server.host.scene.names) == ["/Old"]


def test_a_time_limit_is_a_number_of_seconds() -> None:
    with scripting() as (_, client):
        for limit in (0, -1, 3601, "long"):
            result = run(client, "1", time_limit=limit)
            assert result["isError"] is True
            assert "time_limit" in text_of(result)
