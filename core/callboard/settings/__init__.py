"""The settings that a server starts with. They come from the command line, the environment and
files.

The machine's policy locks every setting that it contains: see :func:`under_policy`, the one place
where that is decided. Otherwise the first of these sources that has a value for a setting counts:
the command line (in an application, what the artist chose there), ``CALLBOARD_<NAME>``, the files
that ``CALLBOARD_SETTINGS`` names, the site's file for the project that ``CALLBOARD_PROJECT`` names,
the user's file, the site's file. The skill folders and the denied capabilities of all sources are
combined instead, and ``strict`` in any source wins: no source below a site can allow what the site
forbids. A settings file is never read merely because it lies next to a scene.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from callboard.config import McpHttpConfig, PolicyLocks
from callboard.ground.folders import data_folder, path_of, site_folder
from callboard.ground.machine_policy import (
    PolicyError,
    policy_site,
    switched_off,
    written_policy,
)
from callboard.ground.machine_policy import SettingsError as SettingsError
from callboard.ground.regular_file import refuse_special
from callboard.ports.capability_names import NETWORK
from callboard.settings.known import PATHS, checked, named_setting
from callboard.settings.known import SETTINGS as SETTINGS
from callboard.settings.known import ServerSetting as ServerSetting

log = logging.getLogger(__name__)

FILE = "settings.yaml"
#: The value of ``records`` that causes a call to be refused if it can't be recorded.
REQUIRED = "required"
_PROJECT = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
_MOST_BYTES = 2**20
#: Maximum number of projects that a message names.
_MOST_PROJECTS = 20
#: Settings of a policy that a running server can change.
_LIVE = {
    *("enabled", "deny", "roots", "roots_policy", "skills_from", "bundles_from", "assets"),
    *("auth", "listen", "consent", "log_level", "clients"),
}
#: Values that a policy can't lock, because every other source may only be stricter.
_NO_LOCK: dict[str, tuple[str, ...]] = {"roots_policy": ("advisory",), "auth": ("none",)}
#: Variables that are read but aren't settings; docs/deployment.md describes each.
OTHER_VARIABLES = (
    "CALLBOARD_ARGUMENTS",
    "CALLBOARD_EXPORT_PROJECT",
    "CALLBOARD_EXPORT_SECRET",
    "CALLBOARD_EXPORT_URL",
    "CALLBOARD_FORCE_QT_API",
    "CALLBOARD_HOME",
    "CALLBOARD_HOUDINI",
    "CALLBOARD_PROJECT",
    "CALLBOARD_QT_API",
    "CALLBOARD_ROOMS",
    "CALLBOARD_SETTINGS",
    "CALLBOARD_SITE",
    "CALLBOARD_TEST_HOST",
    "CALLBOARD_TOKEN",
)
_PREFIX = "CALLBOARD_"
#: The minimum similarity, from 0 to 1, at which a name is considered a misspelling of a known name.
#: The prefix isn't compared.
_ALIKE = 0.7


class Source(NamedTuple):
    """A source of settings. ``label`` is its name, with the path if the source is a file. If
    ``forbids`` is true, its denials and its ``strict`` also bind the artist. If ``locks`` is true,
    its values hold against every other source."""

    label: str
    values: Mapping[str, Any]
    forbids: bool = False
    locks: bool = False
    #: The file and the line of each folder that the source names.
    places: Mapping[str, str] = {}


class ResolvedSetting(NamedTuple):
    """One setting's value, and the sources that set it, the most important first. ``locked`` is
    true when the machine's policy is one of them."""

    setting: ServerSetting
    value: Any
    by: tuple[tuple[str, Any], ...]
    locked: bool = False


def config_from(given: Mapping[str, Any], **others: Any) -> McpHttpConfig:
    """Return the configuration from all sources but the machine's policy, which the server that
    gets it adds. ``given`` are the settings from the command line or the application. ``others``
    are values that aren't settings. Raises SettingsError."""
    named = [source for source in sources(given) if not source.locks]
    values = {one.setting.name: one.value for one in settled(named) if not one.setting.policy_only}
    sites = [source.values for source in named if source.forbids]
    return McpHttpConfig(
        **values,
        forbidden=tuple(dict.fromkeys(word for one in sites for word in one.get("deny", ()))),
        always_strict=any(one.get("roots_policy") == "strict" for one in sites),
        **others,
    )


