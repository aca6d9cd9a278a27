"""The findings of ``callboard doctor`` about the gateway."""

from __future__ import annotations

import json
import os
from time import time

import pytest
from gateway_thread import running_gateway

from callboard.transport.http.listener import bound
from callboard.transport.instances import Instance, announce
from callboard_programs.cli import main
from callboard_programs.gateway.running_gateway import folder


def told(capsys: pytest.CaptureFixture[str]) -> list[tuple[bool, str]]:
    capsys.readouterr()
    main(["doctor", "--json"])
    rows = json.loads(capsys.readouterr().out)
    return [(row["ok"], row["message"]) for row in rows if "gateway" in row["message"]]


def test_one_that_runs_and_then_has_ended(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys) == []
    with running_gateway(None) as gateway:
        assert told(capsys) == [
            (True, f"the gateway is running at {gateway.url} (pid {os.getpid()})")
        ]
    ((good, line),) = told(capsys)
    assert good
    assert line.startswith(f"no gateway is running at {gateway.url}, where one ran before")
    assert "`callboard gateway`" in line


def test_one_that_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with bound("127.0.0.1", 0, 1) as taken:  # This socket accepts connections, but never answers.
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        announce(Instance("silent", "gateway", "Gateway", url, "t", os.getpid(), time()), folder())
        ((good, line),) = told(capsys)
    assert not good
    assert line.startswith(f"the gateway at {url} doesn't answer: end its process, {os.getpid()}")


def test_one_that_died_is_told_where_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    url = "http://127.0.0.1:1/mcp"
    announce(Instance("dead", "gateway", "Gateway", url, "t", 2**22 + 1, time()), folder())
    ((good, line),) = told(capsys)
    assert good
    assert line.startswith("no gateway is running at ")
