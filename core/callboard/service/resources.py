"""Resources and resource templates, by URI."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from callboard import content
from callboard.calls.entry import Affinity, Completer, entry_of
from callboard.calls.tools import Tool
from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import ResourceNotFound, SkillError
from callboard.protocol.revisions import Revision

if TYPE_CHECKING:
    from callboard.bundles.running.listed_others import ListedResource

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class ServedResource:
    """One resource, or, where ``uri`` has ``{variables}``, a template of many.

    ``read`` is called with the template's variables; it may take ``ctx``, and returns text, bytes
    or a :class:`callboard.content.Resource`. ``affinity`` says on which thread.
    """

    uri: str
    name: str
    read: Callable[..., Any]
    title: str | None = None
    description: str | None = None
    mime_type: str = "text/plain"
    affinity: Affinity = "any"
    required_capabilities: tuple[str, ...] = ()
    icons: tuple[Mapping[str, Any], ...] = ()
    complete: Completer | None = None
    #: Made once: what the dispatcher runs.
    work: Tool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        entry = entry_of(self.read, self.uri, self.uri)
        work = Tool(
            name=self.uri,
            description="",
            input_schema={"type": "object"},
            load=lambda: entry,
            affinity=self.affinity,
            required_capabilities=self.required_capabilities,
            internal=True,
        )
        object.__setattr__(self, "work", work)

    @property
    def is_template(self) -> bool:
        return "{" in self.uri

    def match(self, uri: str) -> dict[str, str] | None:
        """The template's variables in ``uri``, decoded, or None where it doesn't fit."""
        if not self.is_template:
            return {} if uri == self.uri else None
        parts = _pattern(self.uri).fullmatch(uri)
        if parts is None:
            return None
        return {name: unquote(value) for name, value in parts.groupdict().items()}

    def describe(self, features: Revision) -> Json:
        """The entry of ``resources/list`` or ``resources/templates/list``."""
        entry: Json = {
            "uriTemplate" if self.is_template else "uri": self.uri,
            "name": self.name,
            "mimeType": self.mime_type,
        }
        if self.description is not None:
            entry["description"] = self.description
        if features.structured_output and self.title is not None:
            entry["title"] = self.title
        if features.icons and self.icons:
            entry["icons"] = list(self.icons)
        return entry

    def contents(self, uri: str, value: Any) -> list[Json]:
        """``resources/read``'s contents for what ``read`` returned."""
        values = value if isinstance(value, list) else [value]
        return [self._content(uri, item) for item in values]

    def _content(self, uri: str, value: Any) -> Json:
        if isinstance(value, content.Resource):
            return value.contents()
        if not isinstance(value, (str, bytes)):
            raise SkillError(f"the resource {self.uri} must read as text or bytes")
        return content.Resource(uri, value, self.mime_type).contents()


def _served(listed: ListedResource) -> ServedResource:
    return ServedResource(
        listed.uri,
        listed.name,
        listed.read,
        title=listed.title,
        description=listed.description,
        mime_type=listed.mime_type,
    )


def _pattern(template: str) -> re.Pattern[str]:
    # Level 1 of RFC 6570: a variable stands for one segment; {+name} for several.
    parts = re.split(r"(\{\+?[A-Za-z_][A-Za-z0-9_]*\})", template)
    regex = ""
    for part in parts:
        if part.startswith("{+"):
            regex += f"(?P<{part[2:-1]}>.+)"
        elif part.startswith("{"):
            regex += f"(?P<{part[1:-1]}>[^/]+)"
        else:
            regex += re.escape(part)
    return re.compile(regex)


class ResourceRegistry:
    """What can be read. On the server's loop, or before it starts."""

    def __init__(self) -> None:
        self._resources: dict[str, ServedResource] = {}
        self._changes: Changes[[]] = Changes()

    def all(self, *, templates: bool) -> list[ServedResource]:
        """The resources, or the templates, sorted by URI."""
        resources = [r for r in self._resources.values() if r.is_template == templates]
        return sorted(resources, key=lambda resource: resource.uri)

    def find(self, uri: str) -> tuple[ServedResource, dict[str, str]]:
        """The resource that answers for ``uri``, and its variables. Raises ResourceNotFound."""
        exact = self._resources.get(uri)
        if exact is not None and not exact.is_template:
            return exact, {}
        for resource in self.all(templates=True):
            variables = resource.match(uri)
            if variables is not None:
                return resource, variables
        raise ResourceNotFound(uri)

    def get(self, uri: str) -> ServedResource | None:
        """The resource or template that is registered under just this URI."""
        return self._resources.get(uri)

    def replace(self, remove: list[str], add: list[ServedResource]) -> None:
        """Takes resources out and puts others in, in one step."""
        for uri in remove:
            self._resources.pop(uri, None)
        for resource in add:
            self._resources[resource.uri] = resource
        self._changes.tell()

    def add(self, *resources: ServedResource) -> None:
        self.replace([], list(resources))

    def take(self, gone: Sequence[str], listed: Sequence[ListedResource]) -> list[str]:
        """Offers what a bundle's server lists, instead of what it listed before under the URIs
        ``gone``, and nothing under a URI that is taken. Which are offered."""
        free = [one for one in listed if one.uri in gone or one.uri not in self._resources]
        for one in listed:
            if one not in free:
                log.warning("resource '%s' of a bundle isn't served: the URI is taken", one.uri)
        if gone or free:
            self.replace([*gone], [_served(one) for one in free])
        return [one.uri for one in free]

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls ``listener`` whenever the resources change; returns the way to stop."""
        return self._changes.watch(listener)
