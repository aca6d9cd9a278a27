"""Checks that two hostile clients can't read, answer, cancel or undo an honest client's work.

    python benchmarks/hostile_clients.py [--seconds N] [--seed N] [--pause N]

Each client has its own token and its own process, and uses every way to connect: a host, the same
host behind the gateway, REST and the stdio bridge, with sessions and without. Every answer, log
line and progress message of a client's work contains the client's mark. All ids are published: the
hostile clients send each other's and the honest client's ids in random requests. They are quiet for
a quarter of the time. The first turn, of 20 seconds, is the warm-up. Prints the actions of each
client and how long the honest client waited, and exits with 1 if a mark or a result reached another
client, or if work didn't end the way its owner chose. Needs the extra `usd`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))

from callboard.clients.book import ClientBook  # noqa: E402
from callboard.clients.kept_tokens import token_of  # noqa: E402
from callboard.jobs.jobs import TASKS  # noqa: E402
from callboard_testing.fake_client import Answer, FakeClient  # noqa: E402
from e2e.serving import Program, callboard, environment  # noqa: E402
from stateless_client import Stateless  # noqa: E402

Json = dict[str, Any]
HONEST, HOSTILE = "ada", ("mallory", "trudy")
#: Seconds of a turn, and seconds at its beginning in which the hostile clients are quiet.
TURN, QUIET = 20.0, 5.0
#: Seconds at the beginning of each part that aren't measured, because requests of the previous part
#: may still end then.
SETTLING = 1.0
MARK = re.compile(r"mark-([a-z]+)-")
CAPABILITIES: Json = {"elicitation": {"form": {}}, "extensions": {TASKS: {}}}
SKILL = {
    "SKILL.md": """---
name: work
description: Work with a mark.
metadata:
  dcc-mcp:
    {dcc: openusd, version: "1.0.0", tools: tools.yaml, workflows: '*.workflow.yaml'}
---
""",
    "run.workflow.yaml": """name: run
inputs: {text: {type: string}}
steps:
  - {id: ok, approve: "${inputs.text}"}
""",
    "tools.yaml": """tools:
  - {name: echo, description: Answers., source_file: scripts/work.py, affinity: any,
     annotations: {readOnlyHint: true},
     input_schema: {type: object, properties: {text: {type: string}}}}
  - {name: slow, description: Takes a while., source_file: scripts/work.py, affinity: any,
     execution: async, annotations: {readOnlyHint: true},
     input_schema: {type: object, properties: {text: {type: string}}}}
  - {name: ask, description: Asks., source_file: scripts/work.py, affinity: any,
     annotations: {readOnlyHint: true},
     input_schema: {type: object, properties: {number: {type: integer}}}}
  - {name: fail, description: Fails., source_file: scripts/work.py, affinity: any,
     annotations: {readOnlyHint: true},
     input_schema: {type: object, properties: {text: {type: string}}}}
""",
    "scripts/work.py": """import asyncio

FORM = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def echo(text):
    return {"text": text}


async def slow(ctx, text):
    for step in range(10):
        ctx.progress(step, 10, text)
        await asyncio.sleep(0.1)
    return {"text": text}


def ask(ctx, number):
    return {"text": ctx.elicit("Which text?", FORM).content.get("text")}


def fail(text):
    raise ValueError(text)
