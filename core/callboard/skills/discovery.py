"""Searches the locations where skills may be stored, and returns the skills found there."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from callboard.ground.folders import path_of, site_folder
from callboard.ground.machine_policy import policy_site
from callboard.skills.model import (
    SKILL_FILE,
    Failure,
    FailureKind,
    SkillMetadata,
    is_usable,
    shown_folder,
)
from callboard.skills.reserved_names import is_own_prefix

BUNDLED = Path(__file__).parent / "bundled"

_NO_PATH = (
    "this skill path doesn't exist; mount it, or correct the --skills, variable or settings file "
    "that names it (`callboard doctor` shows the last two)"
)
#: Values of ``dcc`` in a skill that suits every host.
_EVERY_HOST = frozenset(("", "*", "any", "all", "python"))


def search_paths(
    dcc: str | None = None,
    extra: Iterable[str | Path] = (),
    environ: Mapping[str, str] | None = None,
    first: Iterable[str | Path] = (),
) -> list[Path]:
    """Return the folders that contain skills, the most important first, without duplicates. They
    need not exist.

    ``CALLBOARD_SKILL_PATHS``, ``DCC_MCP_SKILL_PATHS`` and ``DCC_MCP_<DCC>_SKILL_PATHS`` hold paths
    joined by the system's path separator. ``extra``, the site's folder and the shipped skills
    follow. ``first`` are folders that precede all of them. The site's folder precedes them too if
    the machine's policy names the site.
    """
    environ = os.environ if environ is None else environ
    variables = ["CALLBOARD_SKILL_PATHS", "DCC_MCP_SKILL_PATHS"]
    if dcc:
        variables.append(f"DCC_MCP_{dcc.upper().replace('-', '_')}_SKILL_PATHS")
    written: list[str | Path] = []
    for variable in variables:
        written += environ.get(variable, "").split(os.pathsep)
    written += extra
    paths = [path_of(str(text)).absolute() for text in written if str(text).strip()]
    fixed = [*map(Path, first), *(site_skills() if policy_site() is not None else ())]
    return list(dict.fromkeys([*fixed, *paths, *site_skills(), BUNDLED]))


def site_skills() -> list[Path]:
    """Return the site's folder of skills, if there is a site."""
    site = site_folder()
    return [] if site is None else [site / "skills"]


def skill_folders(search_path: Path) -> Iterator[Path]:
    """Yield the skills' folders in one search path, sorted by name: the path itself, or its direct
    subfolders. Raises OSError when the path can't be listed."""
    if _holds_skill(search_path):
        yield search_path
        return
    with os.scandir(search_path) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir())
    for name in names:
        if not name.startswith((".", "__")) and _holds_skill(search_path / name):
            yield search_path / name


def has_skill(search_path: Path) -> bool:
    """Return whether the path contains a skill. Also return True if the path can't be read, because
    the search reports that."""
    try:
        return next(skill_folders(search_path), None) is not None
    except OSError:
        return True


def _holds_skill(folder: Path) -> bool:
    """Return whether the folder has a SKILL.md. Loading the skill reports a broken one."""
    try:
        (folder / SKILL_FILE).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _may_use(folder: Path, why_not: Callable[[Path], str | None], skipped: list[Failure]) -> bool:
    if (reason := why_not(folder)) is not None:
        skipped.append(Failure(folder.name, ".", "held", reason))
    return reason is None


def load_all(
    folders: Iterable[Path], load: Callable[[Path], SkillMetadata]
) -> list[tuple[Path, SkillMetadata]]:
    """Load the folders. Skills that have the name of their folder come first, and take precedence
    over others with the same name."""
    loaded = [(folder, load(folder)) for folder in folders]
    return sorted(loaded, key=lambda one: (one[1].name != one[0].name, one[0].name))


def suits(skill: SkillMetadata, dcc: str | None) -> bool:
    """Return whether the skill is for this host or for every host."""
    named = (skill.dcc or "").lower()
    return dcc is None or named in _EVERY_HOST or named == dcc.lower()


