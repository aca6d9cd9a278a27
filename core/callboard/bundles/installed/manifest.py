"""A bundle's ``manifest.json``, in the format of MCP bundles (MCPB), and the check that a host
offers the capabilities that the bundle needs.

A manifest is parsed and checked completely before anything is installed. Unknown keys are ignored,
except inside a capability requirement, where a typo would make the requirement optional.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.bundles.installed.user_config import (
    VARIABLE,
    Setting,
    SettingError,
    places_of_user,
    read_settings,
)
from callboard.errors import SkillError
from callboard.skills.reserved_names import is_shipped_prefix

HOST_KEY = "ai.nimblebrain/host"
#: The first ``host_version`` that may require host capabilities.
CAPABILITIES_SINCE = (1, 1)
#: The server command in the manifest of a bundle that is only a skill. Other platforms need a
#: server, and reach the skill's tools through this one. callboard itself serves the skill.
OWN_COMMAND = "callboard"
MAX_BYTES = 2**20

_NAME = re.compile(r"(?:@[a-z0-9][a-z0-9-]{0,38}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}")
#: Control characters, which affect a terminal, and lone surrogates, which UTF-8 can't encode.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_NO_ARGUMENT = re.compile(r"[\x00\ud800-\udfff]")
_CAPABILITY = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+(?:/[A-Za-z0-9._-]{1,128})?", re.I)


class ManifestError(SkillError):
    """The manifest is wrong. The message begins with the field and names the rule."""


class UnknownVariable(ManifestError):
    """The server's command uses a variable that isn't set."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the server's command uses ${{{name}}}, which is not set")
        self.name = name


class CapabilityUnavailable(SkillError):
    """The bundle requires host capabilities that this host doesn't provide."""

    def __init__(self, bundle: str, missing: Collection[str], provided: Collection[str]) -> None:
        super().__init__(
            f"bundle '{bundle}' requires host capabilities that this host does not provide: "
            f"{', '.join(missing)}. It was not installed. Provided: "
            f"{', '.join(sorted(provided)) or '(none)'}.",
            data={"bundle": bundle, "missing": list(missing), "provided": sorted(provided)},
        )
        self.missing = tuple(missing)


