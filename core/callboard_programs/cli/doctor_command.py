"""``callboard doctor``: shows what is installed, what is running, what is wrong and how to fix
it."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tornado

from callboard.ground.folders import site_folder
from callboard.ground.machine_policy import PolicyError, policy_site, written_policy
from callboard.ground.plain_text import plain
from callboard.ground.version import __version__
from callboard.host_kit.headless import pip_install
from callboard.host_kit.system_libraries import missing_for_blender
from callboard.records import log_file
from callboard.records.store import default_folder
from callboard.skills.discovery import (
    BUNDLED,
    has_skill,
    scan_and_load,
    search_paths,
    site_skills,
    skill_folders,
)
from callboard.skills.script_check import script_failures
from callboard.transport.instances import Instance, announced, answer_of, folder, is_alive, listed
from callboard_programs.cli import app_nap, blender_python, private_folders

_OPTIONAL = {
    "pxr": ("the OpenUSD host", pip_install("usd")),
    "bpy": ("Blender headless", f"{pip_install('blender')} on Python 3.11"),
}
#: Maximum number of bytes in a server's answer about its skills.
_MOST_BYTES = 64 * 2**20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--settings",
        action="store_true",
        help="show the settings of a server started here, and their sources",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each finding. Return 1 if anything is wrong."""
    if arguments.settings:
        return _show_settings(as_json=arguments.json)
    wrong, rows = 0, []
    for good, line in findings():
        rows.append({"ok": good, "message": line})
        wrong += not good
        if not arguments.json:
            print(f"{'ok   ' if good else 'WRONG'} {line}")
    if arguments.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    return 1 if wrong else 0


def _show_settings(*, as_json: bool) -> int:
    from callboard.settings import absent, setting_line, settled, sources

    named = sources({})
    misspelt = [line for good, line in _variables() if not good]
    values, missing = settled(named), [*misspelt, *absent(named)]
    if as_json:
        rows = [
            {
                "name": one.setting.name,
                "value": one.value,
                "by": [who for who, _ in one.by],
                "locked": one.locked,
            }
            for one in values
        ]
        print(json.dumps({"settings": rows, "wrong": missing}, indent=2, ensure_ascii=False))
        return 1 if missing else 0
    for line in map(setting_line, values):
        print(line)
    for line in missing:
        print(f"WRONG {line}")
    return 1 if missing else 0


def findings() -> Iterator[tuple[bool, str]]:
    version = platform.python_version()
    supported = (3, 10) <= sys.version_info[:2] <= (3, 14)
    yield (
        supported,
        f"Python {version}"
        + ("" if supported else ": 3.10 to 3.14 are supported; install callboard into one of them"),
    )
    yield True, f"callboard {__version__}, tornado {tornado.version}"
    yield from _optional()
    yield from blender_python.findings()
    served: set[str] = set()
    yield from _instances(served)
    yield from _gateway()
    yield from _settings()
    yield _logs()
    try:
        yield from _records()
        yield from _skills(served)
        yield from _bundles()
    except PolicyError:
        return  # The lines about settings explain this.


def _optional() -> Iterator[tuple[bool, str]]:
    there = {module for module in _OPTIONAL if find_spec(module) is not None}
    for module, (purpose, command) in _OPTIONAL.items():
        if module in there:
            missing_capabilities = missing_for_blender() if module == "bpy" else None
            yield (
                missing_capabilities is None,
                f"{module} is installed"
                + (f", but {missing_capabilities}" if missing_capabilities else ""),
            )
        elif not there:
            own = os.access(sysconfig.get_path("purelib"), os.W_OK)
            how = command if own else f"ask the person who maintains {sys.prefix} to install it"
            yield True, f"{module} is not installed, and only needed for {purpose}: {how}"


