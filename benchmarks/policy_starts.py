"""Acts as a user of a machine with a policy. Starts every program that serves, and tries to weaken
each of the policy's 14 locks in every way that a user can. Prints how many locks held in each
start.

The policy is a real one: root's file ``/etc/callboard/policy.yaml``, in a mount namespace that ends
with this program. The attacker is another user. Needs root on Linux, and the extra ``usd``; with
the extras ``blender`` and ``farm``, and Blender itself, it tests those starts, too.

    python benchmarks/policy_starts.py [--python /usr/bin/python3] [--start run] [--way flags]

``--python`` names a Python that the other user can read. It is given this Python's packages.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from time import monotonic, perf_counter
from typing import Any

from callboard.errors import CallboardError
from callboard_programs.client import Client, RemoteError
from callboard_programs.client.tool_call import call_tool

PROJECT = Path(__file__).resolve().parent.parent
USER = 65534
#: Seconds after which a program that a user started is killed.
PATIENCE = 90.0
FOLDER = Path("/etc/callboard")
#: The three policies. The first has every lock but ``enabled`` and ``roots_policy``. The latter is
#: in the second policy, because ``roots`` would imply it.
EVERY = """
enabled: true
site: {base}/studio
deny: [lights]
roots: [{base}/shows]
records: required
skills_from: [{base}/studio]
bundles_from: [{base}/studio]
assets: [{base}/library]
auth: token
listen: false
consent: {{script: refuse, outside_roots: refuse}}
log_level: debug
clients: [cursor]
"""
STRICT = "roots_policy: strict\nsite: {base}/studio\n"
OFF = "enabled: false\n"
LOCKS = (
    *("enabled", "site", "deny", "roots", "roots_policy", "records", "skills_from"),
    *("bundles_from", "assets", "auth", "listen", "consent", "log_level", "clients"),
)
TOOLS = """
tools:
  - {{name: who, description: Says whose this is., affinity: any, read_only_hint: true}}
"""
WHO = "def main():\n    return {{'of': {of!r}}}\n"
#: One of the studio's own tools. It runs in the host's process, and reports the locks that hold
#: there. With ``panel``, it first does everything that somebody at the panel can do to weaken them.
LOOK_TOOLS = """
tools:
  - name: look
    description: Reports what holds.
    affinity: any
    input_schema:
      type: object
      properties: {panel: {type: boolean}, scene: {type: string}, frame: {}}
  - name: read
    description: Reads a file.
    affinity: any
    read_only_hint: true
    required_capabilities: [filesystem.read]
    input_schema:
      type: object
      properties: {path: {type: string, format: workspace-path}}
      required: [path]
"""
LOOK = """
import gc
import logging
from pathlib import Path
from threading import Event

from callboard.app import Callboard
from callboard.panel.client_files import formats_allowed
from callboard.workspace.roots import Root


def main(panel=False, scene="", frame=None):
    (app,) = (each for each in gc.get_objects() if isinstance(each, Callboard))
    logging.getLogger("callboard.audit").debug("the audit looks")
    if panel:
        weaken(app)
    config, base = app.config, {base!r}
    known = {{one.skill.name for one in app.catalog.known}}
    artist = [root.path for root in app.roots.artist]
    library = app.roots.library
    return {{
        "enabled": config.locks.enabled,
        "site": str(app.catalog.get("review").path).startswith(base + "/studio/"),
        "deny": "lights" not in app.capabilities.declared,
        "roots": app.roots._limit is not None
        and [root.path for root in app.roots._limit.roots] == [base + "/shows"]
        and all(Path(each).is_relative_to(base + "/shows") for each in artist),
        "roots_policy": app.roots.policy == "strict",
        "records": app.dispatcher.begins is not None,
        "skills_from": "stranger" not in known,
        "bundles_from": "gift" not in known,
        "assets": library is not None
        and [root.path for root in library.roots] == [base + "/library"]
        and "network" not in app.capabilities.declared,
        "auth": app.token is not None,
        "listen": all_local(),
        "consent": app.dispatcher.consent.policies["script"] == "refuse",
        "log_level": logging.getLogger("callboard").isEnabledFor(logging.DEBUG),
        "clients": list(formats_allowed()) == ["cursor"],
    }}


