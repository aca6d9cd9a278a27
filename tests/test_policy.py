"""The machine's policy holds against everything below it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

import pytest

from callboard.config import McpHttpConfig
from callboard.errors import CallboardError, PeerError
from callboard.ground.machine_policy import PolicyError
from callboard.panel.client_files import formats_allowed, require_allowed
from callboard.settings import SETTINGS, SettingsError, config_from, locked, under_policy, why_off
from callboard.skill_server import create_skill_server
from callboard.skills.origins import folder_digest
from callboard.transport.http.limits import HttpLimits
from callboard_programs.cli import main
from callboard_programs.client import Client
from callboard_programs.client.tool_call import call_tool
from e2e.serving import Program, callboard
from machine_policies import MachinePolicy, machine
from needed import needs
from serving import Served, served
from skills.skill_tree import write_files, write_skill
from waiting import until

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there, the registry holds the policy")


@pytest.fixture(autouse=True)
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MachinePolicy:
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    for name in ("CALLBOARD_SETTINGS", "CALLBOARD_PROJECT", "CALLBOARD_SITE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    return machine(monkeypatch, tmp_path / "machine")


class Lock(NamedTuple):
    """A locked setting: the policy's value for it, and the value that somebody would set to weaken
    it. ``field`` is a configuration's field that a program or the command line sets."""

    policy: str
    weak: str
    holds: Callable[[McpHttpConfig], object]
    field: Mapping[str, Any] = {}
    variable: str = ""