def _instances(served: set[str]) -> Iterator[tuple[bool, str]]:
    """Yield the findings about instances. The faults that instances have found in their skills
    are added to ``served``."""
    yield from private_folders.findings(folder())
    running = listed(everywhere=True)
    for entry in running:
        instance = entry.instance
        if entry.state == "serving":
            tools = "" if entry.tools is None else f"{entry.tools} tools "
            yield True, f"{instance.name} is serving {tools}at {instance.url} (pid {instance.pid})"
            yield from _served_skills(instance, served)
            health = answer_of(instance, "GET", "/v1/healthz") or {}
            for sentence in map(str, health.get("not_kept") or ()):
                yield False, plain(f"{instance.name} (pid {instance.pid}): {sentence}")
        elif entry.state == "elsewhere":
            where = f"is running on {plain(instance.machine)}, which shares this home folder"
            yield True, f"{instance.name} (pid {instance.pid}) {where}"
            continue
        else:
            busy = "is busy and answers late: wait, or look at its window for a dialog"
            silent = "is running but does not answer: look at its window for a dialog, or end it"
            how = busy if entry.state == "busy" else silent
            yield False, f"{instance.name} (pid {instance.pid}) {how}"
        command = app_nap.advice(instance.pid) if app_nap.SLOWS else None
        if command is not None:
            yield (
                True,
                (
                    f"macOS slows {instance.name} (pid {instance.pid}) down in the background. "
                    f"If it answers late: `{command}`, then start it again"
                ),
            )
    if not running:
        yield True, f"nothing is running{_closed()}; start a host, or run `callboard serve`"


def _closed() -> str:
    """Return what else may be the reason that no instance is found on a machine with a policy."""
    with suppress(PolicyError):
        if written_policy() is None:
            return ""
    return ", or has closed its port since the policy changed: then its panel and its log say so"


def _settings() -> Iterator[tuple[bool, str]]:
    from callboard.settings import SettingsError, absent, sources, why_off

    yield from _variables()
    try:
        if (why := why_off()) is not None:
            yield False, why
        named = sources({})
        files = [source.label for source in named]
    except SettingsError as error:
        yield False, f"settings: {error.message}"
    else:
        for line in absent(named):
            yield False, line
        if (site := site_folder()) is not None:
            by = "CALLBOARD_SITE" if policy_site() is None else "this machine's policy"
            yield True, f"the site's folder is {site}, which {by} names"
            yield from _site_part()
        if files:
            yield True, f"settings from {', '.join(files)}: callboard doctor --settings shows them"


def _site_part() -> Iterator[tuple[bool, str]]:
    from callboard_programs.setup.served import missing_part

    if (missing := missing_part()) is not None:
        yield (
            False,
            (
                f"the site's folder doesn't serve Blender, because {missing} is missing: ask the "
                "person who maintains the site to install it, or to name another version in the "
                "site's file version"
            ),
        )


def _variables() -> Iterator[tuple[bool, str]]:
    from callboard.settings import unread_variables

    for name, meant in unread_variables():
        hint = f"; did you mean {meant}?" if meant else ""
        yield meant is None, f"nothing reads the environment variable {plain(name)}{hint}"


def _logs() -> tuple[bool, str]:
    folder = log_file.default_folder()
    # Unlike Path.exists, this is False where it isn't allowed to look.
    there = next(each for each in (folder, *folder.parents) if os.access(each, os.F_OK))
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return True, f"logs are kept in {folder}, a file for each instance with something to log"
    return False, (
        f"logs can't be kept in {folder}: have the owner or the permissions of {there} corrected"
    )


def _records() -> Iterator[tuple[bool, str]]:
    """Yield findings on whether this user's servers can keep and send records."""
    from callboard.records.trial import record_trouble
    from callboard.settings import SettingsError, config_from

    try:
        config = config_from({})
    except SettingsError:
        return  # This was already reported with the settings.
    if not config.records:
        yield True, "calls aren't recorded, because the setting records is false"
        return
    folder = default_folder()
    trouble = record_trouble(folder)
    refused = "; calls are refused until then" if config.records == "required" else ""
    how = (
        "free some space there, have its owner or its permissions corrected, or set CALLBOARD_HOME"
        f" to a folder on a local disk{refused}"
    )
    yield (
        trouble is None,
        (
            f"records can be kept in {folder}"
            if trouble is None
            else f"records can't be kept in {folder} ({trouble}): {how}"
        ),
    )
    if config.records_to:
        from callboard.records.sinks import sink_of

        for address in config.records_to:
            try:
                sink_of(address)
            except ValueError as error:
                yield False, f"records are not sent: {plain(str(error))}; see records_to"
            else:
                yield True, f"records are also sent to {plain(address)}"