def weaken(app):
    controls = app.controls
    for word in ("lights", "network", "script.execute"):
        controls.restore(word)
    controls.set_roots_policy("advisory")
    controls.set_roots([Root("file:///", "everything", "/")])
    for subject in ("script", "destructive", "outside_roots"):
        controls.set_consent_policy(subject, "allow")
    controls.reload_skills()
    controls.resume()
    done = Event()
    app.guest.loop.call_soon_threadsafe(lambda: app.guest.loop.call_soon(done.set))
    done.wait(10)


def all_local():
    from os import listdir, readlink

    mine = set()
    for handle in listdir("/proc/self/fd"):
        try:
            mine.add(readlink("/proc/self/fd/" + handle))
        except OSError:
            pass
    listening = []
    for name in ("tcp", "tcp6"):
        for line in Path("/proc/self/net/" + name).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and "socket:[%s]" % words[9] in mine:
                listening.append(words[1].split(":")[0])
    return bool(listening) and all(each == "0100007F" for each in listening)
"""
READ = "def main(path):\n    return {'path': path}\n"
#: A user's own program, which has its own value for every setting.
PROGRAM = """
import json, sys
from callboard.config import McpHttpConfig, PolicyLocks
from callboard.skill_server import create_skill_server

config = McpHttpConfig(**json.loads(sys.argv[1]))
config.locks = PolicyLocks(enabled=True, roots_limit=("/",))
config.declared_capabilities = ["filesystem.read", "network", "script.execute", "lights"]
handle = create_skill_server("openusd", config).start()
print(json.dumps({"url": handle.mcp_url(), "token": handle.token}), flush=True)
sys.stdin.read()
handle.shutdown()
"""
#: The code that ``blender --background`` runs, which starts the add-on's own server.
IN_BLENDER = """
import json, sys
sys.path[:0] = json.loads({path!r})
from callboard_blender.server import BlenderServer, Settings
server = BlenderServer()
if not server.start(Settings(token={token}, skills={skills})):
    print(json.dumps({{"problem": server.problem}}), flush=True)
    raise SystemExit(1)
print("\\n" + json.dumps({{"url": server.app.url, "token": server.app.token}}), flush=True)
server.serve()
"""
WEAK = {
    "roots": ["/"],
    "roots_policy": "advisory",
    "records": False,
    "deny": [],
    "allow": ["network", "script.execute"],
}
#: Settings that belong only in a policy, as a user would write them in a settings file.
OWN_WORDS = """
enabled: true
site: {base}/mine
skills_from: [/]
bundles_from: [/]
assets: [/]
auth: none
listen: true
consent: {{script: allow, outside_roots: allow}}
log_level: warning
clients: [vscode]
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--start", nargs="+", choices=[*STARTS], default=[*STARTS])
    parser.add_argument("--way", nargs="+", choices=[*WAYS], default=[*WAYS])
    arguments = parser.parse_args()
    if os.getuid() != 0 or sys.platform != "linux":
        raise SystemExit("policy_starts.py needs root on Linux")
    if os.environ.get("CALLBOARD_OWN_MOUNTS") != str(os.getppid()):
        again = ["unshare", "--mount", "--propagation", "private"]
        environ = {**os.environ, "CALLBOARD_OWN_MOUNTS": str(os.getpid())}
        return subprocess.run(
            [*again, sys.executable, *sys.argv], env=environ, check=False
        ).returncode
    del os.environ["CALLBOARD_OWN_MOUNTS"]
    began = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder), arguments.python)
        weakened = sum(
            [tried(machine, start, way) for start in arguments.start for way in arguments.way]
        )
    print(f"{weakened} weakened, in {perf_counter() - began:.0f} s")
    return 1 if weakened else 0


