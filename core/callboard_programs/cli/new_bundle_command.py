"""``callboard new-bundle``: writes a bundle to start from, with a server that needs nothing but
Python."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from callboard.ground.plain_text import plain_json
from callboard.skills.new_folder import write_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="lower case, with hyphens: shot-notes")
    add_parent(parser)
    parser.add_argument("--json", action="store_true", help="{folder, next}, one JSON object")


def run(arguments: argparse.Namespace) -> int:
    name = arguments.name
    files = {path: text.replace("NAME", name) for path, text in _FILES.items()}
    folder = write_folder(arguments.parent, name, files, what="bundle")
    following = {
        "check": f"callboard lint {folder} --start",
        "pack": f"callboard pack {folder}",
        "install": f"callboard install-skill {name}-0.1.0.mcpb",
    }
    tell_made(folder, following, as_json=arguments.json)
    return 0


def add_parent(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder in which to create the new skill or bundle."""
    parser.add_argument(
        "--in",
        dest="parent",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the folder in which to create it; by default the current one",
    )


def tell_made(folder: Path, following: Mapping[str, str], *, as_json: bool) -> None:
    """Print the new folder on stdout, and suggested next commands on stderr. With ``as_json``,
    print both as JSON."""
    if as_json:
        print(plain_json({"folder": str(folder), "next": following}))
        return
    print(folder)
    for what, command in following.items():
        print(f"{f'{what.capitalize()} it:':<12} {command}", file=sys.stderr)


_FILES = {
    "manifest.json": """\
{
  "manifest_version": "0.3",
  "name": "NAME",
  "version": "0.1.0",
  "description": "Says in a sentence what its tools are for.",
  "author": {"name": "Who made it"},
  "server": {
    "type": "python",
    "entry_point": "server.py",
    "mcp_config": {
      "command": "python",
      "args": ["${__dirname}/server.py", "--least=${user_config.least}"]
    }
  },
  "user_config": {
    "least": {
      "type": "number",
      "title": "Letters of the shortest word",
      "description": "Shorter words don't count.",
      "default": 1,
      "min": 1
    }
  }
}
""",
    "server.py": '''\
"""An MCP server over stdin and stdout, in plain Python: one message a line. Any library that
supports MCP will do as well, if the bundle includes it."""

import json
import sys

LEAST = int(float(sys.argv[1].partition("=")[2])) if len(sys.argv) > 1 else 1
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
UNKNOWN = -32601


def count_words(text):
    return {"words": sum(len(word) >= LEAST for word in text.split())}


TOOLS = {
    "count_words": (count_words, "Counts the words in a text.", TEXT),
}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "NAME", "version": "0.1.0"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {
            "tools": [
                {"name": name, "description": text, "inputSchema": schema}
                for name, (_, text, schema) in TOOLS.items()
            ]
        }
    if method == "tools/call" and params["name"] in TOOLS:
        try:
            result = TOOLS[params["name"]][0](**params.get("arguments", {}))
        except Exception as error:
            return {"isError": True, "content": [{"type": "text", "text": str(error)}]}
        text = json.dumps(result)
        return {"structuredContent": result, "content": [{"type": "text", "text": text}]}
    raise LookupError(f"there is no {method} here")


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        reply["result"] = answer(message["method"], message.get("params", {}))
    except LookupError as error:
        reply["error"] = {"code": UNKNOWN, "message": str(error)}
    print(json.dumps(reply), flush=True)
''',
}
