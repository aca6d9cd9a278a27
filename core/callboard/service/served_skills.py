"""The MCP skills extension (SEP-2640): ``skills/list`` and ``skills/get``, and each skill's files
as resources, with digests that let a client check that it reads what was listed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path

from callboard.calls.invisible import hides
from callboard.content import Json, Resource
from callboard.errors import InvalidParams, MethodNotFound, ResourceNotFound
from callboard.protocol.peer import PeerRequest
from callboard.service.pages import page
from callboard.service.resources import ServedResource
from callboard.skills.catalog import SkillCatalog
from callboard.skills.file_stamps import Stamp, tree_stamps
from callboard.skills.model import SKILL_FILE, SkillMetadata
from callboard.skills.skill_files import FileProblem, resolve_inside

SKILLS = "io.modelcontextprotocol/skills"
#: Maximum number of files of one skill, and maximum number of bytes in all its files. A larger
#: skill isn't listed (SEP-2640, Limits).
MOST_FILES = 512
MOST_BYTES = 16 * 2**20


class ServedSkills:
    """Serves one catalog. The methods run on the server's loop. Files are read in threads."""

    def __init__(self, catalog: SkillCatalog) -> None:
        self._catalog = catalog
        self._entries: dict[str, tuple[Mapping[str, Stamp], Json | None]] = {}

    @property
    def methods(self) -> dict[str, Callable[[PeerRequest], Awaitable[Json]]]:
        return {"skills/list": self.list_skills, "skills/get": self.get_skill}

    async def list_skills(self, request: PeerRequest) -> Json:
        """Return ``skills/list``. Raises InvalidParams for a cursor that isn't ours."""
        _require_stateless(request)
        known = [each.skill for each in self._catalog.known]
        skills, cursor = page(known, lambda skill: skill.name, request.params.get("cursor"))
        loop = asyncio.get_running_loop()
        entries = await loop.run_in_executor(None, lambda: [self._entry(one) for one in skills])
        listed = [entry for entry in entries if entry is not None]
        return {"skills": listed, **({} if cursor is None else {"nextCursor": cursor})}

    async def get_skill(self, request: PeerRequest) -> Json:
        """Return ``skills/get``. Raises InvalidParams when no skill has the URI."""
        _require_stateless(request)
        uri = request.params.get("uri")
        for known in self._catalog.known:
            if uri == _uri(known.skill.name, SKILL_FILE):
                loop = asyncio.get_running_loop()
                entry = await loop.run_in_executor(None, self._entry, known.skill)
                if entry is not None:
                    return {"skill": entry}
        raise InvalidParams("no skill has this URI; skills/list lists those that exist")

    def files(self) -> ServedResource:
        """Return ``skill://{name}/{+path}``: any file of a skill, unchanged."""

        def read(name: str, path: str) -> Resource:
            for known in self._catalog.known:
                if known.skill.name == name and path in _files(known.skill):
                    return _resource(known.skill, path)
            raise ResourceNotFound(_uri(name, path))

        return ServedResource(
            "skill://{name}/{+path}",
            "skill file",
            read,
            title="A file of a skill",
            description="Any file of a skill, as skills/list names it.",
        )

    def _entry(self, skill: SkillMetadata) -> Json | None:
        """Return a skill's entry, or None when it can't be read or is too large. Call it from any
        thread."""
        stamps = tree_stamps(skill.path)
        kept = self._entries.get(skill.name)
        if kept is not None and kept[0] == stamps:
            return kept[1]
        entry = _described(skill, sorted(stamps))
        self._entries[skill.name] = (stamps, entry)
        return entry


def _described(skill: SkillMetadata, paths: list[str]) -> Json | None:
    resources: list[Json] = []
    front: object = None
    total = 0
    for path in [Path(path).as_posix() for path in paths]:
        try:
            data = _read(skill, path)
        except FileProblem:
            return None
        total += len(data)
        if path == SKILL_FILE:
            front = _frontmatter(data)
        digest = f"sha256:{sha256(data).hexdigest()}"
        resources.append({"uri": _uri(skill.name, path), "digest": digest, "size": len(data)})
    if total > MOST_BYTES or len(resources) > MOST_FILES:
        return None
    if not isinstance(front, dict) or front.get("name") != skill.name:
        return None
    return {"uri": _uri(skill.name, SKILL_FILE), "frontmatter": front, "resources": resources}


def _frontmatter(data: bytes) -> object:
    # Imported here because these modules load YAML, which most servers never need.
    from callboard.ground import safe_yaml
    from callboard.skills.frontmatter import split_frontmatter

    try:
        parts = split_frontmatter(data.decode("utf-8"))
        return None if parts is None else safe_yaml.load(*parts).value
    except (UnicodeDecodeError, safe_yaml.YamlError):
        return None


def _files(skill: SkillMetadata) -> set[str]:
    return {Path(path).as_posix() for path in tree_stamps(skill.path)}


def _read(skill: SkillMetadata, path: str) -> bytes:
    real = resolve_inside(skill.path, path)
    try:
        if not real.is_file() or real.stat().st_size > MOST_BYTES:
            raise FileProblem("read", f"'{path}' isn't a file that can be served")
        return real.read_bytes()
    except OSError as error:
        raise FileProblem("read", f"'{path}' can't be read: {error.strerror}") from None


def _resource(skill: SkillMetadata, path: str) -> Resource:
    try:
        data = _read(skill, path)
    except FileProblem:
        raise ResourceNotFound(_uri(skill.name, path)) from None
    mime = "text/markdown" if path.endswith(".md") else "text/plain"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Resource(_uri(skill.name, path), data, "application/octet-stream")
    # Invisible characters in a text would be made visible, and the text would no longer match its
    # digest.
    return Resource(_uri(skill.name, path), data if hides(text) else text, mime)


def _uri(name: str, path: str) -> str:
    return f"skill://{name}/{path}"


def _require_stateless(request: PeerRequest) -> None:
    if request.peer.features.sessions:
        raise MethodNotFound(f"Method not found: '{request.method}'; it needs revision 2026-07-28")