def tried(machine: Machine, start: str, way: str) -> int:
    """Try one way to weaken all locks in one start, under each policy. Print a line, and return the
    number of locks that were weakened."""
    if (why := STARTS[start].missing()) is not None:
        print(f"{start:20} {way:24} not here: {why}", flush=True)
        return 0
    verdicts: dict[str, str] = {}
    for policy in (EVERY, STRICT, OFF):
        names = {STRICT: ["roots_policy"], OFF: ["enabled"]}.get(
            policy, [each for each in LOCKS if each not in ("roots_policy", "enabled")]
        )
        machine.prepare(policy)
        held, what = attempt(machine, start, way, policy)
        for name in names:
            verdicts[name] = what or ("held" if held.get(name) else "WEAKENED")
    count = list(verdicts.values()).count
    weak = [name for name in LOCKS if verdicts[name] == "WEAKENED"]
    refused = sum(each.startswith("refused") for each in verdicts.values())
    failed = sorted({each for each in verdicts.values() if each.startswith("?")})
    print(
        f"{start:20} {way:24} {count('held'):2} held, {refused:2} didn't start"
        + (f"; WEAKENED: {', '.join(weak)}" if weak else "")
        + (f"; {'; '.join(failed)}" if failed else ""),
        flush=True,
    )
    return len(weak) + len(failed)


def attempt(
    machine: Machine, start: str, way: str, policy: str
) -> tuple[Mapping[str, object], str]:
    """Return the locks that hold under the policy, or the reason why nothing started."""
    attack = WAYS[way](machine)
    if policy == STRICT and not attack.options:
        attack.options = ["--root", str(machine.base / "shows")]
    try:
        with STARTS[start].running(machine, attack) as reached:
            if policy == OFF:
                return {"enabled": False}, ""
            return reached(), ""
    except NotStarted as error:
        words = str(error)
        if not re.search(MEANT, words) and not (policy == OFF and SWITCHED_OFF in words):
            return {}, f"? {words[-300:]}"
        return {}, "refused"


SWITCHED_OFF = "switched off on this machine"
#: Messages of a start that is rightly refused, because of the attack itself.
MEANT = r"belongs in this machine's policy|policy doesn't|can't be locked|policy names the site"


class NotStarted(Exception):
    """The program didn't start. The message is the program's own output."""


class Attack:
    """One user's attempt: the environment, options, a program's own values, and what is done once
    the program is running."""

    def __init__(self, machine: Machine) -> None:
        self.env: dict[str, str] = {}
        self.options: list[str] = []
        self.config: dict[str, Any] = {}
        self.no_token = False
        self.panel = False
        self.client = False
        self.cwd = machine.base / "mine"


