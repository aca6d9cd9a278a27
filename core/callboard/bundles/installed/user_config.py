"""The ``user_config`` of a bundle's manifest: questions that the user answers before the bundle's
server can run. An answer is a string, a number or a boolean; with ``multiple``, it is a list of
them."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callboard.errors import SkillError
from callboard.ground.folders import path_of

KINDS = ("string", "number", "boolean", "directory", "file")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_NO_ARGUMENT = re.compile(r"[\x00\ud800-\udfff]")
VARIABLE = re.compile(r"\$\{([^}]*)\}")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")

Answer = str | int | float | bool | list[Any]


class SettingError(SkillError):
    """A bundle's setting has an invalid declaration or an invalid answer."""


@dataclass(frozen=True)
class Setting:
    """One question. ``default`` is None when there is no default."""

    key: str
    kind: str
    title: str
    required: bool = False
    multiple: bool = False
    sensitive: bool = False
    default: Answer | None = None
    least: float = -math.inf
    most: float = math.inf

    def read(self, texts: Sequence[str]) -> Answer:
        """Return the answer written in one string, or in several if the setting allows that. Raises
        SettingError."""
        if self.multiple:
            return [self._one(text) for text in texts]
        if len(texts) != 1:
            raise SettingError(f"the setting '{self.key}' accepts one value, not {len(texts)}")
        return self._one(texts[0])

    def _one(self, text: str) -> Answer:
        if _NO_ARGUMENT.search(text):
            raise SettingError(f"the setting '{self.key}' has a character that can't be passed on")
        if self.kind == "boolean":
            if text.lower() not in (*_TRUE, *_FALSE):
                raise SettingError(
                    f"the setting '{self.key}' must be true or false, not '{text[:40]}'"
                )
            return text.lower() in _TRUE
        if self.kind == "number":
            return self._number(text)
        if not text:
            raise SettingError(f"the setting '{self.key}' must not be empty")
        if self.kind in ("directory", "file"):
            path = path_of(text).absolute()
            there = path.is_dir() if self.kind == "directory" else path.is_file()
            if not there:
                raise SettingError(f"the setting '{self.key}': there is no {self.kind} '{path}'")
            return str(path)
        return text

    def _number(self, text: str) -> Answer:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or not self.least <= number <= self.most:
            limits = f" from {self.least:g} to {self.most:g}"
            limits = limits if math.isfinite(self.most - self.least) else ""
            raise SettingError(
                f"the setting '{self.key}' must be a number{limits}, not '{text[:40]}'"
            )
        return int(number) if number.is_integer() and "." not in text else number


def read_settings(written: Any) -> dict[str, Setting]:
    """Return the settings that a manifest declares, in its order. Raises SettingError."""
    if written is None:
        return {}
    if not isinstance(written, dict):
        raise SettingError("user_config must be an object")
    return {key: _setting(key, entry) for key, entry in written.items()}


def _setting(key: str, entry: Any) -> Setting:
    where = f"user_config['{key[:64]}']"
    if not _KEY.fullmatch(key):
        raise SettingError(
            f"{where}: a setting's name must consist of letters, digits, '_', '.' and '-'"
        )
    if not isinstance(entry, dict):
        raise SettingError(f"{where} must be an object")
    kind, title = entry.get("type"), entry.get("title", key)
    if kind not in KINDS:
        raise SettingError(f"{where}.type must be one of {', '.join(KINDS)}")
    if not isinstance(title, str):
        raise SettingError(f"{where}.title must be a string")
    flags = {name: entry.get(name, False) for name in ("required", "multiple", "sensitive")}
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise SettingError(f"{where}.{name} must be true or false")
    limits = (entry.get("min", -math.inf), entry.get("max", math.inf))
    if not all(isinstance(one, (int, float)) for one in limits):
        raise SettingError(f"{where}.min and .max must be numbers")
    default = entry.get("default")
    if default is not None and not _suits(default, kind, flags["multiple"]):
        raise SettingError(f"{where}.default isn't a {kind}")
    return Setting(key, kind, title, **flags, default=default, least=limits[0], most=limits[1])


def _suits(default: Any, kind: str, multiple: bool) -> bool:
    if isinstance(default, list):
        return multiple and all(_suits(item, kind, False) for item in default)
    if kind == "boolean":
        return isinstance(default, bool)
    if kind == "number":
        return isinstance(default, (int, float)) and not isinstance(default, bool)
    return isinstance(default, str) and not _NO_ARGUMENT.search(default)


def answered(
    settings: Mapping[str, Setting],
    given: Mapping[str, Sequence[str]],
    kept: Mapping[str, Answer],
) -> dict[str, Answer]:
    """Return the answers to keep: the new ones, and the saved ones from an earlier version. Raises
    SettingError for an answer to an unknown question."""
    if unknown := sorted(set(given) - set(settings)):
        known = ", ".join(settings) or "(none)"
        raise SettingError(f"the bundle has no setting '{unknown[0][:64]}'; it has: {known}")
    answers = {key: kept[key] for key in settings if key in kept}
    return {**answers, **{key: settings[key].read(texts) for key, texts in given.items()}}


def unanswered(settings: Mapping[str, Setting], answers: Mapping[str, Answer]) -> list[Setting]:
    """Return required questions without a default or an answer. An empty list isn't an answer."""
    return [
        setting
        for key, setting in settings.items()
        if setting.required and answers.get(key, setting.default) in (None, "", [])
    ]


def how_to_answer(missing: Sequence[Setting]) -> str:
    """Return a sentence that explains how to supply the missing settings."""
    asked = ", ".join(f"'{setting.key}' ({setting.title})" for setting in missing)
    flags = " ".join(f"--set {setting.key}=…" for setting in missing)
    return f"it needs {asked}; install it with {flags}"


def values_of(
    settings: Mapping[str, Setting], answers: Mapping[str, Answer]
) -> dict[str, str | list[str]]:
    """Return the values of ``${user_config.…}``: answers and defaults as text, or an empty list
    when there is neither. A default may contain variables for the user's folders. An answer is used
    unchanged."""
    values: dict[str, str | list[str]] = {}
    for key, setting in settings.items():
        value = answers.get(key)
        if value is None:
            value = _filled(setting.default)
        if setting.multiple or value is None:
            several = value if isinstance(value, list) else [] if value is None else [value]
            values[key] = [_text(item) for item in several]
        else:
            values[key] = _text(value)
    return values


def places_of_user() -> dict[str, str]:
    """Return the values of the variables for the user's own folders."""
    home, separator = Path.home(), "\\" if sys.platform == "win32" else "/"
    return {
        "HOME": str(home),
        "DESKTOP": str(home / "Desktop"),
        "DOCUMENTS": str(home / "Documents"),
        "DOWNLOADS": str(home / "Downloads"),
        "pathSeparator": separator,
        "/": separator,
    }


def _filled(default: Any) -> Any:
    if isinstance(default, list):
        return [_filled(item) for item in default]
    if not isinstance(default, str):
        return default
    places = places_of_user()
    return VARIABLE.sub(lambda match: places.get(match[1], match[0]), default)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