def under_policy(config: McpHttpConfig) -> McpHttpConfig:
    """Apply what the machine's policy locks and what the site forbids, and return the
    configuration. Every server calls this, however its configuration was made. Raises
    SettingsError."""
    binding = [policy := _policy(), *_of_site()]
    denied = [word for one in binding for word in one.values.get("deny", ())]
    if "assets" in policy.values:
        denied.append(NETWORK)
    strict = any(one.values.get("roots_policy") == "strict" for one in binding)
    config = replace(
        config,
        forbidden=tuple(dict.fromkeys([*config.forbidden, *denied])),
        always_strict=config.always_strict or strict,
        locks=_locks(policy, binding),
    )
    for setting in SETTINGS:
        name = setting.name
        # The policy's roots are applied as a limit. Settings that aren't fields of the
        # configuration are applied as locks.
        if name in policy.values and hasattr(config, name) and name != "roots":
            here = Source("here", {name: getattr(config, name)})
            config = replace(config, **{name: _settle(setting, [policy, here]).value})
    return config


def _locks(policy: Source, binding: list[Source]) -> PolicyLocks:
    values = policy.values
    if not values:
        return PolicyLocks()
    own = {each.name: values[each.name] for each in fields(PolicyLocks) if each.name in values}
    named = [path for one in binding for path in one.values.get("skill_paths", ())]
    return PolicyLocks(
        **own,
        policy=policy.label,
        site_skill_paths=tuple(named) if "site" in values else (),
        roots_limit=values.get("roots", ()),
    )


def needs_restart(old: McpHttpConfig, new: McpHttpConfig) -> str:
    """Return the reason why a server with the configuration ``old`` can't continue with ``new``,
    which the machine's policy has changed. Return an empty string if it can."""
    policy = _policy()

    def differs(name: str) -> bool:
        either = old if hasattr(old, name) else old.locks
        return bool(getattr(either, name) != getattr(new if either is old else new.locks, name))

    changed = [name for name in policy.values.keys() - _LIVE if differs(name)]
    if not changed:
        return ""
    return (
        f"this machine's {policy.label} changed {', '.join(sorted(changed))}, which this server "
        "can't change while it runs; start callboard again"
    )


def why_off() -> str | None:
    """Return the reason why the machine's policy doesn't let any server run, or None. Raises
    SettingsError."""
    policy = _policy()
    return switched_off(policy.label) if policy.values.get("enabled") is False else None


def why_nothing_starts() -> str | None:
    """Return the reason why no server can start with these settings, or None. The reason is the
    machine's policy or a mistake in a setting."""
    try:
        why = why_off()
        sources({})
    except SettingsError as error:
        return error.message
    return why


def locked(name: str) -> Any:
    """Return the value that the machine's policy gives this setting, or None if it gives none.
    Raises SettingsError."""
    return _policy().values.get(name)


def settled(named: list[Source]) -> list[ResolvedSetting]:
    """Return each setting as these sources define it. ``named`` has the most important source
    first."""
    return [_settle(setting, named) for setting in SETTINGS]


def setting_line(one: ResolvedSetting) -> str:
    """Return a line with the name, the value, its source, and the sources that it overrides."""
    line = f"{one.setting.name:16}{_shown(one.value)}{'  LOCKED' if one.locked else ''}"
    if not one.by:
        return f"{line}  (default)"
    if one.setting.adds:
        everybody = "; ".join(f"{who}: {_shown(value)}" for who, value in one.by)
        return f"{line}  ({everybody})"
    counts = next(who for who, value in one.by if value == one.value)
    others = [f"not {who}: {_shown(value)}" for who, value in one.by if who != counts]
    return f"{line}  ({'; '.join([counts, *others])})"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {word}" for name, word in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value) or "none"


def named_skill_paths() -> list[Path]:
    """Return the folders in the ``skill_paths`` setting, or an empty list if the settings are
    invalid: a server reports what is wrong when it starts, and so does ``callboard doctor``."""
    try:
        return [Path(path) for path in under_policy(config_from({})).skill_paths]
    except SettingsError:
        return []


