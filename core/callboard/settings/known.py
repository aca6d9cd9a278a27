"""The settings that exist, and the values that each may have."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from callboard.calls.grants import DEFAULT_POLICIES, ConsentPolicy
from callboard.ground.folders import path_of
from callboard.ground.machine_policy import SettingsError

Kind = Literal[
    "folders",
    "files",
    "words",
    "text",
    "port",
    "count",
    "seconds",
    "yes or no",
    "policy",
    "records",
    "origins",
    "consent",
    "token",
    "level",
]
#: Kinds whose values are paths.
PATHS = ("folders", "files")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
#: The allowed values of the kinds that have a fixed set of them.
_WORDS: dict[str, tuple[bool | str, ...]] = {
    "policy": ("advisory", "strict"),
    "records": (True, False, "required"),
    "token": ("token", "none"),
    "level": ("debug", "info", "warning"),
}


class ServerSetting(NamedTuple):
    """One setting. ``name`` is the name of the field in McpHttpConfig. If ``adds`` is true, the
    values from all sources are combined. ``policy_only`` settings may only be set in the machine's
    policy."""

    name: str
    kind: Kind
    what: str
    default: Any
    adds: bool = False
    policy_only: bool = False

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
    ServerSetting("records", "records", "whether calls are recorded", True),
    ServerSetting("record_results", "yes or no", "whether results are recorded too", False),
    ServerSetting("record_days", "count", "days for which records are kept", 90),
    ServerSetting("record_mb", "count", "size that records may reach", 256),
    ServerSetting("records_to", "words", "where records are also sent", ()),
    ServerSetting("capture_intent", "yes or no", "whether agents are asked why they call", False),
    ServerSetting("farm_scheduler", "text", "the farm that agents may use", ""),
    ServerSetting("farm_tls", "files", "its CA, certificate and key", ()),
    ServerSetting("farm_limit", "count", "tasks of one map", 1000),
    ServerSetting("farm_command", "words", "the command line of a callboard that has Dask", ()),
    ServerSetting("enabled", "yes or no", "whether callboard serves", True, policy_only=True),
    ServerSetting("site", "text", "the site's folder", "", policy_only=True),
    ServerSetting("skills_from", "origins", "skills that may be used", "any", policy_only=True),
    ServerSetting("bundles_from", "origins", "bundles that may be used", "any", policy_only=True),
    ServerSetting("assets", "folders", "the only folders of assets", "any", policy_only=True),
    ServerSetting("auth", "token", "whether clients need a token", "token", policy_only=True),
    ServerSetting("listen", "yes or no", "whether other machines may", True, policy_only=True),
    ServerSetting("consent", "consent", "what needs a yes", "the artist's", policy_only=True),
    ServerSetting("log_level", "level", "what the log keeps at least", "info", policy_only=True),
    ServerSetting("clients", "words", "clients that may be set up", "any", policy_only=True),
)
BY_NAME = {setting.name: setting for setting in SETTINGS}


def named_setting(name: str, where: str) -> ServerSetting:
    """Return the setting with this name. Raises SettingsError."""
    if name in BY_NAME:
        return BY_NAME[name]
    import difflib  # This import is needed only for wrong names.

    nearest = difflib.get_close_matches(name, BY_NAME, 1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"the settings are: {', '.join(BY_NAME)}"
    raise SettingsError(f"{where}: '{name[:80]}' is not a setting; {hint}")


def checked(setting: ServerSetting, value: Any, where: str, folder: Path) -> Any:
    """Return the value, with relative folders resolved against ``folder``. Raises SettingsError."""
    good, needed = False, ""
    if setting.kind in (*PATHS, "words"):
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
    elif setting.kind in _WORDS:
        words = _WORDS[setting.kind]
        good = isinstance(value, (bool, str)) and value in words
        *others, last = (str(word).lower() for word in words)
        needed = f"{', '.join(others)} or {last}"
    elif setting.kind == "consent":
        good = isinstance(value, dict) and all(
            subject in DEFAULT_POLICIES and word in get_args(ConsentPolicy)
            for subject, word in value.items()
        )
        needed = (
            f"a mapping of {', '.join(DEFAULT_POLICIES)} to {', '.join(get_args(ConsentPolicy))}"
        )
    else:
        value = [value] if isinstance(value, str) else value
        good = isinstance(value, list) and all(
            isinstance(each, str) and (_DIGEST.fullmatch(each) or Path(each).is_absolute())
            for each in value
        )
        needed = "a list of folders' full paths, and of `sha256:` with 64 digits"
    if not good:
        raise SettingsError(f"{where} must be {needed}")
    if setting.kind in PATHS:
        return tuple(str((folder / path_of(each)).absolute()) for each in value)
    return tuple(value) if setting.kind in ("words", "origins") else value
