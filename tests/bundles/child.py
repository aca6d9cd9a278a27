"""An MCP server over stdio that needs nothing but Python, and misbehaves on request.

python child.py session|stateless [stubborn|dead|silent|large|looks|looks-once]

With ``looks`` or ``looks-once``, the server requests the roots when it starts, and remembers them.
With ``looks``, it requests them again whenever they change.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

ERA, MANNER = sys.argv[1], (sys.argv[2:] or [""])[0]
HOST = "ai.nimblebrain/resources/"
OFFERED: dict[str, Any] = {"tools": {}, "prompts": {}, "resources": {}}
OBJECT: dict[str, Any] = {"type": "object"}
TOOLS = (
    *(
        "echo",
        "die",
        "hang",
        "noise",
        "duplicate",
        "progress",
        "tell",
        "odd",
        "fail",
        "grow",
        "flood",
        "grumble",
    ),
    *(
        "read",
        "read_many",
        "files",
        "roots",
        "kept_roots",
        "ask",
        "ask_twice",
        "pid",
        "offered",
        "cancelled",
        "heard",
        "helper",
    ),
)

lock = threading.Lock()
ids = itertools.count(1)
answers: dict[Any, Any] = {}
arrived = threading.Condition()
cancelled: list[Any] = []
heard: list[str] = []
more: list[str] = []
offer: dict[str, Any] = {}


def put(message: Any) -> None:
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def notify(method: str, **params: Any) -> None:
    put({"jsonrpc": "2.0", "method": method, "params": params})


def text(value: Any) -> dict[str, Any]:
    written = value if isinstance(value, str) else json.dumps(value)
    return {"content": [{"type": "text", "text": written}]}


class Needed(Exception):
    """Raised when a call has to end with a question, as calls do in the stateless era."""


def ask(params: dict[str, Any], key: str, method: str, **asked: Any) -> Any:
    """Ask the caller a question, in either era. Return the answer."""
    if ERA == "stateless":
        given = {**json.loads(params.get("requestState", "{}")), **params.get("inputResponses", {})}
        if key not in given:
            raise Needed({key: {"method": method, "params": asked}}, given)
        return given[key]
    id = f"q{next(ids)}"
    put({"jsonrpc": "2.0", "id": id, "method": method, "params": asked})
    with arrived:
        arrived.wait_for(lambda: id in answers, 30)
        reply = answers[id]
    return reply.get("result", {"error": reply.get("error")})


def call(id: Any, params: dict[str, Any]) -> dict[str, Any]:
    name, given = params["name"], params["arguments"]
    if name == "echo":
        return {**text(given["text"]), "structuredContent": {"text": given["text"]}}
    if name == "die":
        os._exit(7)
    if name == "hang":
        threading.Event().wait()
    if name == "noise":
        with lock:
            for _ in range(given["lines"]):
                sys.stdout.write("this is no message\n{broken\n[]\n")
            sys.stdout.flush()
    if name == "duplicate":
        put({"jsonrpc": "2.0", "id": id + 1, "result": text("somebody else's")})
        put({"jsonrpc": "2.0", "id": id, "result": text("first")})
    if name == "progress":
        for step in range(1, 4):
            notify(
                "notifications/progress",
                progressToken=params["_meta"]["progressToken"],
                progress=step,
                total=3,
                message=f"step {step}",
            )
    if name == "tell":
        hidden = given.get("hidden", "")
        notify("notifications/message", level="warning", data=f"mind the gap{hidden}")
    if name == "grumble":
        for stream in (sys.stderr, sys.stdout):
            print(f"{stream.name} {given['text']}", file=stream, flush=True)
    if name == "flood":
        for number in range(given["messages"]):
            notify("notifications/progress", progressToken="nobody's", progress=number)
            put({"jsonrpc": "2.0", "id": f"flood{number}", "method": "ping"})
    if name == "odd":
        return {"content": given.get("content", "no list"), "isError": True}
    if name == "grow":
        more.append("grown")
        notify("notifications/tools/list_changed")
    if name == "read":
        return text(ask(params, "read", f"{HOST}read", uri=given["uri"]))
    if name == "read_many":
        for number in range(given["times"]):
            key = f"m{number}"
            asked = {"jsonrpc": "2.0", "id": key, "method": f"{HOST}read"}
            put({**asked, "params": {"uri": given["uri"]}})
        with arrived:
            wanted = {f"m{number}" for number in range(given["times"])}
            arrived.wait_for(lambda: wanted <= answers.keys(), 30)
            return text(sorted("result" in answers.pop(key) for key in wanted))
    if name == "files":
        return text(ask(params, "files", f"{HOST}list"))
    if name == "roots":
        return text(ask(params, "roots", "roots/list"))
    if name == "kept_roots":
        with arrived:
            arrived.wait_for(lambda: "kept" in answers, 30)
            return text(answers["kept"]["result"])
    if name in ("ask", "ask_twice"):
        hidden = given.get("hidden", "")
        name_field = {"type": "string", "title": f"Name{hidden}"}
        form = {"type": "object", "properties": {"name": name_field}}
        who = f"Who{hidden}?"
        outcome = ask(params, "one", "elicitation/create", message=who, requestedSchema=form)
        if name == "ask_twice":
            again = ask(params, "two", "elicitation/create", message="Sure?", requestedSchema=form)
            outcome = [outcome, again]
        return text(outcome)
    if name == "pid":
        return text(str(os.getpid()))
    if name == "offered":
        meta = params["_meta"]
        return text(meta.get("io.modelcontextprotocol/clientCapabilities", offer))
    if name == "heard":
        return text([one for one in heard if one.startswith("notifications/roots")])
    if name == "cancelled":
        with arrived:
            arrived.wait_for(lambda: cancelled, 30)
        return text("yes" if cancelled else "no")
    if name == "helper":
        helper = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import signal,time;signal.signal(15,signal.SIG_IGN);"
                "print(flush=True);time.sleep(600)",
            ],
            stdout=subprocess.PIPE,
        )
        assert helper.stdout is not None
        helper.stdout.readline()
        return text(str(helper.pid))
    return text("done")


def serve(id: Any, method: str, params: dict[str, Any]) -> None:
    if method == "initialize" and ERA == "session":
        offer.update(params["capabilities"])
        version = params["protocolVersion"]
        info = {"name": "child", "version": "1"}
        result: dict[str, Any] = {
            "protocolVersion": version,
            "capabilities": OFFERED,
            "serverInfo": info,
        }
    elif method == "server/discover" and ERA == "stateless":
        result = {"supportedVersions": ["2026-07-28"], "capabilities": OFFERED}
    elif method == "prompts/list":
        shot = {"name": "shot", "description": "The shot", "required": True}
        result = {"prompts": [{"name": "brief", "description": "Briefs.", "arguments": [shot]}]}
    elif method == "prompts/get":
        block = {"type": "text", "text": f"Light {params['arguments']['shot']}."}
        result = {"messages": [{"role": "assistant", "content": block}]}
    elif method == "resources/list":
        result = {"resources": [{"uri": "demo://notes", "name": "notes"}]}
    elif method == "resources/templates/list":
        result = {
            "resourceTemplates": [
                {"uriTemplate": "demo://shots/{shot}", "name": "shot"},
                {"uriTemplate": "demo://find{?query}", "name": "not served"},
                {"uriTemplate": "files://{id}", "name": "taken"},
            ]
        }
    elif method == "resources/read":
        content = {"uri": params["uri"], "mimeType": "text/plain", "text": f"of {params['uri']}"}
        result = {"contents": [content]}
    elif method == "tools/list":
        if MANNER == "silent":
            return
        tools = [{"name": n, "description": f"Does {n}.", "inputSchema": OBJECT} for n in TOOLS]
        tools += [{"name": n, "inputSchema": OBJECT} for n in more]
        tools += [{"name": "bad schema", "inputSchema": OBJECT}, {"name": "none"}, 3]  # type: ignore[list-item]
        if MANNER == "long list":
            tools.append({"name": "long", "description": "x" * 3 * 2**20, "inputSchema": OBJECT})
        half = len(tools) // 2
        result = {"tools": tools[half:] if params.get("cursor") else tools[:half]}
        if not params.get("cursor"):
            result["nextCursor"] = "half"
    elif method == "tools/call" and params["name"] == "fail":
        error = {"code": -32050, "message": "it would not"}
        put({"jsonrpc": "2.0", "id": id, "error": error})
        return
    elif method == "tools/call":
        try:
            result = call(id, params)
        except Needed as needed:
            asks, given = needed.args
            result = {
                "resultType": "input_required",
                "inputRequests": asks,
                "requestState": json.dumps(given),
            }
    else:
        error = {"code": -32601, "message": "Method not found"}
        put({"jsonrpc": "2.0", "id": id, "error": error})
        return
    if ERA == "stateless":
        result.setdefault("resultType", "complete")
    put({"jsonrpc": "2.0", "id": id, "result": result})


def main() -> None:
    if MANNER == "dead":
        sys.exit(3)
    if MANNER == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if MANNER == "large":
        sys.stdout.write("x" * (17 * 2**20))
    print("hello from the child", file=sys.stderr)
    print("hello on the wrong stream")
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            with arrived:
                answers[message["id"]] = message
                arrived.notify_all()
        elif "id" not in message and message["method"] != "notifications/cancelled":
            heard.append(message["method"])
            looks = {"notifications/initialized"} if MANNER.startswith("looks") else set()
            looks |= {"notifications/roots/list_changed"} if MANNER == "looks" else set()
            if message["method"] in looks:
                put({"jsonrpc": "2.0", "id": "kept", "method": "roots/list"})
        elif message["method"] == "notifications/cancelled":
            with arrived:
                cancelled.append(message["params"]["requestId"])
                arrived.notify_all()
        elif "id" in message:
            work = (message["id"], message["method"], message.get("params", {}))
            threading.Thread(target=serve, args=work, daemon=True).start()
    while MANNER == "stubborn":
        signal.pause()


main()
