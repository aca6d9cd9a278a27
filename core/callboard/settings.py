"""The settings that a server starts with. They come from the command line, the environment and
files.

The first of these sources that has a value for a setting counts: the command line (in an
application, what the artist chose there), ``CALLBOARD_<NAME>``, the files that
``CALLBOARD_SETTINGS`` names, the site's file for the project that ``CALLBOARD_PROJECT`` names, the
user's file, the site's file. The sources' folders of skills and denied capabilities are combined
instead, and ``strict`` stays strict: no source below a site can allow what it forbids. A settings
file is never read merely because it lies next to a scene.
"""

from __future__ import annotations

import logging
import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from callboard.config import McpHttpConfig
from callboard.errors import PeerError
from callboard.ground.folders import data_folder, path_of, site_folder
from callboard.ground.regular_file import refuse_special

log = logging.getLogger(__name__)

Kind = Literal[
    "folders",
    "files",
    "words",
    "text",
    "port",
    "count",
    "seconds",
    "yes or no",
    "yes, no or required",
    "policy",
]
#: Kinds whose values are paths.
_PATHS = ("folders", "files")
FILE = "settings.yaml"
#: The value of ``records`` with which a call that can't be recorded is refused.
REQUIRED = "required"
_PROJECT = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
_MOST_BYTES = 2**20
#: Maximum projects that a message names.
_MOST_PROJECTS = 20


class SettingsError(PeerError):
    """Raised for an invalid setting. The server doesn't start then, because the setting might
    forbid something."""


class ServerSetting(NamedTuple):
    """One setting. ``name`` is that of McpHttpConfig's field. If ``adds`` is true, all sources'
    values are combined."""

    name: str
    kind: Kind
    what: str
    default: Any
    adds: bool = False

    @property
    def variable(self) -> str:
        return f"CALLBOARD_{self.name.upper()}"


SETTINGS = (
    ServerSetting("skill_paths", "folders", "folders of skills", (), adds=True),
    ServerSetting("roots", "folders", "workspace folders", ()),
    ServerSetting("roots_policy", "policy", "advisory, or strict", "advisory"),
    ServerSetting("deny", "words", "capabilities that are withdrawn", (), adds=True),
    ServerSetting("allow", "words", "capabilities offered even without an artist", ()),
    ServerSetting("port", "port", "0 lets the system choose", 0),
    ServerSetting("call_timeout", "seconds", "a call's time limit if its tool sets none", 300.0),
    ServerSetting("poll_skills", "yes or no", "whether to poll for changed skills", False),
    ServerSetting("records", "yes, no or required", "whether calls are recorded", True),
    ServerSetting("record_results", "yes or no", "whether results are recorded too", False),
    ServerSetting("record_days", "count", "days for which records are kept", 90),
    ServerSetting("record_mb", "count", "size that records may reach", 256),
    ServerSetting("records_to", "words", "where records are also sent", ()),
    ServerSetting("capture_intent", "yes or no", "whether agents are asked why they call", False),
    ServerSetting("farm_scheduler", "text", "the farm that agents may use", ""),
    ServerSetting("farm_tls", "files", "its CA, certificate and key", ()),
    ServerSetting("farm_limit", "count", "tasks of one map", 1000),
    ServerSetting("farm_command", "words", "the command line of a callboard that has Dask", ()),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}
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
#: The similarity, from 0 to 1, from which a name counts as a misspelling of another. The prefix
#: isn't compared.
_ALIKE = 0.7


class Source(NamedTuple):
    """A source of settings. ``label`` is its name, with the path if the source is a file. If
    ``forbids`` is true, its denials and its ``strict`` also bind the artist."""

    label: str
    values: Mapping[str, Any]
    forbids: bool = False
    #: File and line of each folder that the source names.
    places: Mapping[str, str] = {}


class ResolvedSetting(NamedTuple):
    """One setting's value, and the sources that set it, the most important first."""

    setting: ServerSetting
    value: Any
    by: tuple[tuple[str, Any], ...]


def config_from(given: Mapping[str, Any], **others: Any) -> McpHttpConfig:
    """Return the configuration from all sources. ``given`` are the settings from the command line
    or the application. ``others`` are values that aren't settings. Raises SettingsError."""
    named = sources(given)
    values = {each.setting.name: each.value for each in settled(named)}
    sites = [source.values for source in named if source.forbids]
    return McpHttpConfig(
        **values,
        forbidden=tuple(dict.fromkeys(word for one in sites for word in one.get("deny", ()))),
        always_strict=any(one.get("roots_policy") == "strict" for one in sites),
        **others,
    )


def settled(named: list[Source]) -> list[ResolvedSetting]:
    """Return each setting as these sources define it. ``named`` has the most important source
    first."""
    return [_settle(setting, named) for setting in SETTINGS]


def setting_line(one: ResolvedSetting) -> str:
    """Return a line with the name, the value, its source, and the sources that it overrules."""
    line = f"{one.setting.name:16}{_shown(one.value)}"
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
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def named_skill_paths() -> list[Path]:
    """Return the folders in the ``skill_paths`` setting, or an empty list if the settings are
    invalid: a server reports what is wrong when it starts, and so does ``callboard doctor``."""
    try:
        return [Path(path) for path in config_from({}).skill_paths]
    except SettingsError:
        return []