@dataclass(frozen=True)
class ServerCommand:
    """The command that starts a bundle's own server, with ``${…}`` still in it."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    def resolved(
        self, folder: Path, settings: Mapping[str, str | list[str]] | None = None
    ) -> tuple[list[str], dict[str, str]]:
        """Return ``(argv, environment additions)`` for the bundle in ``folder``.

        ``settings`` are the user's answers, with an empty list for a setting without an answer. An
        argument that is exactly one setting becomes one argument for each of the setting's values.
        An environment variable that is exactly a setting without a value is left out. Raises
        UnknownVariable for a variable that isn't set.
        """
        values = {
            **places_of_user(),
            "__dirname": str(folder),
            **{f"user_config.{key}": value for key, value in (settings or {}).items()},
        }

        def meaning(name: str) -> str | list[str]:
            if name not in values:
                raise UnknownVariable(name)
            return values[name]

        def fill(text: str) -> str:
            return VARIABLE.sub(lambda match: ",".join(_listed(meaning(match[1]))), text)

        def several(text: str) -> list[str]:
            alone = VARIABLE.fullmatch(text)
            return [fill(text)] if alone is None else _listed(meaning(alone[1]))

        command = fill(self.command)
        # The path of a program that comes with the bundle is relative to the bundle's folder. Other
        # programs are looked up on ``PATH``.
        if (folder / command).is_file():
            command = str(folder / command)
        arguments = [argument for text in self.args for argument in several(text)]
        env = {key: fill(text) for key, text in self.env.items() if several(text)}
        return [command, *arguments], env


def _listed(answer: str | list[str]) -> list[str]:
    return [answer] if isinstance(answer, str) else answer


@dataclass(frozen=True)
class BundleManifest:
    """A bundle's description of itself. ``capabilities`` maps a host capability to whether it is
    required. ``server`` is None for a bundle that is only a skill."""

    name: str
    version: str
    description: str
    author: str
    display_name: str
    server: ServerCommand | None = None
    host_version: str | None = None
    icon: str | None = None
    capabilities: Mapping[str, bool] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)


def folder_name(name: str) -> str:
    """Return a bundle's name as a folder name: ``studio__rigging`` for ``@studio/rigging``. Raises
    ManifestError for an invalid name."""
    if not _NAME.fullmatch(name):
        raise ManifestError(f"'{name[:80]}' can't be a bundle's name")
    return name.lstrip("@").replace("/", "__")


def check_capabilities(manifest: BundleManifest, provided: Collection[str]) -> tuple[str, ...]:
    """Return the missing preferred capabilities. Raises CapabilityUnavailable when a required one
    is missing."""
    missing = [name for name in manifest.capabilities if name not in provided]
    if required := [name for name in missing if manifest.capabilities[name]]:
        raise CapabilityUnavailable(manifest.name, required, provided)
    return tuple(missing)


def read_manifest(folder: Path) -> BundleManifest:
    """Return the manifest of an unpacked bundle. Raises ManifestError."""
    try:
        with (folder / "manifest.json").open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        if (folder / "SKILL.md").is_file():
            raise ManifestError(
                "this is a skill, not a bundle, so it isn't installed: name its folder with "
                "`callboard serve --skills`, or in the skill_paths setting"
            ) from None
        raise ManifestError("there is no manifest.json at the top of the bundle") from None
    except OSError as error:
        raise ManifestError(f"manifest.json can't be read: {error.strerror}") from None
    return parse_manifest(data)


def parse_manifest(data: bytes) -> BundleManifest:
    """Return the manifest. Raises ManifestError, which names the first wrong field."""
    if len(data) > MAX_BYTES:
        raise ManifestError(f"manifest.json is larger than {MAX_BYTES} bytes")
    try:
        fields = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"manifest.json is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise ManifestError("manifest.json must contain an object")
    if not isinstance(fields.get("manifest_version", fields.get("dxt_version")), str):
        raise ManifestError("manifest_version must be a string such as '0.3'")
    name = _text(fields, "name", _NAME)
    if is_shipped_prefix(folder_name(name)):
        raise ManifestError(
            f"the name '{name}' is reserved for callboard's own tools and skills; give the "
            "bundle a different name"
        )
    author = fields.get("author")
    if not isinstance(author, dict):
        raise ManifestError("author must be an object with a name")
    _check_platform(fields.get("compatibility"))
    return BundleManifest(
        name=name,
        version=_text(fields, "version", _VERSION),
        description=_text(fields, "description"),
        author=_text(author, "name", where="author."),
        display_name=_text(fields, "display_name") if fields.get("display_name") else name,
        server=_server(fields.get("server")),
        settings=_settings(fields.get("user_config")),
        **_host_block(fields.get("_meta")),
    )


def _text(
    fields: Mapping[str, Any], key: str, shape: re.Pattern[str] | None = None, where: str = ""
) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ManifestError(f"{where}{key} must be a string that isn't empty")
    if _UNPRINTABLE.search(value):
        raise ManifestError(f"{where}{key} has a character that can't be shown")
    if shape is not None and not shape.fullmatch(value):
        raise ManifestError(f"{where}{key} '{value[:80]}' has characters that aren't allowed")
    return value


def _check_platform(compatibility: Any) -> None:
    platforms = compatibility.get("platforms") if isinstance(compatibility, dict) else None
    if isinstance(platforms, list) and platforms and sys.platform not in platforms:
        raise ManifestError(
            f"the bundle is for {', '.join(map(str, platforms))}, but this machine runs "
            f"{sys.platform}"
        )


def _settings(written: Any) -> dict[str, Setting]:
    try:
        return read_settings(written)
    except SettingError as error:
        raise ManifestError(error.message) from None


def _server(server: Any) -> ServerCommand | None:
    if server is None:
        return None
    if not isinstance(server, dict):
        raise ManifestError("server must be an object")
    config = server.get("mcp_config")
    if not isinstance(config, dict):
        raise ManifestError("server.mcp_config must be an object with a command")
    overrides = config.get("platform_overrides")
    if isinstance(overrides, dict) and isinstance(overrides.get(sys.platform), dict):
        config = {**config, **overrides[sys.platform]}
    args, env = config.get("args", []), config.get("env", {})
    if not isinstance(args, list) or not all(isinstance(item, str) for item in args):
        raise ManifestError("server.mcp_config.args must be a list of strings")
    if not isinstance(env, dict) or not all(isinstance(item, str) for item in env.values()):
        raise ManifestError("server.mcp_config.env must map names to strings")
    command = _text(config, "command", where="server.mcp_config.")
    if command == OWN_COMMAND:
        return None
    if any(_NO_ARGUMENT.search(text) for text in (*args, *env.values())):
        raise ManifestError("server.mcp_config has a character that a command can't contain")
    if any(not key or "=" in key or _NO_ARGUMENT.search(key) for key in env):
        raise ManifestError("server.mcp_config.env has a name that a variable can't have")
    return ServerCommand(command, tuple(args), env)


def _host_block(meta: Any) -> dict[str, Any]:
    """Read ``host_version``, ``icon``, ``capabilities`` in ``_meta["ai.nimblebrain/host"]``."""
    block = meta.get(HOST_KEY) if isinstance(meta, dict) else None
    if block is None:
        return {}
    where = f"_meta['{HOST_KEY}']"
    if not isinstance(block, dict):
        raise ManifestError(f"{where} must be an object")
    for key in ("host_version", "name", "icon"):
        if key in block and not isinstance(block[key], str):
            raise ManifestError(f"{where}.{key} must be a string")
    version = block.get("host_version")
    read: dict[str, Any] = {"host_version": version, "icon": block.get("icon")}
    if "host_capabilities" in block:
        if version is None or not _at_least(version, CAPABILITIES_SINCE):
            raise ManifestError(
                f"{where}.host_capabilities needs host_version 1.1 or later, "
                f"but it is {version or 'missing'}"
            )
        read["capabilities"] = _requirements(
            block["host_capabilities"], f"{where}.host_capabilities"
        )
    return read


def _requirements(written: Any, where: str) -> dict[str, bool]:
    if not isinstance(written, dict):
        raise ManifestError(f"{where} must be an object")
    checked = {}
    for key, requirement in written.items():
        if not _CAPABILITY.fullmatch(key):
            raise ManifestError(
                f"{where}: '{key[:80]}' isn't a capability, such as ai.nimblebrain/host-resources"
            )
        if not isinstance(requirement, dict):
            raise ManifestError(f"{where}['{key}'] must be an object")
        if unknown := sorted(set(requirement) - {"required"}):
            raise ManifestError(
                f"{where}['{key}'] has the unknown key '{unknown[0][:80]}'; use 'required'"
            )
        required = requirement.get("required", False)
        if not isinstance(required, bool):
            raise ManifestError(f"{where}['{key}'].required must be true or false")
        checked[key] = required
    return checked


def _at_least(version: str, wanted: tuple[int, ...]) -> bool:
    if not re.fullmatch(r"\d{1,6}(?:\.\d{1,6}){0,3}", version):
        return False
    return tuple(map(int, version.split("."))) >= wanted
