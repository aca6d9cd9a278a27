"""Required packages that this Python doesn't have, with the command that installs them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from callboard.skills.discovery import suits
from callboard.skills.frontmatter import written_line
from callboard.skills.model import SKILL_FILE, Failure, SkillMetadata
from callboard.skills.vendored import REQUIRED, package_of, satisfies, this_python, vendor_folder


def requirement_failures(skill: SkillMetadata, called: str = "") -> Iterator[Failure]:
    """Yield the required packages that this Python doesn't have, or has in a version other than the
    skill's vendored one. Accesses the disk. ``called`` names the skill in the suggested command."""
    if not skill.requires:
        return
    from importlib import metadata

    folder = vendor_folder(skill.path)
    host = f" --host {shlex.quote(skill.dcc)}" if skill.dcc and not suits(skill, "") else ""
    called = called or f"{skill.name}{host}"
    remedy = f"run `callboard vendor {called} --python {this_python()}`"
    if not folder.is_dir():
        for requirement in skill.requires:
            name = package_of(requirement)
            there = next(iter(metadata.distributions(name=name)), None) if name else None
            if there is not None and satisfies(there.version, requirement):
                continue
            if there is None and requirement == name:
                # This may be the name of a skill, and anybody could own the package with that name.
                message = (
                    f"requires {requirement}, which is neither a skill here nor a package of "
                    f"Python {this_python()}; if it is a package that you know, {remedy}"
                )
            else:
                version = f"{name} {there.version}" if there else "no version of it"
                message = (
                    f"requires {requirement}, and Python {this_python()} has {version}; {remedy}"
                )
            line = written_line(skill.path, "requires", requirement)
            yield Failure(skill.name, SKILL_FILE, "missing", message, line)
        return
    try:
        required = (folder / REQUIRED).read_text("utf-8").splitlines()
    except (OSError, ValueError):
        required = []
    if set(required) != set(skill.requires):
        message = (
            f"requires packages other than those vendored for Python {this_python()}; {remedy}"
        )
        line = written_line(skill.path, "requires")
        yield Failure(skill.name, SKILL_FILE, "missing", message, line)
    for brought in metadata.distributions(path=[str(folder)]):
        about = brought.metadata
        if not about or "Name" not in about:
            continue  # This isn't a package, but a leftover folder.
        package = about["Name"]
        used = next(iter(metadata.distributions(name=package)), brought)
        if used.version != brought.version:
            message = (
                f"vendored {package} {brought.version}, but {used.version} comes first on sys.path;"
                f" require {package}=={used.version}, or remove that version"
            )
            line = written_line(skill.path, "requires")
            yield Failure(skill.name, SKILL_FILE, "metadata", message, line)
