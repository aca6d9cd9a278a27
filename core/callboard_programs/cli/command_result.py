"""Ends a command that calls a tool: prints the answer on stdout, and reports every failure in the
same way."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from callboard.content import Json
from callboard.errors import UNKNOWN_TOOL, CallboardError
from callboard.ground.plain_text import plain, plain_json
from callboard_programs.cli.progress_bar import bar, clear
from callboard_programs.cli.result_files import files_in, keep, require_place
from callboard_programs.client import tool_call
from callboard_programs.client.tool_call import content_of, failure

#: The command's exit code for each kind of failure. 0 means success, and 130 means Ctrl+C.
EXITS = {
    tool_call.FAILED: 1,
    tool_call.WRONG: 2,
    tool_call.UNREACHABLE: 3,
    tool_call.REFUSED: 4,
    tool_call.BUSY: 5,
    tool_call.UNANSWERED: 6,
}


def say(error: CallboardError) -> None:
    """Print the error's message on stderr. For an unknown tool, also say how to list tools."""
    clear()
    print(f"callboard: {plain(error.message)}", file=sys.stderr)
    if error.message.startswith(UNKNOWN_TOOL) and "; nearest: " not in error.message:
        print(
            "`callboard tools` lists a running host's tools. For a skill of your own, give "
            "--skills DIR to the command that starts the host, or set skill_paths; `callboard "
            "doctor` shows the skills that are found.",
            file=sys.stderr,
        )


def run_and_print(work: Callable[[], Json], tool: str, out: str | None) -> int:
    """Run ``work``, which returns a ``tools/call`` result, and print the result's structured
    content, or its content blocks if there is no structured content. For a CallboardError, print
    its message on stderr and ``{"error": …}`` on stdout. Return the command's exit code. The
    answer's files are saved to ``out``: a file, or a folder in which they are named after the tool.
    Raises HostError, after printing, when ``out`` can't be written."""
    unwritten: CallboardError | None = None
    try:
        if out is not None:
            require_place(out)
        result = work()
        files = files_in(result)
    except CallboardError as error:
        shown = failure(error)
        say(error)
        _show_printed(getattr(error, "result", {}))
        if call := shown.get("call"):
            print(f"callboard report --call {call} shows the whole call", file=sys.stderr)
        print(plain_json({"error": shown}))
        return EXITS[shown["kind"]]
    clear()
    _show_printed(result)
    if out is not None:
        try:
            keep(files, out, tool)
        except CallboardError as error:
            unwritten = error
    elif files and "path" not in result.get("structuredContent", {}):
        there = plain(", ".join(file.kind for file in files))
        print(f"callboard: the answer contains {there}; --out FILE saves it", file=sys.stderr)
    print(plain_json(content_of(result)))
    if unwritten is not None:
        raise unwritten
    return 0


def show(method: str, params: Json) -> None:
    """Print a tool's notifications on stderr."""
    if method == "notifications/message":
        data = params.get("data")
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        clear()
        print(plain(f"{params.get('level')}: {text}"), file=sys.stderr)
    elif method == "notifications/progress":
        bar(params.get("progress", 0), params.get("total"), params.get("message", ""))


def _show_printed(result: Json) -> None:
    meta = result.get("_meta", {})
    if old := plain(meta.get("callboard/old", "")):
        print(f"callboard: {old}", file=sys.stderr)
    for stream in ("stdout", "stderr"):
        if text := plain(meta.get(f"callboard/{stream}", "")):
            print(text, end="" if text.endswith("\n") else "\n", file=sys.stderr)
