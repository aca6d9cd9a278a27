"""``callboard tools``: lists the tools of a running instance, and their arguments."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterator

from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.ground.plain_text import plain, plain_json
from callboard_programs.cli.instance import choose, tools_of
from callboard_programs.cli.schema_words import accepted, meaning

#: Maximum number of characters of a tool's title or description in the list.
_LONGEST = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tool", nargs="?", help="describe only this tool and its arguments")
    parser.add_argument(
        "--instance", metavar="ID", help="an instance id, the start of one, or a host"
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON with all schemas, for programs"
    )


def run(arguments: argparse.Namespace) -> int:
    instance = choose(arguments.instance)
    tools = tools_of(instance)
    if tools is None:
        raise HostError(f"{instance.name} isn't listing its tools; see `callboard doctor`")
    if arguments.tool is None:
        if arguments.json:
            print(plain_json(tools))
            return 0
        width = max((len(tool["name"]) for tool in tools), default=0)
        for tool in tools:
            print(plain(f"{tool['name']:<{width}}  {_in_short(tool)}"))
        return 0
    tool = _called(arguments.tool, tools)
    print(plain_json(tool) if arguments.json else plain("\n".join(_whole(tool))))
    return 0


def _in_short(tool: Json) -> str:
    description = " ".join(str(tool.get("description", "")).split())
    # A bundle's server may send a title of many lines, which would look like several tools.
    title = " ".join(str(tool.get("title") or "").split())
    reported = (title or description.partition(". ")[0].rstrip("."))[:_LONGEST]
    missing = tool.get("_meta", {}).get("dcc", {}).get("missing_capabilities", ())
    return f"{reported} (unavailable: {', '.join(missing)} missing)" if missing else reported


def _called(name: str, tools: list[Json]) -> Json:
    """Return the tool with that name. If there is no such tool, raise PeerError with the nearest
    names."""
    by_name: dict[str, Json] = {tool["name"]: tool for tool in tools}
    if name in by_name:
        return by_name[name]
    nearest = difflib.get_close_matches(name, by_name, n=3, cutoff=0.5)
    hint = f"; nearest: {', '.join(nearest)}" if nearest else "; `callboard tools` lists them"
    raise PeerError(f"unknown tool '{name[:200]}'{hint}")


def _whole(tool: Json) -> Iterator[str]:
    title = tool.get("title")
    yield f"{tool['name']}: {title}" if title else tool["name"]
    yield str(tool.get("description", "")).strip()
    schema = tool["inputSchema"]
    arguments, required = schema.get("properties") or {}, schema.get("required") or ()
    yield "\narguments:" if arguments else "\nno arguments"
    for name, each in arguments.items():
        must = ", required" if name in required else ""
        about = meaning(each)
        yield f"  {name}: {accepted(each)}{must}{f'. {about}' if about else ''}"