def unknown_project() -> str | None:
    """Return a warning if the site has files for projects but none for this one, and None
    otherwise. Reads the disk."""
    site, project = site_folder(), os.environ.get("CALLBOARD_PROJECT", "")
    if site is None or not re.fullmatch(_PROJECT, project):
        return None
    path = site / "projects" / f"{project}.yaml"
    try:
        stems = [] if path.is_file() else [each.stem for each in path.parent.glob("*.yaml")]
    except OSError:  # The error is reported when the settings are read.
        return None
    known = sorted(stem for stem in stems if re.fullmatch(_PROJECT, stem))
    if not known:
        return None
    shown = ", ".join(known[:_MOST_PROJECTS]) + (" …" if known[_MOST_PROJECTS:] else "")
    return (
        f"CALLBOARD_PROJECT is {project}, for which the site has no file, so no project's settings "
        f"apply; it has: {shown}. Correct it, or write {path}, which may be empty"
    )


def unread_variables() -> Iterator[tuple[str, str | None]]:
    """Yield the ``CALLBOARD_`` environment variables that nothing reads, each with the variable
    that was probably intended, or None."""
    import difflib  # This import is needed only for wrong names.

    known = {*OTHER_VARIABLES, *(each.variable for each in SETTINGS if not each.policy_only)}
    for name in sorted(os.environ):
        if name.startswith(_PREFIX) and name not in known:
            names = [each.removeprefix(_PREFIX) for each in known]
            near = difflib.get_close_matches(name.removeprefix(_PREFIX), names, 1, _ALIKE)
            yield name, f"{_PREFIX}{near[0]}" if near else None


def absent(named: list[Source]) -> Iterator[str]:
    """Yield a warning for a project without a file, and for each folder in the settings that
    doesn't exist. Reads the disk."""
    if unknown := unknown_project():
        yield unknown
    for source in named:
        for setting in SETTINGS:
            for folder in source.values.get(setting.name, ()) if setting.kind == "folders" else ():
                if not Path(folder).is_dir():
                    where = source.places.get(folder, source.label)
                    named_so = f"{where}: {setting.name} names {folder}"
                    yield f"{named_so}, which doesn't exist; correct it, or mount it"


def sources(given: Mapping[str, Any]) -> list[Source]:
    """Return the sources that set anything, the most important first. Raises SettingsError."""
    environ = os.environ
    named = [_policy(), Source("here", given), Source("environment", dict(_from(environ)))]
    for written in environ.get("CALLBOARD_SETTINGS", "").split(os.pathsep):
        if written.strip():
            named.append(_file("CALLBOARD_SETTINGS", path_of(written), needed=True))
    project, site = _of_site()
    named += [project, _file("user", data_folder() / FILE, own=True), site]
    return [source for source in named if source.values]


def _of_site() -> tuple[Source, Source]:
    """Return the site's file for the project and its file for everybody. Raises SettingsError."""
    site, project = site_folder(), os.environ.get("CALLBOARD_PROJECT", "")
    if project and not re.fullmatch(_PROJECT, project):
        raise SettingsError("CALLBOARD_PROJECT must be a name of letters, digits, '_', '.' and '-'")
    if site is None:
        return Source("project", {}), Source("site", {})
    if not site.is_dir():
        if policy_site() is not None:
            raise SettingsError(f"this machine's policy names the site {site}; mount that folder")
        raise SettingsError(
            f"CALLBOARD_SITE is {site}, which doesn't exist; mount it, correct the variable, or "
            "unset it to work without the site's settings"
        )
    path = site / "projects" / f"{project}.yaml"
    named = _file(f"project {project}", path) if project else Source("project", {})
    everybody = _file("site", site / FILE)
    return named._replace(forbids=True), everybody._replace(forbids=True)


def _settle(setting: ServerSetting, named: list[Source]) -> ResolvedSetting:
    setters = [source for source in named if setting.name in source.values]
    by = tuple((source.label, source.values[setting.name]) for source in setters)
    value = by[0][1] if by else setting.default
    if setting.adds:
        value = tuple(dict.fromkeys(each for _, values in by for each in values))
    elif setting.kind == "policy" and any(each == "strict" for _, each in by):
        value = "strict"
    return ResolvedSetting(setting, value, by, any(source.locks for source in setters))