LOCKS = {
    "enabled": Lock("enabled: false", "enabled: true", lambda c: not c.locks.enabled),
    "site": Lock("site: SITE", "site: /mine", lambda c: c.locks.site.endswith("studio")),
    "deny": Lock(
        "deny: [render]", "deny: []", lambda c: "render" in c.forbidden, {"deny": ()}, "usd"
    ),
    "roots": Lock(
        "roots: [/shows]",
        "roots: [/]",
        lambda c: (c.locks.roots_limit, c.always_strict) == (("/shows",), True),
        {"roots": ("/",), "always_strict": False},
        "/",
    ),
    "roots_policy": Lock(
        "roots_policy: strict",
        "roots_policy: advisory",
        lambda c: c.always_strict,
        {"roots_policy": "advisory", "always_strict": False},
        "advisory",
    ),
    "records": Lock(
        "records: required",
        "records: false",
        lambda c: c.records == "required",
        {"records": False},
        "0",
    ),
    "skills_from": Lock(
        "skills_from: [/studio]",
        "skills_from: [/]",
        lambda c: c.locks.skills_from == ("/studio",),
        {"skill_paths": ("/",)},
        "/",
    ),
    "bundles_from": Lock(
        "bundles_from: [/studio]",
        "bundles_from: [/]",
        lambda c: c.locks.bundles_from == ("/studio",),
    ),
    "assets": Lock(
        "assets: [/library]",
        "assets: [/]",
        lambda c: c.locks.assets == ("/library",) and "network" in c.forbidden,
        {"allow": ("network",)},
    ),
    "auth": Lock("auth: token", "auth: none", lambda c: c.auth == "token", {"auth": "none"}),
    "listen": Lock("listen: false", "listen: true", lambda c: locked("listen") is False),
    "consent": Lock(
        "consent: {script: refuse}",
        "consent: {script: allow}",
        lambda c: c.locks.consent == {"script": "refuse"},
        {"rules": False},
    ),
    "log_level": Lock(
        "log_level: info", "log_level: warning", lambda c: c.locks.log_level == "info"
    ),
    "clients": Lock(
        "clients: [cursor]", "clients: [vscode]", lambda c: list(formats_allowed()) == ["cursor"]
    ),
}
WAYS = ("flag", "program", "variable", "named file", "project", "user", "site", "own locks")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LOCKS)
def test_nothing_weakens_what_the_policy_locks(
    name: str, way: str, policy: MachinePolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, studio, mine = LOCKS[name], tmp_path / "studio", tmp_path / "mine"
    studio.mkdir()
    policy.write(lock.policy.replace("SITE", str(studio)) + "\n")
    given: Mapping[str, Any] = {}
    program = McpHttpConfig()
    write_files(mine, {"settings.yaml": "", "projects/show.yaml": ""})
    if way == "flag":
        given = {key: value for key, value in lock.field.items() if key != "always_strict"}
    elif way == "program":
        program = McpHttpConfig(**lock.field)
    elif way == "own locks":
        program = replace(program, locks=replace(program.locks, enabled=True, roots_limit=("/",)))
    elif way == "variable":
        monkeypatch.setenv("CALLBOARD_SITE", str(mine))
        monkeypatch.setenv(f"CALLBOARD_{name.upper()}", lock.variable)
    elif way == "named file":
        monkeypatch.setenv("CALLBOARD_SETTINGS", str(mine / "settings.yaml"))
        write_files(mine, {"settings.yaml": lock.weak})
    elif way == "user":
        monkeypatch.setenv("CALLBOARD_HOME", str(mine))
        write_files(mine, {"settings.yaml": lock.weak})
    else:
        monkeypatch.setenv("CALLBOARD_SITE", str(mine))
        monkeypatch.setenv("CALLBOARD_PROJECT", "show")
        file = "settings.yaml" if way == "site" else "projects/show.yaml"
        write_files(mine, {file: lock.weak})
    others = {key: given[key] for key in ("auth", "rules") if key in given}
    with suppress(SettingsError):  # Then nothing starts.
        assert lock.holds(
            under_policy(config_from({k: v for k, v in given.items() if k not in others}, **others))
        )
    with suppress(SettingsError):
        assert lock.holds(under_policy(program))


def test_without_a_policy_nothing_is_locked() -> None:
    config = under_policy(McpHttpConfig(auth="none", records=False, roots=["/"]))
    assert (config.auth, config.records, config.always_strict) == ("none", False, False)
    assert (config.locks, why_off()) == (McpHttpConfig().locks, None)


def test_a_policy_may_set_any_setting_and_nothing_overrules_it(policy: MachinePolicy) -> None:
    policy.write("allow: []\ncall_timeout: 60\ncapture_intent: true\n")
    config = under_policy(config_from({"allow": ["network"], "call_timeout": 1.0}))
    assert (config.allow, config.call_timeout, config.capture_intent) == ((), 60, True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("dney: [render]", "policy.yaml:1: 'dney' is not a setting; did you mean deny?"),
        ("enabled: 1", "enabled must be true or false"),
        ("roots: [~]", "roots must be a list of folders"),
        ("roots: ['~/shows']", "roots must be full paths in a policy"),
        ("roots: shows", "roots must be full paths in a policy"),
        ("auth: none", "auth can't be locked at none"),
        ("roots_policy: advisory", "roots_policy can't be locked at advisory"),
        ("skills_from: ['sha256:12']", "a list of folders' full paths"),
        ("consent: {scripts: ask}", "consent must be a mapping of script"),
        ("records: maybe", "records must be true, false or required"),
    ],
)
def test_a_policy_that_cannot_be_meant_starts_nothing(
    policy: MachinePolicy, text: str, says: str
) -> None:
    policy.write(text + "\n")
    with pytest.raises(PolicyError) as refused:
        under_policy(McpHttpConfig())
    assert says in refused.value.message


