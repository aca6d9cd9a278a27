"""``callboard vendor``: installs the packages that a skill requires into the skill's folder."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from callboard.errors import HostError, PeerError
from callboard.ground.plain_text import plain, plain_json
from callboard.settings import config_from, under_policy
from callboard.skills.discovery import load_all, search_paths, skill_folders, suits
from callboard.skills.load import load_skill
from callboard.skills.model import SkillMetadata, is_usable
from callboard.skills.vendored import REQUIRED, this_python, vendor_folder
from callboard.transport.instances import listed

_VERSION = re.compile(r"3\.\d{1,2}")
_ASK = "import sys; print('%d.%d' % sys.version_info[:2])"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "skill",
        metavar="DIR|NAME",
        help="the folder of a skill, or the name of a skill that callboard can find",
    )
    parser.add_argument(
        "--host",
        metavar="HOST",
        help="if several skills have that name, the one for this host, such as blender",
    )
    parser.add_argument(
        "--python",
        metavar="VERSION|PROGRAM",
        action="append",
        default=[],
        help="a Python version, such as 3.11, or an interpreter, such as mayapy; by default, this "
        "Python; repeatable",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(arguments: argparse.Namespace) -> int:
    skill = _skill(arguments.skill, arguments.host)
    if not skill.requires:
        raise PeerError(
            f"skill '{skill.name}' requires no packages; name them in SKILL.md, below "
            "metadata.dcc-mcp, such as requires: [Pillow>=10]"
        )
    folders = []
    for python in arguments.python or [this_python()]:
        version = _version_of(python)
        folder = _vendor(skill, version)
        brought = metadata.distributions(path=[str(folder)])
        names = sorted(f"{each.metadata['Name']} {each.version}" for each in brought)
        name = folder.relative_to(skill.path).as_posix()
        folders.append({"python": version, "folder": str(folder), "packages": names})
        if not arguments.json:
            print(f"{name}: {', '.join(names)}")
    if arguments.json:
        print(plain_json({"skill": skill.name, "folders": folders}))
    return 0


def _skill(given: str, host: str | None) -> SkillMetadata:
    """Return the skill in the given folder or with the given name. Raises PeerError."""
    folder = Path(given).absolute()
    if not folder.exists():
        candidates = _called(given, host)
        # Skills without requirements are ignored if another skill with this name has requirements.
        meant = [skill for skill in candidates if skill.requires] or candidates
        if len(meant) == 1:
            return meant[0]
        if meant:
            folders = ", ".join(shlex.quote(str(skill.path)) for skill in meant)
            dccs = {skill.dcc or "" for skill in meant}
            by_host = f"--host {' or '.join(sorted(dccs))}, or " if len(dccs - {""}) > 1 else ""
            raise PeerError(
                f"{len(meant)} skills are called {given}; give {by_host}the folder: {folders}"
            )
        raise PeerError(
            f"{given} is neither a folder nor a skill that `callboard skills` lists or a running "
            "host has; give the folder that contains its SKILL.md"
        )
    skill = load_skill(folder)
    if not is_usable(skill):
        problems = "; ".join(failure.editor_line for failure in skill.failures)
        raise PeerError(f"{given} isn't a skill: {problems}")
    return skill


def _called(name: str, host: str | None) -> list[SkillMetadata]:
    """Return the skills with that name that a server started here would find, and the ones that
    running servers find in their own skill paths."""
    here = search_paths(extra=under_policy(config_from({})).skill_paths)
    by_folder: dict[Path, SkillMetadata] = {}
    for paths in (here, *(map(Path, one.instance.skill_paths) for one in listed())):
        # One variant for each application. If two are for the same application, the first one is
        # used.
        variants: dict[str, SkillMetadata] = {}
        for skill in _usable(paths):
            if skill.name == name and suits(skill, host):
                variants.setdefault(skill.dcc or "" if host is None else host, skill)
        by_folder.update((skill.path, skill) for skill in variants.values())
    return list(by_folder.values())


def _usable(paths: Iterable[Path]) -> Iterator[SkillMetadata]:
    for path in paths:
        with suppress(OSError):  # Doctor reports this.
            yield from (
                one for _, one in load_all(skill_folders(path), load_skill) if is_usable(one)
            )


def _version_of(python: str) -> str:
    """Return ``python`` if it is a version, or the version of the interpreter that it names. Raises
    PeerError for anything else."""
    if _VERSION.fullmatch(python):
        return python
    try:
        asked = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerError(f"the version of {python} can't be determined: {error}") from None
    words = asked.stdout.split()
    if not words or _VERSION.fullmatch(words[-1]) is None:
        raise PeerError(
            f"{python} isn't a Python interpreter; give a version, such as 3.11, or an "
            "interpreter, such as mayapy"
        )
    return words[-1]


def _vendor(skill: SkillMetadata, version: str) -> Path:
    """Install the packages into a new folder, and replace the version's folder with the new one.
    Raises HostError."""
    folder = vendor_folder(skill.path, version)
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    try:
        _install(skill.requires, new, version)
        (new / REQUIRED).write_text("\n".join(skill.requires) + "\n", encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        new.rename(folder)
    except OSError as error:
        raise HostError(f"{folder} can't be replaced: {error}; is a host using it?") from None
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


def _install(requires: Sequence[str], target: Path, version: str) -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-input", "--no-compile"]
    command += ["--disable-pip-version-check", "--target", str(target)]
    if version != this_python():
        # Without these options, a package that has no wheel would be built for this Python.
        command += ["--python-version", version, "--only-binary=:all:"]
    # On a terminal, pip shows its progress on stderr, because stdout is reserved for the result.
    shows = sys.stderr is not None and sys.stderr.isatty()
    done = subprocess.run(
        [*command, *([] if shows else ["--quiet"]), "--", *requires],
        stdout=sys.stderr if shows else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        why = plain(done.stderr.strip()) or "pip printed nothing; is it installed here?"
        raise HostError(f"the packages for Python {version} can't be installed:\n{why}")
