"""Makes served resources from the file in which a skill declares them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from callboard.bundles.files.mime_types import guess, is_text
from callboard.calls.entry import Entry
from callboard.content import Resource
from callboard.errors import ResourceNotFound
from callboard.service.resources import ServedResource
from callboard.skills.model import SkillMetadata, ToolDeclaration
from callboard.skills.resource_files import ResourceDeclaration, read_resources

log = logging.getLogger(__name__)

#: Maximum number of bytes in a file that is read as a resource.
MOST_BYTES = 10 * 2**20


def declared_resources(
    skill: SkillMetadata, find: Callable[[ToolDeclaration], Entry]
) -> list[ServedResource]:
    """Return the skill's resources. Invalid entries are logged, and all others are served. ``find``
    finds a function in the skill's scripts."""
    resources, failures = read_resources(skill)
    for failure in failures:
        log.warning("%s: %s", skill.name, failure.editor_line)
    return [_served(one, find) for one in resources]


def _served(one: ResourceDeclaration, find: Callable[[ToolDeclaration], Entry]) -> ServedResource:
    mime = one.mime_type or (guess(one.file.name) if one.file else "text/plain")
    function = one.function
    return ServedResource(
        one.uri,
        one.name,
        None if one.file is None else partial(_read_file, one.uri, one.file, mime),
        title=one.title,
        description=one.description,
        mime_type=mime,
        affinity="any" if function is None else function.affinity,
        required_capabilities=one.required_capabilities,
        load=None if function is None else partial(find, function),
    )


def _read_file(uri: str, file: Path, mime: str) -> Resource:
    try:
        # Links may have been added since the skill was loaded.
        if file.resolve() != file or not file.is_file() or file.stat().st_size > MOST_BYTES:
            raise ResourceNotFound(uri)
        data = file.read_bytes()
    except OSError:
        raise ResourceNotFound(uri) from None
    try:
        return Resource(uri, data.decode("utf-8") if is_text(mime) else data, mime)
    except UnicodeDecodeError:
        return Resource(uri, data, mime)