def unknown_project() -> str | None:
    """Return a warning if the site has files for projects but none for this one, else None. Reads
    the disk."""
    site, project = site_folder(), os.environ.get("CALLBOARD_PROJECT", "")
    if site is None or not re.fullmatch(_PROJECT, project):
        return None
    path = site / "projects" / f"{project}.yaml"
    try:
        stems = [] if path.is_file() else [each.stem for each in path.parent.glob("*.yaml")]
    except OSError:  # Reading the settings reports the error.
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
    """Yield the ``CALLBOARD_`` variables of the environment that nothing reads, each with the
    variable that was probably intended, or None."""
    import difflib  # This import is needed only for wrong names.

    known = {*OTHER_VARIABLES, *(setting.variable for setting in SETTINGS)}
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
    named = [Source("here", given), Source("environment", dict(_from(environ)))]
    for written in environ.get("CALLBOARD_SETTINGS", "").split(os.pathsep):
        if written.strip():
            named.append(_file("CALLBOARD_SETTINGS", path_of(written), needed=True))
    site = site_folder()
    if site is not None and not site.is_dir():
        raise SettingsError(
            f"CALLBOARD_SITE is {site}, which doesn't exist; mount it, correct the variable, or "
            "unset it to work without the site's settings"
        )
    project = environ.get("CALLBOARD_PROJECT", "")
    if project and not re.fullmatch(_PROJECT, project):
        raise SettingsError("CALLBOARD_PROJECT must be a name of letters, digits, '_', '.' and '-'")
    if project and site is not None:
        path = site / "projects" / f"{project}.yaml"
        named.append(_file(f"project {project}", path)._replace(forbids=True))
    named.append(_file("user", data_folder() / FILE, own=True))
    if site is not None:
        named.append(_file("site", site / FILE)._replace(forbids=True))
    return [source for source in named if source.values]


def _settle(setting: ServerSetting, named: list[Source]) -> ResolvedSetting:
    by = tuple(
        (source.label, source.values[setting.name])
        for source in named
        if setting.name in source.values
    )
    value = by[0][1] if by else setting.default
    if setting.adds:
        value = tuple(dict.fromkeys(each for _, values in by for each in values))
    elif setting.kind == "policy" and any(each == "strict" for _, each in by):
        value = "strict"
    return ResolvedSetting(setting, value, by)


def _from(environ: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for setting in SETTINGS:
        text = environ.get(setting.variable, "").strip()
        # Skill discovery reads this variable itself, for every host, along with dcc-mcp's.
        if text and setting.name != "skill_paths":
            value: Any = text
            if setting.kind in (*_PATHS, "words"):
                value = text.split(os.pathsep if setting.kind in _PATHS else ",")
                value = [each.strip() for each in value if each.strip()]
            elif setting.kind in ("port", "count", "seconds"):
                value = _number(text)
            elif setting.kind in ("yes or no", "yes, no or required") and text != REQUIRED:
                value = {"1": True, "true": True, "0": False, "false": False}.get(text.lower())
            yield setting.name, _checked(setting, value, setting.variable, Path())


def _number(text: str) -> Any:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def _file(label: str, path: Path, *, needed: bool = False, own: bool = False) -> Source:
    """Return the settings in a file. Where the user's ``own`` file can't be read, because their
    home is broken, a server starts without it. Raises SettingsError."""
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
        if own:
            log.warning("%s can't be read: %s", label, error.strerror or error)
            return Source(label, {})
        raise SettingsError(f"{label} can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{label} isn't UTF-8; save it as UTF-8") from None
    return _read(label, path, text)


def _read(label: str, path: Path, text: str) -> Source:
    from callboard.skills import safe_yaml  # Imported here, because most servers have no such file.

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
        setting = _BY_NAME.get(name)
        if setting is None:
            raise SettingsError(f"{where}: {_unknown(name)}")
        values[name] = _checked(setting, value, f"{where}: {name}", path.parent)
        if setting.kind == "folders":
            for index, folder in enumerate(values[name]):
                places[folder] = f"{path}:{document.line(name, index)}"
    for _, key, line in document.duplicates:
        raise SettingsError(f"{path}:{line}: '{key}' is written twice; remove one")
    return Source(label, values, places=places)


def _unknown(name: str) -> str:
    import difflib  # This import is needed only for wrong names.

    nearest = difflib.get_close_matches(name, _BY_NAME, 1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"the settings are: {', '.join(_BY_NAME)}"
    return f"'{name[:80]}' is not a setting; {hint}"


def _checked(setting: ServerSetting, value: Any, where: str, folder: Path) -> Any:
    """Return the value, with folders made absolute from ``folder``. Raises SettingsError."""
    good, needed = False, ""
    if setting.kind in (*_PATHS, "words"):
        value = [value] if isinstance(value, str) else value
        good = isinstance(value, list) and all(isinstance(each, str) and each for each in value)
        needed = f"a list of {setting.kind}"
    elif setting.kind == "port":
        good, needed = type(value) is int and 0 <= value <= 65535, "a port, 0 to 65535"
    elif setting.kind == "text":
        good, needed = isinstance(value, str), "a string"
    elif setting.kind == "count":
        good, needed = type(value) is int and value > 0, "a whole number of at least 1"
    elif setting.kind == "seconds":
        good = type(value) in (int, float) and 0 < value < math.inf
        needed = "a number of seconds"
    elif setting.kind == "yes or no":
        good, needed = isinstance(value, bool), "true or false"
    elif setting.kind == "yes, no or required":
        good, needed = isinstance(value, bool) or value == REQUIRED, "true, false or required"
    else:
        good, needed = value in ("advisory", "strict"), "advisory or strict"
    if not good:
        raise SettingsError(f"{where} must be {needed}")
    if setting.kind in _PATHS:
        return tuple(str((folder / path_of(each)).absolute()) for each in value)
    return tuple(value) if setting.kind == "words" else value