""",
}


@dataclass(frozen=True)
class Place:
    """The servers that the three clients use, and the schedule that they follow."""

    home: Path
    host: str
    gateway: str
    #: The host's name at the gateway.
    name: str
    began: float
    seconds: float
    pause: float

    @property
    def known(self) -> Path:
        return self.home / "known.jsonl"

    def part(self) -> str | None:
        """Return "quiet" or "attack", or None in the first turn, which is the warm-up, and in the
        seconds after each change between the two."""
        turns, turn = divmod(monotonic() - self.began, TURN)
        name, since = ("quiet", turn) if turn < QUIET else ("attack", turn - QUIET)
        return name if turns and since >= SETTLING else None


@dataclass
class Reply:
    """The answer to a request: all of it as text, and the result, which is None for a refusal."""

    text: str
    result: Any = None


def _reply(message: Json, more: str = "") -> Reply:
    result = message.get("result")
    refused = result is None or result.get("isError")
    return Reply(json.dumps(message) + more, None if refused else result)


# -- connections ----------------------------------------------------------------------------------


class Session:
    """A session with the host, or at one of the gateway's addresses."""

    tasks = False

    def __init__(self, url: str, token: str, mark: str, instance: str = "") -> None:
        # The gateway's own address needs the instance in every call.
        self._instance, self._seen = instance, 0
        content: Json = {"action": "accept", "content": {"text": mark}}
        answers = {"elicitation/create": lambda _: content}
        self.raw = FakeClient(url, token, capabilities={"elicitation": {}}, answers=answers)
        self.raw.initialize()
        self.raw.notify("notifications/initialized")
        self.raw.listen()

    def ask(self, method: str, params: Json) -> Reply:
        if self._instance and method == "tools/call" and not _of_gateway(params["name"]):
            arguments = {"tool": params["name"], "arguments": params.get("arguments", {})}
            params = {"name": "tools__call", "arguments": {"instance": self._instance, **arguments}}
        elif self._instance and "uri" in params:
            params = {**params, "uri": f"instance://{self._instance}/{params['uri']}"}
        reply = _reply(self.raw.request(method, params))
        news = self.raw.received[self._seen :]
        self._seen += len(news)
        return Reply(reply.text + json.dumps(news), reply.result)

    def close(self) -> None:
        self.raw.close()


def _of_gateway(tool: str) -> bool:
    return tool.startswith(("instances__", "tools__"))


class WithoutSession:
    """Requests in revision 2026-07-28 to the host, or to one of the gateway's addresses."""

    tasks = True

    def __init__(self, url: str, token: str) -> None:
        self.raw = FakeClient(url, token)
        self._stateless = Stateless(self.raw, CAPABILITIES)

    def ask(self, method: str, params: Json) -> Reply:
        return _reply(self.raw.post(*self._stateless.message(method, params)).message)

    def close(self) -> None:
        self.raw.close()


class Rest:
    """The REST routes that correspond to the methods."""

    tasks = False

    def __init__(self, url: str, token: str) -> None:
        self.raw = FakeClient(url, token)

    def ask(self, method: str, params: Json) -> Reply:
        answer = self._send(method, params)
        text = answer.body.decode() + json.dumps(answer.messages)
        if answer.status >= 400:
            return Reply(text)
        result = json.loads(answer.body) if answer.body else answer.messages[-1]
        return Reply(text, None if isinstance(result, dict) and result.get("isError") else result)

    def _send(self, method: str, params: Json) -> Answer:
        if method == "tools/call":
            call = {"tool": params["name"], "arguments": params.get("arguments", {})}
            return self.raw.send("POST", json.dumps(call).encode(), path="/v1/call")
        if method == "resources/read":
            uri = params["uri"]
            if uri.startswith("report://"):
                return self.raw.send("GET", path=f"/v1/report?since={uri[9:]}")
            return self.raw.send("GET", path=f"/v1/resources/read?uri={quote(uri, safe='')}")
        if "taskId" in params:
            verb = "DELETE" if method == "tasks/cancel" else "GET"
            events = "/events" if method == "tasks/update" else ""
            return self.raw.send(verb, path=f"/v1/jobs/{params['taskId']}{events}")
        return self.raw.send("GET", path=f"/v1/{method.partition('/')[0]}")

    def close(self) -> None:
        self.raw.close()