class Machine:
    """The folders of the studio and of the user, and the policy."""

    def __init__(self, base: Path, python: str) -> None:
        self.base, self.python, self.policy = base, python, ""
        base.chmod(0o755)
        for name in ("up", "work"):
            (base / name).mkdir()
        layers = f"lowerdir=/etc,upperdir={base / 'up'},workdir={base / 'work'}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, "/etc"], check=True)
        FOLDER.mkdir(mode=0o755, exist_ok=True)
        studio, mine = base / "studio", base / "mine"
        skill(studio / "skills" / "review", TOOLS.format(), {"who": WHO.format(of="studio")})
        script = LOOK.format(base=str(base))
        skill(studio / "skills" / "audit", LOOK_TOOLS, {"look": script, "read": READ})
        asset(base / "library" / "crate", "Crate")
        for folder in (base / "shows", base / "outside"):
            folder.mkdir()
            (folder / "owl.usda").write_text("#usda 1.0\n")
        skill(mine / "skills" / "review", TOOLS.format(), {"who": WHO.format(of="mine")})
        skill(mine / "skills" / "stranger", TOOLS.format(), {"who": WHO.format(of="mine")})
        for name in ("gift", "review"):
            bundle(mine / "bundles" / name, name)
        asset(mine / "crate", "Mine")
        (mine / "program.py").write_text(PROGRAM)
        (mine / "a.usda").write_text("#usda 1.0\n")
        packages = [each for each in sys.path if each.endswith("-packages")]
        self.path = [*(str(PROJECT / name) for name in ("core", "hosts", "ui")), *packages]

    def prepare(self, policy: str) -> None:
        """Write the policy, and give the user a fresh home."""
        new = FOLDER / ".new"
        new.write_text(policy.format(base=self.base))
        self.policy = policy
        new.chmod(0o644)
        new.replace(FOLDER / "policy.yaml")
        shutil.rmtree(self.home, ignore_errors=True)
        mine = self.base / "mine"
        for name in ("settings.yaml", "policy.yaml", "callboard.yaml", "projects", "etc"):
            path = mine / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        (self.home / "tmp").mkdir(parents=True)
        self.give(self.home, mine)

    @property
    def home(self) -> Path:
        return self.base / "home"

    def give(self, *folders: Path) -> None:
        """Make the user the owner of everything in the folders."""
        for folder in folders:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, USER, USER, follow_symlinks=False)

    def environment(self, attack: Attack) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "CALLBOARD_HOME": str(self.home / "callboard"),
            "PYTHONPATH": os.pathsep.join(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            **attack.env,
        }

    @contextmanager
    def program(self, attack: Attack, *command: str) -> Iterator[subprocess.Popen[str]]:
        """Run a program as the user. Its output and its errors are one stream."""
        process = subprocess.Popen(
            command,
            cwd=attack.cwd,
            env=self.environment(attack),
            user=USER,
            group=USER,
            extra_groups=[],
            text=True,
            errors="replace",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        # A hung program is killed here, and its reader then sees the end of its output.
        ending = Timer(PATIENCE, lambda: os.killpg(process.pid, signal.SIGKILL))
        ending.start()
        try:
            yield process
        finally:
            ending.cancel()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()

    def callboard(self, attack: Attack, *words: str) -> str:
        """Run a command to its end, and return its output. Raises NotStarted if it fails."""
        with self.program(attack, self.python, "-m", "callboard", *words) as process:
            told, _ = process.communicate(timeout=180)
        if process.returncode:
            raise NotStarted(told)
        return told

    def ready(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        """Return a server's ready line. Raises NotStarted with its output if there is none."""
        assert process.stdout is not None
        told = []
        for line in process.stdout:
            told.append(line)
            if line.startswith("{") and "url" in (ready := json.loads(line)):
                return dict(ready)
        raise NotStarted("".join(told))


def skill(folder: Path, tools: str, scripts: Mapping[str, str]) -> None:
    (folder / "scripts").mkdir(parents=True)
    name = folder.name
    (folder / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: The skill {name}.\n"
        "metadata:\n  dcc-mcp:\n    tools: tools.yaml\n---\n"
    )
    (folder / "tools.yaml").write_text(tools)
    for each, text in scripts.items():
        (folder / "scripts" / f"{each}.py").write_text(text)


def bundle(folder: Path, name: str) -> None:
    skill(folder, TOOLS.format(), {"who": WHO.format(of="mine")})
    manifest = {
        **{"manifest_version": "0.3", "name": name, "version": "1.0.0", "description": "d"},
        "author": {"name": "me"},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))


def asset(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    (folder / "asset.json").write_text(json.dumps({"kind": "model", "name": name}))


# -- the ways --------------------------------------------------------------------------------------


def variables(machine: Machine) -> Attack:
    attack, mine = Attack(machine), machine.base / "mine"
    written = {**WEAK, "site": mine, "skill_paths": [f"{mine}/skills"], "deny": ["usd"]}
    written |= {"auth": "none", "listen": 1, "consent": "allow", "log_level": "warning"}
    written |= {"clients": "vscode", "enabled": 1, "assets": "/", "policy": f"{mine}/policy.yaml"}
    written |= {"skills_from": "/", "bundles_from": "/"}
    for name, value in written.items():
        text = ",".join(value) if isinstance(value, list) else str(value)
        attack.env[f"CALLBOARD_{name.upper()}"] = "0" if value is False else text
    attack.env["XDG_CONFIG_DIRS"] = attack.env["XDG_DATA_DIRS"] = str(mine)
    return attack


def flags(machine: Machine) -> Attack:
    attack = Attack(machine)
    mine = f"{machine.base}/mine/skills"
    attack.options = ["--root", "/", "--roots-policy", "advisory", "--skills", mine]
    attack.options += ["--allow", "network", "--allow", "script.execute"]
    attack.config = {**WEAK, "rules": False, "auth": "none", "skill_paths": [mine]}
    attack.no_token = True
    return attack


def in_file(place: str, words: str = "") -> Callable[[Machine], Attack]:
    """Return the way that uses a settings file of that kind: of the user, a project or a site. The
    file has ``words``, or by default the settings that are allowed there."""

    def way(machine: Machine) -> Attack:
        attack, mine = Attack(machine), machine.base / "mine"
        folder = machine.home / "callboard" if place == "user" else mine
        paths = [folder / "settings.yaml"]
        if place == "project":
            paths = [mine / "projects" / "show.yaml"]
            attack.env = {"CALLBOARD_SITE": str(mine), "CALLBOARD_PROJECT": "show"}
        elif place == "site":
            attack.env = {"CALLBOARD_SITE": str(mine)}
        elif place == "named":
            attack.env = {"CALLBOARD_SETTINGS": str(paths[0])}
        elif place == "scene":
            attack.cwd = mine
            names = ("policy.yaml", "callboard.yaml", "etc/callboard/policy.yaml")
            paths += [mine / name for name in names]
        text = words.format(base=machine.base) or json.dumps(
            {**WEAK, "skill_paths": [f"{mine}/skills"]}
        )
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        machine.give(machine.home, mine)
        return attack

    return way


def same_names(machine: Machine) -> Attack:
    """Put skills and bundles with the studio's names in every folder that is searched for them."""
    attack, mine = Attack(machine), machine.base / "mine"
    skills = f"{mine}/skills"
    for name in ("CALLBOARD", "DCC_MCP", "DCC_MCP_OPENUSD", "DCC_MCP_BLENDER"):
        attack.env[f"{name}_SKILL_PATHS"] = skills
    attack.options, attack.config = ["--skills", skills], {"skill_paths": [skills]}
    for name in ("gift", "review"):
        # If installing the bundle is refused at once, put it where an installed one would be.
        words = ("install-skill", str(mine / "bundles" / name), "--no-start")
        with suppress(NotStarted):
            machine.callboard(Attack(machine), *words)
        target = machine.home / "callboard" / "bundles" / name / "1.0.0"
        if not target.exists():
            shutil.copytree(mine / "bundles" / name, target)
    machine.give(machine.home)
    return attack


def at_the_panel(machine: Machine) -> Attack:
    attack = Attack(machine)
    attack.panel = True
    return attack


def as_a_client(machine: Machine) -> Attack:
    attack = Attack(machine)
    attack.client = True
    return attack


def bare_interpreter(machine: Machine) -> Attack:
    """Set the variables of Python itself, except those that run code inside the server."""
    attack = flags(machine)
    attack.env = {"PYTHONOPTIMIZE": "2", "PYTHONNOUSERSITE": "1", "PYTHONSAFEPATH": "1"}
    attack.env |= {"PYTHONHASHSEED": "0", "PYTHONUTF8": "0", "LC_ALL": "C"}
    return attack


def all_at_once(machine: Machine) -> Attack:
    attack, given = same_names(machine), variables(machine)
    in_file("user")(machine)
    project = in_file("project")(machine)
    options = flags(machine)
    attack.env |= {**given.env, **project.env}
    attack.options, attack.config = options.options, options.config
    attack.no_token = attack.panel = attack.client = True
    return attack


WAYS: dict[str, Callable[[Machine], Attack]] = {
    "nothing": Attack,
    "variables": variables,
    "flags": flags,
    "named file": in_file("named"),
    "user's file": in_file("user"),
    "project's file": in_file("project"),
    "own site's file": in_file("site"),
    "scene's folder": in_file("scene"),
    "words in named file": in_file("named", OWN_WORDS),
    "words in user's file": in_file("user", OWN_WORDS),
    "words in project's file": in_file("project", OWN_WORDS),
    "words in own site": in_file("site", OWN_WORDS),
    "words beside the scene": in_file("scene", OWN_WORDS),
    "same names": same_names,
    "panel": at_the_panel,
    "client": as_a_client,
    "interpreter": bare_interpreter,
    "all at once": all_at_once,
}


# -- the starts ------------------------------------------------------------------------------------

Reached = Callable[[], Mapping[str, object]]


class Start:
    """A way to start. ``running`` yields a function that returns the locks that hold."""

    def missing(self) -> str | None:
        return None

    @contextmanager
    def running(self, machine: Machine, attack: Attack) -> Iterator[Reached]:
        with self.served(machine, attack) as (url, token):
            yield lambda: asked(machine, attack, url, token)

    @contextmanager
    def served(self, machine: Machine, attack: Attack) -> Iterator[tuple[str, str | None]]:
        raise NotImplementedError


class Serve(Start):
    def __init__(self, host: str, needed: str) -> None:
        self.host, self.needed = host, needed

    def missing(self) -> str | None:
        return None if find_spec(self.needed) else f"{self.needed} is not installed"

    @contextmanager
    def served(self, machine: Machine, attack: Attack) -> Iterator[tuple[str, str | None]]:
        words = ["-m", "callboard", "serve", "--host", self.host, *attack.options]
        words += ["--auth", "none"] if attack.no_token else []
        with machine.program(attack, machine.python, *words) as process:
            ready = machine.ready(process)
            yield ready["url"], ready["token"]


class OwnProgram(Start):
    @contextmanager
    def served(self, machine: Machine, attack: Attack) -> Iterator[tuple[str, str | None]]:
        words = [str(machine.base / "mine" / "program.py"), json.dumps(attack.config)]
        with machine.program(attack, machine.python, *words) as process:
            ready = machine.ready(process)
            yield ready["url"], ready["token"]


class BlenderProgram(Start):
    def missing(self) -> str | None:
        return None if shutil.which("blender") else "blender is not installed"

    @contextmanager
    def served(self, machine: Machine, attack: Attack) -> Iterator[tuple[str, str | None]]:
        code = machine.home / "serve.py"
        code.write_text(
            IN_BLENDER.format(
                path=json.dumps(machine.path),
                token=not attack.no_token,
                skills=list(attack.config.get("skill_paths", ())),
            )
        )
        words = ["--background", "--factory-startup", "--python", str(code)]
        with machine.program(attack, "blender", *words) as process:
            ready = machine.ready(process)
            yield ready["url"], ready["token"]


class Through(Start):
    """A gateway, or a bridge, in front of ``callboard serve``."""

    host = Serve("openusd", "pxr")

    def missing(self) -> str | None:
        return self.host.missing()


class ByGateway(Through):
    @contextmanager
    def running(self, machine: Machine, attack: Attack) -> Iterator[Reached]:
        words = ["-m", "callboard", "gateway", "--port", "0"]
        words += ["--auth", "none"] if attack.no_token else []
        with ExitStack() as stack:
            gateway = stack.enter_context(machine.program(attack, machine.python, *words))
            ready = machine.ready(gateway)
            url, token = f"{ready['url']}/{self.host.host}", ready["token"]
            stack.enter_context(self.host.served(machine, attack))
            # The policy doesn't allow a gateway to listen for other machines.
            listens = ("gateway", "--port", "0", "--listen", "127.0.0.1:0", "--idle", "1")

            def reached() -> Mapping[str, object]:
                held = dict(asked(machine, attack, url, token))
                if machine.policy != EVERY:
                    return held
                try:
                    machine.callboard(attack, *listens)
                except NotStarted as error:
                    held["listen"] = held["listen"] and "policy doesn't let" in str(error)
                else:
                    held["listen"] = False
                return held

            yield reached


class ByBridge(Through):
    @contextmanager
    def running(self, machine: Machine, attack: Attack) -> Iterator[Reached]:
        with self.host.served(machine, attack) as (url, _):

            def reached() -> Mapping[str, object]:
                with Bridge(machine, attack) as bridge:
                    return behaviours(machine, attack, bridge.call, url)

            yield reached


class Bridge:
    """A client of ``callboard stdio``. A context manager."""

    def __init__(self, machine: Machine, attack: Attack) -> None:
        self._stack, self._id = ExitStack(), 0
        words = ("-m", "callboard", "stdio")
        self._process = self._stack.enter_context(machine.program(attack, machine.python, *words))
        client = {"protocolVersion": "2025-06-18", "capabilities": {}}
        self.request("initialize", {**client, "clientInfo": {"name": "audit", "version": "1"}})

    def __enter__(self) -> Bridge:
        return self

    def __exit__(self, *ended: object) -> None:
        self._stack.close()

    def request(self, method: str, params: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("{") and (answer := json.loads(line)).get("id") == self._id:
                return dict(answer)
        raise NotStarted("the bridge ended")

    def call(self, name: str, arguments: Mapping[str, object]) -> dict[str, Any] | None:
        answer = self.request("tools/call", {"name": name, "arguments": arguments})
        result = answer.get("result")
        if result is None or result.get("isError"):
            return None
        return dict(result.get("structuredContent") or json.loads(result["content"][0]["text"]))


class Command(Start):
    """A command that starts a host, makes one call, and ends the host."""

    def __init__(self, *needed: str) -> None:
        self.needed = needed

    def missing(self) -> str | None:
        return next(
            (f"{each} is not installed" for each in self.needed if not find_spec(each)), None
        )

    def words(self, machine: Machine, attack: Attack) -> list[str]:
        return ["run", "audit__look", *attack.options]

    @contextmanager
    def running(self, machine: Machine, attack: Attack) -> Iterator[Reached]:
        given = ["--json", json.dumps({"panel": attack.panel})]
        told = machine.callboard(attack, *self.words(machine, attack), *given)
        match = re.search(r'\{[^{}]*"log_level"[^{}]*\}', told)
        if match is None:
            raise NotStarted(f"? {told}")
        held = {**json.loads(match[0]), **on_disk(machine, attack)}
        yield lambda: held


class Batch(Command):
    def words(self, machine: Machine, attack: Attack) -> list[str]:
        report = str(machine.home / "report.jsonl")
        each = str(machine.base / "shows" / "owl.usda")
        return ["batch", "audit__look", "--each", each, "--report", report, *attack.options]

    @contextmanager
    def running(self, machine: Machine, attack: Attack) -> Iterator[Reached]:
        given = ["--json", json.dumps({"panel": attack.panel})]
        told = machine.callboard(attack, *self.words(machine, attack), *given)
        report = (machine.home / "report.jsonl").read_text()
        match = re.search(r'\{[^{}]*"log_level"[^{}]*\}', report)
        if match is None:
            raise NotStarted(f"? {told}{report}")
        held = {**json.loads(match[0]), **on_disk(machine, attack)}
        yield lambda: held


class Farm(Batch):
    """A farm on this machine: a scheduler, and a worker with its host."""

    def words(self, machine: Machine, attack: Attack) -> list[str]:
        report = str(machine.home / "report.jsonl")
        words = ["farm", "run", "audit__look", "--over", "1-1", "-n", "1"]
        return [*words, "--report", report, *attack.options]


STARTS: dict[str, Start] = {
    "serve openusd": Serve("openusd", "pxr"),
    "serve blender": Serve("blender", "bpy"),
    "blender --background": BlenderProgram(),
    "own program": OwnProgram(),
    "gateway": ByGateway(),
    "bridge": ByBridge(),
    "run": Command("pxr"),
    "batch": Batch("pxr"),
    "farm": Farm("pxr", "distributed"),
}


# -- the questions ---------------------------------------------------------------------------------


def asked(machine: Machine, attack: Attack, url: str, token: str | None) -> Mapping[str, object]:
    """Return whether each lock holds in the server at this address."""
    with Client(url, token) as client:
        if attack.client:
            weaken_as_client(client, url, token)

        def call(name: str, arguments: Mapping[str, object]) -> dict[str, Any] | None:
            with suppress(CallboardError, RemoteError):
                result = call_tool(client, name, dict(arguments))
                if not result.get("isError"):
                    content = result.get("structuredContent")
                    return dict(content or json.loads(result["content"][0]["text"]))
            return None

        return behaviours(machine, attack, call, url)


def weaken_as_client(client: Client, url: str, token: str | None) -> None:
    """Make every request with which a client might weaken a lock."""
    base = url.removesuffix("/mcp")
    for path, body in (
        ("/v1/capabilities", {"restore": ["lights", "network", "script.execute"]}),
        ("/v1/artist/act", {"do": "allow", "id": "1"}),
    ):
        request = urllib.request.Request(f"{base}{path}", json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        with suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(request, timeout=20).close()
    with suppress(CallboardError, RemoteError):
        client.request("logging/setLevel", {"level": "emergency"})


def behaviours(
    machine: Machine,
    attack: Attack,
    call: Callable[[str, Mapping[str, object]], dict[str, Any] | None],
    url: str,
) -> Mapping[str, object]:
    """Return whether each lock holds, by both the server's own report and its behavior."""
    base = str(machine.base)
    reported = call("audit__look", {"panel": attack.panel})
    if reported is None:
        raise NotStarted("? the studio's own tool didn't answer")
    held = dict(call("audit__look", {}) or {}) if attack.panel else dict(reported)
    if machine.policy == STRICT:
        return {"roots_policy": held["roots_policy"]}
    inside = (call("audit__read", {"path": f"{base}/shows/owl.usda"}) or {}).get("path")
    outside = call("audit__read", {"path": f"{base}/outside/owl.usda"})
    theirs = call("assets__search", {"folder": f"{base}/mine"})
    acts = {
        "site": (call("review__who", {}) or {}).get("of") == "studio",
        "deny": call("lights__list", {}) is None,
        "roots": inside is not None and outside is None,
        "skills_from": call("stranger__who", {}) is None,
        "bundles_from": call("gift__who", {}) is None,
        "assets": theirs is None,
        "auth": refuses_strangers(url),
        "consent": call("script__execute", {"code": "1"}) is None,
        **on_disk(machine, attack),
    }
    return {name: held.get(name) and acts.get(name, True) for name in LOCKS}


def refuses_strangers(url: str) -> bool:
    """Return whether a request without a token is refused."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    request = urllib.request.Request(url, body)
    request.add_header("Content-Type", "application/json")
    request.add_header("Accept", "application/json, text/event-stream")
    try:
        urllib.request.urlopen(request, timeout=20).close()
    except urllib.error.HTTPError as error:
        return error.code == 401
    return False


def on_disk(machine: Machine, attack: Attack) -> dict[str, bool]:
    """Return whether locks hold, by the evidence in the user's files and commands: the records, the
    log, and the clients."""
    folder = machine.home / "callboard"
    end = monotonic() + 30
    recorded = False
    while not recorded and monotonic() < end:
        data = b"".join(
            each.read_bytes() for each in (folder / "records").rglob("*") if each.is_file()
        )
        recorded = b"audit__look" in data
    logs = "".join(each.read_text() for each in (folder / "logs").glob("*.log"))
    if machine.policy != EVERY:
        return {}
    try:
        machine.callboard(attack, "config", "vscode")
        clients = False
    except NotStarted as error:
        clients = "policy doesn't allow" in str(error) or "belongs in this machine" in str(error)
    return {"records": recorded, "log_level": "DEBUG callboard.audit" in logs, "clients": clients}


if __name__ == "__main__":
    raise SystemExit(main())