def scan_and_load(
    dcc_name: str | None = None, extra_paths: Iterable[str | Path] = ()
) -> tuple[list[SkillMetadata], list[Failure]]:
    """Return every usable skill for the host, sorted by name, and the reasons for skipping others.

    Problems inside a usable skill are in its own ``failures``. If two skills have the same name,
    the one from the more important search path is kept. Skills for other hosts are left out
    silently.
    """
    # Imported here, because a server that starts from a cache doesn't need it.
    from callboard.skills.load import load_skill

    skills, skipped, _ = scan(search_paths(dcc_name, extra_paths), dcc_name, load_skill)
    return [one.skill for one in skills], skipped


class Found(NamedTuple):
    """A skill and the search path in which it was found."""

    skill: SkillMetadata
    search_path: Path


class Scan(NamedTuple):
    """The content of the search paths: the skills that this host may use, sorted by name; the
    reasons why other skills were skipped; and the skills for other hosts."""

    skills: list[Found]
    skipped: list[Failure]
    elsewhere: list[SkillMetadata]


def scan(
    paths: Iterable[Path],
    dcc_name: str | None,
    load: Callable[[Path], SkillMetadata],
    shipped: Collection[Path] = (BUNDLED,),
    named: Collection[Path] = (),
    why_not: Callable[[Path], str | None] = lambda folder: None,
) -> Scan:
    """Like :func:`scan_and_load`, but for exactly these search paths, the most important first.
    Skills in ``shipped`` paths are never replaced by a skill with the same name from elsewhere. A
    missing path in ``named`` is reported, because a person or a setting names it. ``why_not``
    returns why a skill that doesn't ship may not be used, or None."""
    by_name: dict[str, Found] = {}
    skipped: list[Failure] = []
    elsewhere: list[SkillMetadata] = []
    for search_path in sorted(paths, key=lambda path: path not in shipped):
        try:
            folders = list(skill_folders(search_path))
        except FileNotFoundError:
            if search_path in named:
                skipped.append(Failure(shown_folder(search_path), ".", "missing", _NO_PATH))
            continue
        except OSError as error:
            reason = f"the search path can't be listed: {error.strerror or 'unreadable'}"
            skipped.append(Failure(search_path.name, ".", "read", reason))
            continue
        if search_path not in shipped:
            folders = [each for each in folders if _may_use(each, why_not, skipped)]
        for folder, skill in load_all(folders, load):
            if not is_usable(skill):
                skipped.extend(skill.failures)
                continue
            if not suits(skill, dcc_name):
                elsewhere.append(skill)
                continue
            if search_path not in shipped and is_own_prefix(skill.wire_name("")):
                reason = (
                    f"the name '{skill.name}' belongs to callboard's own tools; give the skill "
                    "another name"
                )
                skipped.append(Failure(skill.name, SKILL_FILE, "metadata", reason))
                continue
            # The prefix of the tools is compared, because `a-b` and `a_b` would serve tools with
            # the same names.
            first = by_name.setdefault(skill.wire_name(""), Found(skill, search_path))
            # In a scan for all hosts, skills for two hosts may have the same name.
            apart = dcc_name is None and first.skill.dcc != skill.dcc
            if first.skill is not skill and not apart:
                kind: FailureKind = "metadata" if first.search_path == search_path else "replaced"
                why = f"was found before it, in '{shown_folder(first.skill.path)}'"
                if first.search_path in shipped:
                    kind = "metadata"
                    why = "ships with callboard and is never replaced; give yours another name"
                reason = (
                    f"the skill in folder '{shown_folder(folder)}' isn't used: "
                    f"'{first.skill.name}' {why}"
                )
                skipped.append(Failure(skill.name, SKILL_FILE, kind, reason))
    skills = sorted(by_name.values(), key=lambda one: one.skill.name)
    return Scan(skills, skipped, elsewhere)