def _gateway() -> Iterator[tuple[bool, str]]:
    """Yield the findings about the gateway. A gateway that is no longer running is included,
    because clients may still have its address."""
    from callboard_programs.gateway.kept_address import gateway_url, read_address
    from callboard_programs.gateway.running_gateway import folder, running_gateway

    known = [one for one in announced(folder()) if one.is_here]
    running = running_gateway()
    if running is not None:
        yield True, f"the gateway is running at {running.url} (pid {running.pid})"
        return
    for one in known:
        if is_alive(one):
            yield (
                False,
                f"the gateway at {one.url} doesn't answer: end its process, {one.pid}, then "
                "run `callboard gateway`",
            )
            return
    if known or read_address().token is not None:
        yield (
            True,
            f"no gateway is running at {gateway_url(None)}, where one ran before: clients with "
            "that address need `callboard gateway`; the bridge, `callboard stdio --gateway`, "
            "starts it",
        )


def _served_skills(instance: Instance, served: set[str]) -> Iterator[tuple[bool, str]]:
    """Yield the faults that an instance has found in its skills, using its own Python."""
    answer = answer_of(instance, "GET", "/v1/skills", most=_MOST_BYTES) or {}
    skills, failures = answer.get("skills"), answer.get("failures")
    if not isinstance(skills, list) or not isinstance(failures, list):
        yield False, f"{instance.name} doesn't report its skills; look at its log"
        return
    loaded = sum(isinstance(skill, dict) and bool(skill.get("loaded")) for skill in skills)
    which = f"{instance.name} (pid {instance.pid})"
    yield True, f"{which} has {len(skills)} skills, {loaded} of them loaded"
    for failure in filter(lambda each: isinstance(each, dict), failures):
        sentence = _sentence(failure)
        served.add(sentence)
        yield failure.get("kind") == "replaced", f"{which}: {sentence}"


def _sentence(failure: Mapping[str, Any]) -> str:
    """Return a sentence for a failure given as JSON, which may come from a server of another
    version."""
    if failure.get("reference") == ".":
        return plain(f"{failure.get('skill')}: {failure.get('message')}")
    line = f", line {failure['line']}" if failure.get("line") else ""
    place = f"skill {failure.get('skill')}, {failure.get('reference')}{line}"
    return plain(f"{place}: {failure.get('message')}")


def _skills(served: set[str]) -> Iterator[tuple[bool, str]]:
    """Yield the faults in this Python's skills that no server has reported."""
    from callboard.settings import named_skill_paths

    named = named_skill_paths()
    for path in search_paths(extra=named):
        if path in site_skills():
            continue
        set_so = path in named
        where = "the setting skill_paths" if set_so else "CALLBOARD_SKILL_PATHS"
        if not path.is_dir():
            if set_so:
                continue  # These were already reported with the settings.
            yield False, f"the skill path {path} does not exist; correct {where}"
        elif not has_skill(path):
            wanted = "name a skill's folder, or the one right above it"
            yield False, f"there is no skill in the skill path {path}; in {where} {wanted}"
    skills, skipped = scan_and_load(extra_paths=named)
    yield True, f"{len(skills)} skills are in the folders of this Python"
    for skill in skills:
        skipped += skill.failures
        if skill.path.parent != BUNDLED:  # Bundled skills were checked before release.
            skipped += script_failures(skill)
    sentences = {
        _sentence(failure.as_json()): (failure.kind == "replaced", failure.skill)
        for failure in skipped
    }
    for sentence, (good, name) in sentences.items():
        if sentence not in served:
            folder = None if good else _folder_of(name, search_paths(extra=named))
            yield good, sentence if folder is None else f"{sentence}; fix it, then {_lint(folder)}"


def _lint(folder: Path) -> str:
    return f"`callboard lint {shlex.quote(str(folder))}`"


def _folder_of(name: str, paths: Iterable[Path]) -> Path | None:
    for path in paths:
        with suppress(OSError):
            for folder in skill_folders(path):
                if folder.name == name:
                    return folder
    return None


def _bundles() -> Iterator[tuple[bool, str]]:
    from callboard.bundles.installed.install_folders import places
    from callboard.bundles.installed.skill_check import trouble_here

    for place, scope in places([Path.cwd()]):
        for bundle in place.installed():
            trouble = trouble_here(bundle)
            version = f"{bundle.manifest.version} ({scope})"
            if trouble:
                version = (
                    f"not loaded, because {trouble}; or `callboard uninstall-skill {bundle.name}`"
                )
            yield trouble is None, f"bundle {bundle.name}: {version}"
