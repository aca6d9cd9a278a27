"""``callboard call``: one tool call from the shell."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from callboard.cli.instance import choose
from callboard.errors import PeerError
from callboard.transport.client import Client, RemoteError

_BAR = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tool")
    parser.add_argument(
        "--json", metavar="ARGS", default="{}", dest="arguments", help="- reads them from stdin"
    )
    parser.add_argument("--instance", metavar="ID", help="the id, its beginning, or the host")


def run(arguments: argparse.Namespace) -> int:
    try:
        # Bytes: PowerShell may pipe UTF-16, or a mark before it, and JSON's reader sees that.
        given = json.loads(
            sys.stdin.buffer.read() if arguments.arguments == "-" else arguments.arguments
        )
    except ValueError as error:
        raise PeerError(f"--json is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise PeerError("--json must be an object")
    instance = choose(arguments.instance)
    params = {"name": arguments.tool, "arguments": given, "_meta": {"progressToken": "cli"}}
    try:
        with Client(instance.url, instance.token) as client:
            result = client.request("tools/call", params, _show)
    except RemoteError as error:
        detail = {"code": error.code, "message": error.message, "data": error.data}
        print(json.dumps({"error": detail}, indent=2), file=sys.stderr)
        return 1
    if result.get("isError"):
        for part in result.get("content", []):
            print(part.get("text", ""), file=sys.stderr)
        _show_printed(result)
        if call_id := result.get("_meta", {}).get("callboard/call"):
            print(f"callboard report --call {call_id} shows it whole", file=sys.stderr)
        return 1
    _show_printed(result)
    shown = result.get("structuredContent", result.get("content"))
    print(json.dumps(shown, indent=2, ensure_ascii=False))
    return 0


def _show_printed(result: dict[str, Any]) -> None:
    meta = result.get("_meta", {})
    for stream in ("stdout", "stderr"):
        if text := meta.get(f"callboard/{stream}"):
            print(text, end="" if text.endswith("\n") else "\n", file=sys.stderr)


def _show(method: str, params: dict[str, Any]) -> None:
    if method == "notifications/message":
        data = params.get("data")
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        print(f"{params.get('level')}: {text}", file=sys.stderr)
    if method != "notifications/progress":
        return
    done, total = params.get("progress", 0), params.get("total")
    text = params.get("message", "")
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