class Bridge:
    """A client's stdio bridge."""

    def __init__(self, place: Place, client: str, mark: str, *options: str, tasks: bool) -> None:
        self.tasks, self._mark, self._id = tasks, mark, 0
        command = callboard("stdio", "--client", client, *options)
        pipe = subprocess.PIPE
        env = environment(place.home / "home")
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=env, text=True)
        self._meta = Stateless(FakeClient(place.host), CAPABILITIES).message("ping", {})[0]
        if not tasks:
            hello = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}
            self.ask("initialize", {**hello, "clientInfo": {"name": client, "version": "1"}})
            self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: Json) -> Reply:
        self._id += 1
        if self.tasks:
            params = {**params, "_meta": self._meta["params"]["_meta"]}
        self._write({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        news = ""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if "method" not in message and message.get("id") == self._id:
                return _reply(message, news)
            news += line
            if message.get("method") == "elicitation/create":
                content = {"action": "accept", "content": {"text": self._mark}}
                self._write({"jsonrpc": "2.0", "id": message["id"], "result": content})
        raise ConnectionError("the bridge ended")

    def _write(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.communicate(timeout=30.0)


Way = Session | WithoutSession | Rest | Bridge


def ways_in(place: Place, client: str, token: str, mark: str) -> list[Way]:
    named = f"{place.gateway}/{place.name}"
    return [
        Session(place.host, token, mark),
        Session(named, token, mark),
        Session(place.gateway, token, mark, place.name),
        WithoutSession(place.host, token),
        WithoutSession(named, token),
        Rest(place.host, token),
        Bridge(place, client, mark, tasks=False),
        Bridge(place, client, mark, "--gateway", "--instance", place.name, tasks=True),
    ]


# -- clients --------------------------------------------------------------------------------------


@dataclass
class Seen:
    """The report that one client makes when it ends."""

    did: Counter[str] = field(default_factory=Counter)
    breaches: list[str] = field(default_factory=list)
    #: The duration of each quick request in seconds, by part.
    waited: dict[str, list[float]] = field(default_factory=lambda: {"quiet": [], "attack": []})


class Client:
    """A client that makes its own objects, starts its own jobs and runs, asks its own questions,
    and reports a breach if any of them doesn't end the way it chose."""

    #: True if the client undoes changes, in which case its own objects may disappear.
    undoes = False

    def __init__(self, place: Place, name: str, token: str, seed: str) -> None:
        self.place, self.name, self.seen = place, name, Seen()
        self.chance = random.Random(f"{seed}-{name}")
        self.mark = f"mark-{name}-{self.chance.randrange(10**9)}"
        self.ways = ways_in(place, name, token, self.mark)
        #: Functions that end the work begun so far, the oldest first.
        self._begun: deque[Callable[[], None]] = deque()
        for way in self.ways:
            if isinstance(way, Session):
                self.tell("session", way.raw.session)

    def live(self) -> Seen:
        until = self.place.began + self.place.seconds
        while monotonic() < until:
            self.turn()
            sleep(self.place.pause)
        while self._begun:
            self._begun.popleft()()
        for way in self.ways:
            way.close()
        return self.seen

    def turn(self) -> None:
        self.work()

    def work(self) -> None:
        if self.chance.random() < 0.8:
            self.quick()
        elif len(self._begun) > 12:
            self._begun.popleft()()
        else:
            way = self.chance.choice(self.ways)
            begin = self.chance.choice([self.make, self.start, self.question, self.fail])
            begin(way)

    def ask(self, way: Way, method: str, **params: Any) -> Reply:
        """Send a request, and search everything in the answer for other clients' marks."""
        reply = way.ask(method, params)
        self.seen.did[f"requests over {type(way).__name__}"] += 1
        for name in set(MARK.findall(reply.text)) - {self.name}:
            self.breach("read", f"{name}'s mark by {method} {params}: {reply.text[:1000]}")
        return reply

    def call(self, way: Way, tool: str, **arguments: Any) -> Reply:
        return self.ask(way, "tools/call", name=tool, arguments=arguments)

    def breach(self, kind: str, text: str) -> None:
        self.seen.breaches.append(f"{kind}: {self.name}: {text}")

    def tell(self, kind: str, value: Any) -> None:
        """Publish an id to all clients."""
        with self.place.known.open("a") as known:
            known.write(json.dumps([self.name, kind, value]) + "\n")

    def ended(self, what: str) -> None:
        self.seen.did[f"own {what} ended as chosen"] += 1

    # -- the client's own work ------------------------------------------------------------------

    def quick(self) -> None:
        """Make a request that the server answers at once, and record its time."""
        way, part = self.chance.choice(self.ways), self.place.part()
        since = monotonic()
        kind = self.chance.randrange(4)
        if kind == 0:
            reply = self.ask(way, "resources/read", uri="host://capabilities")
        elif kind == 1:
            reply = self.call(way, "scene__scene_info")
        else:
            reply = self.call(way, "work__echo", text=self.mark)
        if part is not None:
            self.seen.waited[part].append(monotonic() - since)
        if reply.result is None:
            self.breach("refusal", f"its own quick request was refused: {reply.text[:300]}")

    def make(self, way: Way) -> None:
        """Make an object, which must exist until this client deletes it."""
        name = f"o_{self.name}_{self.chance.randrange(10**9)}"
        if self.call(way, "scene__create_primitive", kind="cube", name=name).result is None:
            return

        def end() -> None:
            reply = self.call(way, "scene__get_object", name=name)
            if reply.result is not None:
                self.ended("objects")
                self.call(way, "scene__delete", name=name)
            elif not self.undoes:
                self.breach("undo", f"{name} is gone: {reply.text[:300]}")

        self._begun.append(end)

    def start(self, way: Way) -> None:
        """Start a job, or a run that asks whether it may continue."""
        if not way.tasks:
            reply = self.call(way, "work__slow", text=self.mark)
            if reply.result is not None:
                job = _structured(reply)["job_id"]
                self.tell("id", job)
                self._begun.append(lambda: self._end_job(way, job))
            return
        reply = self.call(way, "workflows__run", name="work.run", inputs={"text": self.mark})
        if reply.result is not None:
            run = reply.result["taskId"]
            self.tell("id", run)
            self._begun.append(lambda: self._end_run(way, run))

    def _end_job(self, way: Way, job: str) -> None:
        reply = self.call(way, "jobs__status", job_id=job, wait_s=10)
        status = None if reply.result is None else _structured(reply)["status"]
        if status == "completed":
            self.ended("jobs")
        else:
            self.breach("cancel", f"a job is {status}: {reply.text[:300]}")

    def _end_run(self, way: Way, run: str) -> None:
        reply = self.ask(way, "tasks/get", taskId=run)
        if reply.result is None or reply.result["status"] != "input_required":
            self.breach("answer", f"a run no longer asks: {reply.text[:300]}")
            return
        yes = {key: {"action": "accept", "content": {}} for key in reply.result["inputRequests"]}
        if self.ask(way, "tasks/update", taskId=run, inputResponses=yes).result is not None:
            self.ended("runs")

    def question(self, way: Way) -> None:
        """Make a call that asks its client a question. Only the owner's answer may count."""
        params = {"name": "work__ask", "arguments": {"number": self.chance.randrange(10**6)}}
        reply = self.ask(way, "tools/call", **params)
        if reply.result is None:
            return
        if "requestState" not in reply.result:
            self._answered(reply)
            return
        state = {**params, "requestState": reply.result["requestState"]}

        def answers(text: str) -> Json:
            answer = {"action": "accept", "content": {"text": text}}
            return {"inputResponses": dict.fromkeys(reply.result["inputRequests"], answer)}

        def end() -> None:
            self._answered(self.ask(way, "tools/call", **state, **answers(self.mark)))

        self.tell("state", {**state, **answers("stolen")})
        self._begun.append(end)

    def _answered(self, reply: Reply) -> None:
        if reply.result is None or _structured(reply)["text"] != self.mark:
            self.breach("answer", f"a question got another answer: {reply.text[:300]}")
        else:
            self.ended("questions")

    def fail(self, way: Way) -> None:
        self.call(way, "work__fail", text=self.mark)


def _structured(reply: Reply) -> Any:
    return reply.result["structuredContent"]


YES: Json = {"approve": {"action": "accept", "content": {}}}
#: Requests with an id from another client, by the effect that they would have on that client's
#: work.
BY_ID: tuple[tuple[str, str, Callable[[str], Json]], ...] = (
    ("read", "tools/call", lambda id: {"name": "jobs__status", "arguments": {"job_id": id}}),
    ("read", "tools/call", lambda id: {"name": "workflows__status", "arguments": {"run_id": id}}),
    ("read", "resources/read", lambda id: {"uri": f"job://{id}/result"}),
    ("read", "tasks/get", lambda id: {"taskId": id}),
    ("cancel", "tools/call", lambda id: {"name": "jobs__cancel", "arguments": {"job_id": id}}),
    ("cancel", "tools/call", lambda id: {"name": "workflows__cancel", "arguments": {"run_id": id}}),
    ("cancel", "tasks/cancel", lambda id: {"taskId": id}),
    ("answer", "tasks/update", lambda id: {"taskId": id, "inputResponses": YES}),
)
#: Requests without an id. The answers must contain only data that belongs to the requesting client.
AT_LARGE: tuple[tuple[str, Json], ...] = (
    ("resources/read", {"uri": "log://recent"}),
    ("resources/read", {"uri": "host://waiting"}),
    ("resources/read", {"uri": "report://all"}),
    ("tools/call", {"name": "workflows__status", "arguments": {}}),
    ("tools/call", {"name": "scene__undo", "arguments": {"steps": 3}}),
    ("tools/call", {"name": "scene__redo", "arguments": {}}),
    ("tools/call", {"name": "files__list", "arguments": {}}),
    ("tools/call", {"name": "instances__list", "arguments": {}}),
    ("tools/list", {}),
    ("resources/list", {}),
    ("prompts/list", {}),
    ("tasks/list", {}),
    ("ping", {}),
    ("no/such", {}),
)


class Hostile(Client):
    """A client that also sends other clients' ids, states and cursors."""

    undoes = True

    def __init__(self, place: Place, name: str, token: str, seed: str) -> None:
        self._others: dict[str, deque[Any]] = {}
        self._read = 0
        super().__init__(place, name, token, seed)

    def turn(self) -> None:
        if (monotonic() - self.place.began) % TURN < QUIET:
            sleep(0.1)
            return
        self._learn()
        if self.chance.random() < 0.3:
            self.work()
        else:
            attacks = [self.by_id, self.by_id, self.at_large, self.by_state, self.by_session]
            self.chance.choice(attacks)()

    def _learn(self) -> None:
        with self.place.known.open() as known:
            known.seek(self._read)
            for line in known:
                if line.endswith("\n"):
                    self._read += len(line)
                    whose, kind, value = json.loads(line)
                    if whose != self.name:
                        self._others.setdefault(kind, deque(maxlen=40)).append(value)

    def _stolen(self, kind: str) -> Any:
        return self.chance.choice(self._others.get(kind) or [None])

    def by_id(self) -> None:
        kind, method, params = self.chance.choice(BY_ID)
        if id := self._stolen("id"):
            way = self.chance.choice(self.ways)
            self._must_be_refused(kind, self.ask(way, method, **params(id)))

    def at_large(self) -> None:
        method, params = self.chance.choice(AT_LARGE)
        if method.endswith("/list") and (cursor := self._stolen("cursor")):
            params = {**params, "cursor": cursor}
        reply = self.ask(self.chance.choice(self.ways), method, **params)
        if isinstance(reply.result, dict) and "nextCursor" in reply.result:
            self.tell("cursor", reply.result["nextCursor"])

    def by_state(self) -> None:
        """Send the state of another client's question, with an answer."""
        if state := self._stolen("state"):
            way = self.chance.choice([way for way in self.ways if way.tasks])
            self._must_be_refused("answer", self.ask(way, "tools/call", **state))

    def by_session(self) -> None:
        """Read or end another client's session, or answer and cancel its requests from this
        client's own session."""
        sessions = [way for way in self.ways if isinstance(way, Session)]
        way, stolen = self.chance.choice(sessions), self._stolen("session")
        number = self.chance.randrange(200)
        if self.chance.random() < 0.5:
            answer = {"action": "accept", "content": {"text": self.mark}}
            way.raw.post({"jsonrpc": "2.0", "id": number, "result": answer})
            way.raw.notify("notifications/cancelled", {"requestId": number})
            return
        headers = {"Mcp-Session-Id": stolen}
        asked = {"jsonrpc": "2.0", "id": number, "method": "resources/read"}
        body = json.dumps({**asked, "params": {"uri": "log://recent"}}).encode()
        kind, verb = self.chance.choice([("read", "POST"), ("read", "GET"), ("cancel", "DELETE")])
        answer_ = way.raw.send(verb, body if verb == "POST" else b"", headers)
        self.seen.did[f"tried to {kind}"] += 1
        if answer_.status < 400:
            self.breach(kind, f"{verb} in another's session was answered {answer_.body[:300]!r}")

    def _must_be_refused(self, kind: str, reply: Reply) -> None:
        self.seen.did[f"tried to {kind}"] += 1
        if reply.result is not None:
            self.breach(kind, reply.text[:1000])


def live(place: Place, name: str, token: str, seed: str) -> Seen:
    return (Client if name == HONEST else Hostile)(place, name, token, seed).live()


# -- the whole run --------------------------------------------------------------------------------


def run(home: Path, stack: ExitStack, arguments: argparse.Namespace) -> Mapping[str, Seen]:
    for name, text in SKILL.items():
        path = home / "skills/work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    scene = home / "stage.usda"
    scene.write_text("#usda 1.0\n", "utf-8")
    env = environment(home / "home")
    os.environ["CALLBOARD_HOME"] = env["CALLBOARD_HOME"]
    book = ClientBook()
    tokens = {name: token_of(name, book) for name in (HONEST, *HOSTILE)}
    command = callboard("serve", "--skills", str(home / "skills"), "--scene", str(scene))
    host = stack.enter_context(Program(command, env))
    gateway = stack.enter_context(Program(callboard("gateway", "--port", "0"), env))
    with FakeClient(gateway.url, gateway.token) as client:
        while not (rows := client.call("instances__list")["structuredContent"]["instances"]):
            sleep(0.1)
    (home / "known.jsonl").touch()
    times = (monotonic(), TURN + arguments.seconds, arguments.pause)
    place = Place(home, host.url, gateway.url, rows[0]["name"], *times)
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(tokens), mp_context=spawned) as pool:
        lives = {
            name: pool.submit(live, place, name, token, str(arguments.seed))
            for name, token in tokens.items()
        }
        return {name: each.result() for name, each in lives.items()}


def percentile(values: list[float], share: float) -> float:
    """Return the percentile in milliseconds, or NaN if there are no values."""
    values = sorted(values)
    return values[int(len(values) * share)] * 1000 if values else float("nan")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two requests")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory()))
        seen = run(home, stack, arguments)
    breaches = [each for one in seen.values() for each in one.breaches]
    for name, one in seen.items():
        did = ", ".join(f"{what} {count}" for what, count in sorted(one.did.items()))
        print(f"{name}: {did}")
    for part, waited in seen[HONEST].waited.items():
        median, late = percentile(waited, 0.5), percentile(waited, 0.99)
        print(f"{HONEST}, {part}: {len(waited)} requests, median {median:.1f}, p99 {late:.1f} ms")
    kinds = Counter(each.partition(":")[0] for each in breaches)
    print(
        ", ".join(
            f"{kind} {kinds[kind]}" for kind in ("read", "answer", "cancel", "undo", "refusal")
        )
    )
    for each in breaches[:10]:
        print(each)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
