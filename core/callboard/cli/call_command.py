"""``callboard call``: one tool call from the shell."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from callboard.cli.instance import choose
from callboard.cli.plain_text import plain, plain_json
from callboard.errors import PeerError
from callboard.jobs.tools import LONGEST_WAIT, STATUS
from callboard.transport.client import Client, RemoteError

_BAR = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tool")
    parser.add_argument(
        "--json",
        metavar="ARGS",
        default="{}",
        dest="arguments",
        help="- reads them from stdin, @FILE from a file",
    )
    parser.add_argument("--wait", action="store_true", help="for a job's end, and its result")
    parser.add_argument("--instance", metavar="ID", help="the id, its beginning, or the host")


def run(arguments: argparse.Namespace) -> int:
    given = _given(arguments.arguments)
    instance = choose(arguments.instance)
    params = {"name": arguments.tool, "arguments": given, "_meta": {"progressToken": "cli"}}
    try:
        with Client(instance.url, instance.token) as client:
            result = client.request("tools/call", params, _show)
            if arguments.wait:
                result = _waited(client, result)
    except RemoteError as error:
        detail = {"code": error.code, "message": error.message, "data": error.data}
        print(json.dumps({"error": detail}, indent=2), file=sys.stderr)
        return 1
    if result.get("isError"):
        for part in result.get("content", []):
            print(plain(part.get("text", "")), file=sys.stderr)
        _show_printed(result)
        if call_id := result.get("_meta", {}).get("callboard/call"):
            print(f"callboard report --call {call_id} shows it whole", file=sys.stderr)
        return 1
    _show_printed(result)
    shown = result.get("structuredContent", result.get("content"))
    print(plain_json(shown))
    return 0


def _given(text: str) -> dict[str, Any]:
    """The arguments, wherever they come from. Raises PeerError."""
    try:
        # Bytes: PowerShell may pipe UTF-16, or a mark before it, and JSON's reader sees that.
        if text == "-":
            given = json.loads(sys.stdin.buffer.read())
        elif text.startswith("@"):
            given = json.loads(Path(text[1:]).read_bytes())
        else:
            given = json.loads(text)
    except OSError as error:
        raise PeerError(f"{text[1:]} can't be read: {error.strerror}") from None
    except ValueError as error:
        raise PeerError(f"--json is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise PeerError("--json must be an object")
    return given


def _waited(client: Client, result: dict[str, Any]) -> dict[str, Any]:
    """What the job's call is answered with, where the answer is a job's handle."""
    job = result.get("structuredContent")
    if not isinstance(job, dict) or "job_id" not in job or job.get("status") != "working":
        return result
    asked = {"job_id": job["job_id"], "wait_s": LONGEST_WAIT, "whole": True}
    params = {"name": STATUS, "arguments": asked, "_meta": {"progressToken": "cli"}}
    while True:
        told = client.request("tools/call", params, _show)
        if told.get("isError"):
            return told
        job = told["structuredContent"]
        if job["status"] != "working":
            break
    if isinstance(ended := job.get("result"), dict):
        return ended
    if job["status"] == "input_required":
        why = "the job asks something that this command can't answer; jobs__cancel ends it"
    else:
        why = (job.get("error") or {}).get("message") or f"the job was {job['status']}"
    return {"content": [{"type": "text", "text": why}], "isError": True}


def _show_printed(result: dict[str, Any]) -> None:
    meta = result.get("_meta", {})
    for stream in ("stdout", "stderr"):
        if text := plain(meta.get(f"callboard/{stream}", "")):
            print(text, end="" if text.endswith("\n") else "\n", file=sys.stderr)


def _show(method: str, params: dict[str, Any]) -> None:
    if method == "notifications/message":
        data = params.get("data")
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        print(plain(f"{params.get('level')}: {text}"), file=sys.stderr)
    if method != "notifications/progress":
        return
    done, total = params.get("progress", 0), params.get("total")
    text = plain(params.get("message", ""))
    if total:
        filled = round(_BAR * min(1.0, done / total))
        line = f"[{'#' * filled}{'.' * (_BAR - filled)}] {done:g}/{total:g} {text}"
    else:
        line = f"{done:g} {text}"
    end = "\n" if total and done >= total else ""
    print(f"\r\x1b[K{line}" if sys.stderr.isatty() else line, end=end or "", file=sys.stderr)
    if not sys.stderr.isatty() and not end:
        print(file=sys.stderr)
    sys.stderr.flush()
