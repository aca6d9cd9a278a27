"""Checks a bundle's folder before it is packed or installed. Runs none of its code."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from callboard.bundles.installed.install import InstalledBundle, require_content
from callboard.bundles.installed.install_folders import PROVIDED
from callboard.bundles.installed.manifest import (
    HOST_KEY,
    BundleManifest,
    CapabilityUnavailable,
    ManifestError,
    ServerCommand,
    UnknownVariable,
    check_capabilities,
    read_manifest,
)
from callboard.bundles.installed.programs import as_called_here
from callboard_testing.lint.manifest_lines import MANIFEST, ManifestLines, Place, field_of
from callboard_testing.lint.skill_lint import Finding, lint

#: A file inside the bundle, as a command or an argument names it.
_OWN = re.compile(r"\$\{__dirname\}[/\\]+([^\s\"'$]+)")
#: The keys that MANIFEST.md in MCPB 0.3 defines for each object, by the object's place in the
#: manifest.
_KEYS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    (): (
        *("manifest_version", "dxt_version", "name", "display_name", "version", "description"),
        *("long_description", "author", "repository", "homepage", "documentation", "support"),
        *("icon", "icons", "screenshots", "localization", "server", "tools", "tools_generated"),
        *("prompts", "prompts_generated", "keywords", "license", "privacy_policies"),
        *("compatibility", "user_config", "_meta"),
    ),
    ("server",): ("type", "entry_point", "mcp_config"),
    ("server", "mcp_config"): ("command", "args", "env", "platform_overrides"),
}
_SETTING = (
    *("type", "title", "description", "required", "default", "multiple", "sensitive"),
    *("min", "max"),
)
#: The minimum similarity of a misspelled key to the intended one.
_ALIKE = 0.8


def lint_bundle(folder: Path, given: Path) -> list[Finding]:
    """Return findings about the bundle in ``folder``, and about its skill, sorted by file and line.
    Each ``file`` is relative to the folder. ``given`` is the folder's name in messages."""
    lines = ManifestLines(folder)
    misspelt = dict(_misspelt(lines))
    try:
        manifest = read_manifest(folder)
        require_content(manifest, folder)
        findings = list(_findings(manifest, folder, lines))
    except UnknownVariable as error:
        field: Place = ("user_config",) if error.name.startswith("user_config.") else ()
        line = lines.line_with(f"${{{error.name}}}", "server", "mcp_config")
        findings = [_because(misspelt, field, line, error.message)]
    except ManifestError as error:
        field = field_of(error.message)
        findings = [_because(misspelt, field, lines.line(*field), error.message)]
    else:
        if InstalledBundle(manifest, folder).has_skill:
            findings += lint(folder, given=given)
    findings += misspelt.values()
    return sorted(set(findings), key=lambda one: (one.file, one.line, one.message))


def _misspelt(lines: ManifestLines) -> Iterator[tuple[Place, Finding]]:
    """For each key that looks like a misspelling of a known key, yield the place of the intended
    key and a finding."""
    known = dict(_KEYS)
    settings = lines.at("user_config")
    known |= {("user_config", key): _SETTING for key in settings if isinstance(key, str)}
    for place, keys in known.items():
        written = lines.at(*place)
        for key in written:
            meant = [] if key in keys else get_close_matches(key, keys, 1, _ALIKE)
            if meant and meant[0] not in written:
                message = f"key '{key}' isn't known; did you mean '{meant[0]}'?"
                line = lines.line(*place, key)
                yield (*place, meant[0]), Finding(MANIFEST, line, "warning", message)


def _because(misspelt: dict[Place, Finding], field: Place, line: int, message: str) -> Finding:
    """Return the finding about a field. If its key is misspelled, return the finding about the
    misspelling as an error."""
    cause = misspelt.pop(field, None)
    if cause is None:
        return Finding(MANIFEST, line, "error", message)
    return Finding(MANIFEST, cause.line, "error", cause.message)


def _findings(manifest: BundleManifest, folder: Path, lines: ManifestLines) -> Iterator[Finding]:
    """Yield findings about capabilities, the entry point and the server's command. Raises
    UnknownVariable."""
    try:
        check_capabilities(manifest, PROVIDED)
    except CapabilityUnavailable as error:
        line = lines.line("_meta", HOST_KEY, "host_capabilities")
        yield Finding(MANIFEST, line, "error", error.message)
    entry_point = lines.at("server").get("entry_point")
    if isinstance(entry_point, str) and not is_own(folder, entry_point):
        message = f"server.entry_point '{entry_point}' isn't a file of the bundle; add it"
        yield Finding(MANIFEST, lines.line("server", "entry_point"), "error", message)
    if not lines.at("server"):
        message = (
            "server is missing: callboard serves the skill without one, but MCPB's packer refuses "
            "the bundle; docs/bundles.md shows the server of a bundle that is only a skill"
        )
        yield Finding(MANIFEST, 1, "warning", message)
    for key, setting in lines.at("user_config").items():
        if isinstance(setting, dict) and not isinstance(setting.get("description"), str):
            message = f"user_config.{key}.description is missing; MCPB's packer needs it"
            yield Finding(MANIFEST, lines.line("user_config", key), "warning", message)
    if manifest.server is not None:
        yield from _command(manifest, manifest.server, folder, lines)


def _command(
    manifest: BundleManifest, server: ServerCommand, folder: Path, lines: ManifestLines
) -> Iterator[Finding]:
    texts = [server.command, *server.args, *server.env.values()]
    for name in dict.fromkeys(name for text in texts for name in _OWN.findall(text)):
        # A missing file may be created while the server runs, unless it is the code to be run.
        if re.search(r"\.[cm]?[jt]s$|\.py$", name) and not is_own(folder, name):
            message = f"its command runs '{name}', which isn't a file of the bundle; add it"
            line = lines.line_with(name, "server", "mcp_config")
            yield Finding(MANIFEST, line, "error", message)
    command, _ = server.resolved(folder, dict.fromkeys(manifest.settings, "x"))
    program = as_called_here(command)[0]
    if shutil.which(program) is None:
        message = f"the program '{program}', which runs its server, isn't on this machine's PATH"
        line = lines.line("server", "mcp_config", "command")
        yield Finding(MANIFEST, line, "warning", message)


def is_own(folder: Path, name: str) -> bool:
    """Return whether the bundle has a file with this name."""
    try:
        place = (folder / name).resolve()
        return place.is_file() and folder.resolve() in place.parents
    except (OSError, ValueError):  # No operating system allows such file names.
        return False