def _policy() -> Source:
    """Return the machine's policy as a source, without values if there is none. Raises
    PolicyError."""
    written = written_policy()
    if written is None:
        return Source("policy", {}, locks=True)
    values: dict[str, Any] = {}
    for name, value in written.values.items():
        where = f"{written.place}:{written.lines[name]}"
        try:
            setting = named_setting(str(name), where)
            values[name] = checked(setting, value, f"{where}: {name}", Path())
        except SettingsError as error:
            raise PolicyError(error.message) from None
        folders = [value] if isinstance(value, str) else value
        if setting.kind in PATHS and not all(Path(each).is_absolute() for each in folders):
            # The meaning of `~` and of a relative path depends on the user's environment.
            raise PolicyError(f"{where}: {name} must be full paths in a policy")
        if value in _NO_LOCK.get(name, ()):
            raise PolicyError(f"{where}: {name} can't be locked at {value}, which forbids nothing")
    if "roots" in values:
        values["roots_policy"] = "strict"
    return Source(f"policy ({written.place})", values, forbids=True, locks=True)


def _from(environ: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for setting in SETTINGS:
        text = "" if setting.policy_only else environ.get(setting.variable, "").strip()
        # Skill discovery reads this variable, and those of dcc-mcp, for every host.
        if text and setting.name != "skill_paths":
            value: Any = text
            if setting.kind in (*PATHS, "words"):
                value = text.split(os.pathsep if setting.kind in PATHS else ",")
                value = [each.strip() for each in value if each.strip()]
            elif setting.kind in ("port", "count", "seconds"):
                value = _number(text)
            elif setting.kind in ("yes or no", "records") and text != REQUIRED:
                value = {"1": True, "true": True, "0": False, "false": False}.get(text.lower())
            yield setting.name, checked(setting, value, setting.variable, Path())
    if site := environ.get("CALLBOARD_SITE"):
        yield "site", str(path_of(site).absolute())


def _number(text: str) -> Any:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def _file(label: str, path: Path, *, needed: bool = False, own: bool = False) -> Source:
    """Return the settings in a file. If the folder of the user's ``own`` file can't be entered,
    because their home is broken, a server starts without the file. Raises SettingsError."""
    label = f"{label} ({path})"
    try:
        refuse_special(path)
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise SettingsError(f"{label} is over {_MOST_BYTES} bytes; shorten it")
        text = data.decode("utf-8-sig")
    except FileNotFoundError:
        if needed:
            raise SettingsError(f"{label}: there is no such file; correct or unset it") from None
        return Source(label, {})
    except OSError as error:
        if own and not _exists(path):
            log.warning("%s can't be read: %s", label, error.strerror or error)
            return Source(label, {})
        raise SettingsError(
            f"{label} can't be read ({error.strerror or error}), and it might forbid something; "
            "make it readable, or delete it"
        ) from None
    except UnicodeDecodeError:
        raise SettingsError(f"{label} isn't UTF-8; save it as UTF-8") from None
    return _read(label, path, text)


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except OSError:
        return False
    return True


def _read(label: str, path: Path, text: str) -> Source:
    from callboard.ground import safe_yaml  # Imported here, because most servers have no such file.

    try:
        document = safe_yaml.load(text)
    except safe_yaml.YamlError as error:
        raise SettingsError(f"{path}:{error.line}: {error.message}") from None
    written = {} if document.value is None else document.value
    if not isinstance(written, dict):
        raise SettingsError(f"{path} must contain settings with their values, such as `port: 8765`")
    values = {}
    places = {}
    for name, value in written.items():
        where = f"{path}:{document.line(name)}"
        setting = named_setting(str(name), where)
        if setting.policy_only:
            raise SettingsError(f"{where}: `{name}: {value}` belongs in this machine's policy")
        values[name] = checked(setting, value, f"{where}: {name}", path.parent)
        if setting.kind == "folders":
            for index, folder in enumerate(values[name]):
                places[folder] = f"{path}:{document.line(name, index)}"
    for _, key, line in document.duplicates:
        raise SettingsError(f"{path}:{line}: '{key}' is written twice; remove one")
    return Source(label, values, places=places)
