"""The registry of resources and resource templates. MCP's ``resources/*`` methods list and read
them; each read runs through the dispatcher, as a tool does."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from callboard import content
from callboard.calls.capabilities import Offer
from callboard.calls.entry import Affinity, Completer, Entry, entry_of
from callboard.calls.invisible import shown
from callboard.calls.tools import Tool
from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import ResourceNotFound, SkillError
from callboard.ports.capability_names import SCENE_READ
from callboard.protocol.revisions import Revision

if TYPE_CHECKING:
    from callboard.bundles.running.listed_resources import ListedResource

log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class ServedResource:
    """One resource, or a template for many if ``uri`` has ``{variables}``.

    ``read`` is called with the template's variables. It may accept ``ctx``, and returns text, bytes
    or a :class:`callboard.content.Resource`. ``affinity`` sets the thread that it runs on.
    """

    uri: str
    name: str
    #: None when ``load`` finds the function on the first read.
    read: Callable[..., Any] | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str = "text/plain"
    affinity: Affinity = "any"
    required_capabilities: tuple[str, ...] = ()
    icons: tuple[Mapping[str, Any], ...] = ()
    #: Shown in lists and with the contents.
    meta: Mapping[str, Any] = field(default_factory=dict)
    complete: Completer | None = None
    load: Callable[[], Entry] | None = None
    #: The tool that the dispatcher runs to read the resource. It is made once.
    work: Tool = field(init=False)

    def __post_init__(self) -> None:
        load = self.load
        if load is None:
            assert self.read is not None
            entry = entry_of(self.read, self.uri, self.uri)
            load = lambda: entry  # noqa: E731
        self.work = Tool(
            name=self.uri,
            description="",
            input_schema={"type": "object"},
            load=load,
            affinity=self.affinity,
            required_capabilities=self.required_capabilities,
            internal=True,
        )

    @property
    def is_template(self) -> bool:
        return "{" in self.uri

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the template's variables in ``uri``, decoded, or None when the URI doesn't
        match."""
        if not self.is_template:
            return {} if uri == self.uri else None
        values = _variables_in(self.uri, uri)
        return values and {name: unquote(value) for name, value in values.items()}

    def describe(self, features: Revision, offer: Offer) -> Json:
        """Return the entry in ``resources/list`` or ``resources/templates/list``."""
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
        meta = dict(self.meta)
        if dcc := self.work.needs(offer):
            meta["dcc"] = dcc
        if meta:
            entry["_meta"] = meta
        return {
            key: value if key.startswith("uri") else shown(value) for key, value in entry.items()
        }

    def contents(self, uri: str, value: Any) -> list[Json]:
        """Return the contents for ``resources/read`` from the value that ``read`` returned."""
        values = value if isinstance(value, list) else [value]
        contents = [self._content(uri, item) for item in values]
        if self.meta:
            contents = [{**one, "_meta": dict(self.meta)} for one in contents]
        return contents

    def _content(self, uri: str, value: Any) -> Json:
        if isinstance(value, content.Resource):
            return value.contents()
        if not isinstance(value, (str, bytes)):
            if not isinstance(value, dict) or self.mime_type.rpartition("/")[2] != "json":
                raise SkillError(
                    f"the resource {self.uri} must return text or bytes, or a dict if its "
                    "mime_type is application/json"
                )
            value = json.dumps(value, ensure_ascii=False)
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


#: Longer URIs match no template.
_LONGEST_URI = 4096


def _variables_in(template: str, uri: str) -> dict[str, str] | None:
    """Return the values of the template's variables in ``uri``, or None if the URI doesn't match.
    Each value is as long as possible.

    A regular expression with several variables could take hours for a crafted URI. This takes one
    pass over the URI for each part of the template.
    """
    # Level 1 of RFC 6570: a variable stands for one segment, {+name} for several.
    parts = re.split(r"\{(\+?[A-Za-z_][A-Za-z0-9_]*)\}", template)
    if len(uri) > _LONGEST_URI or not uri.startswith(parts[0]):
        return None
    # For each part, from last to first, and each position in the URI: the position where the part
    # ends, if the part can start at the first position and the rest of the URI matches.
    ends: list[int | None] = [None] * len(uri) + [len(uri)]
    all_ends = []
    for index, part in reversed(list(enumerate(parts))):
        after, ends = ends, [None] * (len(uri) + 1)
        if index % 2:
            for at in reversed(range(len(uri))):
                if part.startswith("+") or uri[at] != "/":
                    ends[at] = ends[at + 1] or (None if after[at + 1] is None else at + 1)
        else:
            at = uri.find(part)
            while at >= 0:
                if after[at + len(part)] is not None:
                    ends[at] = at + len(part)
                at = uri.find(part, at + 1)
        all_ends.append(ends)
    variables = {}
    start = 0
    for index, part in enumerate(parts):
        end = all_ends[-1 - index][start]
        if end is None:
            return None
        if index % 2:
            variables[part.lstrip("+")] = uri[start:end]
        start = end
    return variables


class ResourceRegistry:
    """The resources that can be read. Use it from any thread: a change replaces the whole table."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._resources: dict[str, ServedResource] = {}
        self._changes: Changes[[]] = Changes()
        #: Called with a test that is true for the URIs of replaced resources, which may have
        #: changed.
        self.replaced: Changes[[Callable[[str], bool]]] = Changes()

    def all(self, *, templates: bool) -> list[ServedResource]:
        """Return the resources, or the templates, sorted by URI."""
        resources = [r for r in self._resources.values() if r.is_template == templates]
        return sorted(resources, key=lambda resource: resource.uri)

    def find(self, uri: str) -> tuple[ServedResource, dict[str, str]]:
        """Return the resource for ``uri``, and the URI's variables. Raises ResourceNotFound."""
        exact = self._resources.get(uri)
        if exact is not None and not exact.is_template:
            return exact, {}
        for resource in self.all(templates=True):
            variables = resource.match(uri)
            if variables is not None:
                return resource, variables
        raise ResourceNotFound(uri)

    def follows_scene(self, uri: str) -> bool:
        """Return whether the resource's content depends on the scene."""
        try:
            return SCENE_READ in self.find(uri)[0].required_capabilities
        except ResourceNotFound:
            return False

    def get(self, uri: str) -> ServedResource | None:
        """Return the resource or template registered under exactly this URI."""
        return self._resources.get(uri)

    def replace(self, remove: Sequence[str], add: Sequence[ServedResource]) -> None:
        """Remove resources and add others in one step."""
        with self._lock:
            kept = {uri: one for uri, one in self._resources.items() if uri not in remove}
            self._resources = {**kept, **{one.uri: one for one in add}}
        self._changes.tell()
        again = [resource for resource in add if resource.uri in remove]
        if again:
            self.replaced.tell(lambda uri: any(one.match(uri) is not None for one in again))

    def add(self, *resources: ServedResource) -> None:
        self.replace([], list(resources))

    def take(self, gone: Sequence[str], listed: Sequence[ListedResource]) -> list[str]:
        """Offer the resources that a bundle's server lists, in place of its former ones, whose URIs
        are ``gone``. A URI that is already in use is skipped. Return the offered URIs."""
        free = [one for one in listed if one.uri in gone or one.uri not in self._resources]
        for one in listed:
            if one not in free:
                log.warning("resource '%s' of a bundle isn't served: the URI is taken", one.uri)
        if gone or free:
            self.replace([*gone], [_served(one) for one in free])
        return [one.uri for one in free]

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` whenever the resources change. Return a function that removes the
        listener."""
        return self._changes.watch(listener)