def test_doctor_says_what_is_locked_and_by_which_file(
    policy: MachinePolicy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    policy.write("deny: [render]\nroots: [/shows]\nauth: token\n")
    monkeypatch.setenv("CALLBOARD_ROOTS", "/")
    monkeypatch.setenv("CALLBOARD_DENY", "usd")
    assert main(["doctor", "--settings"]) == 1  # The folder /shows doesn't exist.
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    file = f"policy ({policy.file})"
    assert lines["roots"].endswith(f" /shows  LOCKED  ({file}; not environment: /)")
    assert lines["deny"].endswith(f" render, usd  LOCKED  ({file}: render; environment: usd)")
    assert lines["auth"].endswith(f" token  LOCKED  ({file})")
    assert lines["roots_policy"].endswith(f" strict  LOCKED  ({file})")
    assert "LOCKED" not in lines["port"]
    main(["doctor", "--settings", "--json"])
    rows = json.loads(capsys.readouterr().out)["settings"]
    assert {row["name"] for row in rows if row["locked"]} == {
        "deny",
        "roots",
        "roots_policy",
        "auth",
    }
    policy.file.chmod(0o666)
    assert main(["doctor"]) == 1
    assert f"others than the administrator may write to {policy.file}" in capsys.readouterr().out


# -- in a running server --------------------------------------------------------------------------


def test_the_panel_and_clients_stay_inside_the_limit(policy: MachinePolicy, tmp_path: Path) -> None:
    shows, outside = tmp_path / "shows", tmp_path / "outside"
    for folder in (shows / "owl", outside):
        folder.mkdir(parents=True)
    (shows / "link").symlink_to(outside)
    policy.write(f"roots: [{shows}]\ndeny: [render]\nconsent: {{script: ask}}\n")
    answers = {"roots/list": lambda params: {"roots": [{"uri": outside.as_uri()}]}}
    with served(roots=["/"]) as server, server.client({"roots": {}}, answers) as client:
        server.tool(
            "read",
            lambda path: path,
            {
                "type": "object",
                "properties": {"path": {"type": "string", "format": "workspace-path"}},
            },
            required_capabilities=["filesystem.read"],
        )
        app = server.app
        app.capabilities.restore("render")
        app.roots.set_policy("advisory")
        app.roots.set_artist([app.roots.artist[0]._replace(path="/", uri="file:///")])
        app.dispatcher.consent.set_policy("script", "allow")
        assert "render" not in app.capabilities.declared
        assert app.dispatcher.consent.policies["script"] == "ask"
        assert [root.path for root in app.roots.artist] == [str(shows)]
        for path in (str(outside), "/etc/passwd", str(shows / "link"), "workspace://../outside"):
            refusal = client.request("tools/call", {"name": "read", "arguments": {"path": path}})
            assert "error" in refusal, path
        inside = client.call("read", {"path": str(shows / "owl")})
        assert not inside.get("isError")


def test_a_yes_that_the_policy_wants_is_refused_where_nobody_is(policy: MachinePolicy) -> None:
    policy.write("consent: {destructive: ask}\n")
    with served() as server, server.client() as client:
        server.tool("wipe", lambda: "gone", annotations={"destructiveHint": True})
        refusal = client.request("tools/call", {"name": "wipe", "arguments": {}})["error"]
        assert "no artist is here to be asked" in refusal["message"]


def test_only_named_skills_are_let_in(policy: MachinePolicy, tmp_path: Path) -> None:
    files = {"tools.yaml": "tools: [{name: go, description: d, affinity: any}]\n"}
    files["scripts/go.py"] = "def main():\n    return {}\n"
    studio = write_skill(tmp_path / "studio", "studio-skill", files=files)
    pinned = write_skill(tmp_path / "mine", "pinned", files=files)
    write_skill(tmp_path / "mine", "stranger", files=files)
    policy.write(f"skills_from: [{studio.parent}, '{folder_digest(pinned)}']\n")
    paths = [str(tmp_path / "mine"), str(tmp_path / "studio")]
    with served(skills=True, skill_paths=paths) as server:
        names = {one.skill.name for one in server.app.catalog.known if one.scope != "bundled"}
        assert names == {"studio-skill", "pinned"}
        (failure,) = server.app.catalog.failures
        assert failure.skill == "stranger"
        assert "the studio's policy doesn't let this in; its digest is sha256:" in failure.message
        (pinned / "scripts" / "go.py").write_text("def main():\n    return {'changed': True}\n")
        server.app.catalog.refresh()
        names = {one.skill.name for one in server.app.catalog.known if one.scope != "bundled"}
        assert names == {"studio-skill"}


def test_nobody_replaces_a_skill_that_the_site_ships(
    policy: MachinePolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    for place, name in ((site / "skills", "review"), (site / "pinned", "publish")):
        write_skill(place, name)
        write_skill(tmp_path / "mine", name)
    write_files(site, {"settings.yaml": "skill_paths: [pinned]\n"})
    policy.write(f"site: {site}\n")
    monkeypatch.setenv("CALLBOARD_SITE", str(tmp_path / "mine"))
    monkeypatch.setenv("CALLBOARD_SKILL_PATHS", str(tmp_path / "mine"))
    with served(skills=True, skill_paths=[str(tmp_path / "mine")]) as server:
        for name in ("review", "publish"):
            assert server.app.catalog.get(name).path.is_relative_to(site)


def test_assets_come_from_the_studios_library(policy: MachinePolicy, tmp_path: Path) -> None:
    library, mine = tmp_path / "library", tmp_path / "mine"
    write_files(library, {"crate/asset.json": '{"kind": "model", "name": "Crate"}'})
    write_files(mine, {"crate/asset.json": '{"kind": "model", "name": "Mine"}'})
    policy.write(f"assets: [{library}]\n")
    with served(skills=True, roots=[str(mine)]) as server, server.client() as client:
        server.app.capabilities.restore("network")
        assert "network" not in server.app.capabilities.declared

        def search(folder: Path) -> Any:
            arguments = {"folder": str(folder)}
            return client.request("tools/call", {"name": "assets__search", "arguments": arguments})

        assert "error" in search(mine)
        assert "result" in search(library)


# -- while it runs --------------------------------------------------------------------------------


def sweep(server: Served) -> None:
    """Have the server read the policy now, instead of within a few seconds."""
    server.app.guest.loop.call_soon_threadsafe(server.app._policy.check)


def test_a_changed_policy_is_in_force_soon(policy: MachinePolicy) -> None:
    with served(auth="none") as server, server.client() as client:
        client.request("tools/list")
        policy.write("deny: [scene.read]\nroots: [/shows]\nauth: token\n")
        sweep(server)
        until(
            lambda: "scene.read" not in server.app.capabilities.declared,
            "the policy to be in force",
        )
        until(lambda: server.app.token is not None, "the policy to be in force")
        assert [root.path for root in server.app.roots.artist] == ["/shows"]
        with server.client() as again:
            again.request("tools/list")
        policy.file.unlink()
        sweep(server)
        sweep(server)
        until(lambda: "scene.read" in server.app.capabilities.declared, "the policy to be in force")
        assert server.app.roots.artist == []


@pytest.mark.parametrize("text", ["enabled: false\n", "enabled: 1\n", "call_timeout: 7\n"])
def test_what_it_forbids_ends_at_once(policy: MachinePolicy, text: str) -> None:
    with served() as server:
        server.app.controls.status.watch(lambda snapshot: None)
        url = server.app.url
        with server.client() as client:
            client.request("tools/list")
            policy.write(text)
            sweep(server)
            until(lambda: not server.app._listener.is_open, "the policy to be in force")
        with pytest.raises(OSError, match="refused"):
            server.client().request("tools/list")
        until(
            lambda: server.app.controls.status.snapshot.switched_off != "",
            "the policy to be in force",
        )
        assert str(policy.file) in server.app.controls.status.snapshot.switched_off
        policy.write("enabled: true\n")
        sweep(server)
        until(lambda: server.app._listener.is_open, "the policy to be in force")
        assert server.app.url == url
        with server.client() as client:
            client.request("tools/list")
        assert server.app.dispatcher.switched_off == ""


@pytest.mark.parametrize("text", ["", "listn: false\n", "enabled: false\n"])
def test_the_server_itself_notices_that_the_policy_is_in_order_again(
    policy: MachinePolicy, text: str
) -> None:
    with served(skills=True, limits=HttpLimits(sweep_every=0.02)) as server:
        for _ in range(2):
            policy.write(text)
            until(lambda: not server.app._listener.is_open, "the port to be closed")
            sleep(0.2)  # The server checks the policy, bundles and clients several more times.
            policy.write("enabled: true\n")
            until(lambda: server.app._listener.is_open, "the port to be open again")
        with server.client() as client:
            client.request("tools/list")


@pytest.mark.parametrize(
    ("text", "says"), [("enabled: false\n", "switched off"), ("listn: false\n", "'listn' is not")]
)
def test_the_list_of_instances_says_why_there_are_none(
    policy: MachinePolicy, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    policy.write("auth: token\n")
    main(["doctor"])
    assert "nothing is running, or has closed its port since" in capsys.readouterr().out
    policy.write(text)
    assert main(["list"]) == 0
    assert says in capsys.readouterr().out
    assert main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_while_it_is_off_nothing_starts(
    policy: MachinePolicy, capsys: pytest.CaptureFixture[str]
) -> None:
    policy.write("enabled: false\n")
    with pytest.raises(PolicyError, match="switched off"), served():
        pass
    with pytest.raises(PolicyError, match="switched off"):
        create_skill_server("maya").start()
    for words in (["gateway"], ["call", "x"], ["doctor"]):
        assert main(words) != 0
        told = capsys.readouterr()
        assert "callboard is switched off on this machine by its policy" in told.out + told.err


def test_other_clients_are_not_set_up(policy: MachinePolicy) -> None:
    policy.write("clients: [cursor]\nlisten: false\n")
    with pytest.raises(PeerError, match="only: cursor"):
        require_allowed("vscode")
    assert main(["config", "vscode"]) == 1
    assert main(["gateway", "--listen", "127.0.0.1:0"]) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["serve"],
        ["serve", "--worker"],
        ["gateway", "--port", "0"],
        ["run", "scene__scene_info"],
        ["batch", "scene__scene_info", "--each", "*.usda"],
        ["farm", "worker", "--scheduler", "tcp://127.0.0.1:9"],
    ],
    ids=" ".join,
)
@pytest.mark.slow
def test_every_start_obeys(words: list[str], policy: MachinePolicy, tmp_path: Path) -> None:
    """Each start is a separate process, on a machine where callboard is switched off."""
    policy.write("enabled: false\n")
    (tmp_path / "a.usda").write_text("#usda 1.0\n")
    done = subprocess.run(
        [sys.executable, "-m", "callboard", *words],
        cwd=tmp_path,
        env=policy.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "switched off on this machine" in done.stdout + done.stderr


#: Every lock but ``enabled``, in one policy.
EVERY_LOCK = """
site: BASE/studio
deny: [lights]
roots: [BASE/shows]
roots_policy: strict
records: required
skills_from: [BASE/studio]
bundles_from: [BASE/studio]
assets: [BASE/library]
auth: token
listen: false
consent: {script: refuse}
log_level: debug
clients: [cursor]
"""
TOOLS = """\
tools:
  - {name: whose, description: Says whose skill this is., affinity: any}
  - name: opens
    description: Opens a file.
    affinity: any
    required_capabilities: [filesystem.read]
    input_schema:
      type: object
      properties: {path: {type: string, format: workspace-path}}
"""


@needs("pxr")
@pytest.mark.slow
def test_a_host_that_really_starts_keeps_every_lock(policy: MachinePolicy, tmp_path: Path) -> None:
    """A user tries to weaken them with variables, options, a file and a skill of the same name, all
    at once. ``benchmarks/policy_starts.py`` tests more kinds of starts, and each of these ways
    separately."""
    policy.write(EVERY_LOCK.replace("BASE", str(tmp_path)))
    mine, shows, outside = (tmp_path / name for name in ("mine", "shows", "outside"))
    for whose, names in (("studio/skills", ["review"]), ("mine", ["review", "stranger"])):
        says = f"def main():\n    return {{'whose': {whose!r}}}\n"
        files = {"tools.yaml": TOOLS, "scripts/whose.py": says}
        files["scripts/opens.py"] = "def main(path):\n    return {'path': path}\n"
        for name in names:
            write_skill(tmp_path / whose, name, files=files)
    for folder in (shows, outside):
        write_files(folder, {"a.usda": "#usda 1.0\n"})
    weak = "roots: [/]\nroots_policy: advisory\nrecords: false\nallow: [network, script.execute]\n"
    write_files(tmp_path / "home", {"settings.yaml": weak})
    write_files(mine, {"settings.yaml": weak, "crate/asset.json": '{"kind": "model", "name": "M"}'})
    environ = {**policy.environment(), "CALLBOARD_ROOTS": "/", "CALLBOARD_RECORDS": "0"}
    environ |= {"CALLBOARD_SITE": str(mine), "CALLBOARD_SKILL_PATHS": str(mine)}
    words = ["serve", "--host", "openusd", "--auth", "none", "--root", "/", "--skills", str(mine)]
    words += ["--roots-policy", "advisory", "--allow", "script.execute", "--allow", "network"]
    with Program(callboard(*words), environ) as host:
        with pytest.raises(CallboardError), Client(host.url, None) as stranger:
            stranger.request("tools/list")
        with Client(host.url, host.token) as client:

            def answers(tool: str, **given: object) -> Any:
                with suppress(CallboardError):
                    return call_tool(client, tool, given)["structuredContent"]
                return None

            assert answers("review__whose") == {"whose": "studio/skills"}
            assert answers("review__opens", path=str(shows / "a.usda"))
            for refused in (
                answers("review__opens", path=str(outside / "a.usda")),
                answers("stranger__whose"),
                answers("lights__list"),
                answers("script__execute", code="1"),
                answers("assets__search", folder=str(mine)),
            ):
                assert refused is None
            assert (tmp_path / "home" / "records").is_dir()
            assert list((tmp_path / "home" / "logs").glob("*.log"))
    told = subprocess.run(
        callboard("config", "vscode"), env=environ, capture_output=True, text=True, check=False
    )
    assert (told.returncode, "only: cursor" in told.stderr) == (1, True)
