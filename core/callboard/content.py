"""The values that a tool may return besides plain JSON: images, audio, resources, blocks."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Text:
    text: str
    annotations: Mapping[str, Any] | None = None

    def block(self) -> Json:
        return _annotated({"type": "text", "text": self.text}, self.annotations)


@dataclass
class Image:
    """An image. ``data`` is the file's content; ``mime_type`` is its format."""

    data: bytes
    mime_type: str = "image/png"
    annotations: Mapping[str, Any] | None = None

    def block(self) -> Json:
        block = {"type": "image", "data": _base64(self.data), "mimeType": self.mime_type}
        return _annotated(block, self.annotations)


@dataclass
class Audio:
    data: bytes
    mime_type: str = "audio/wav"
    annotations: Mapping[str, Any] | None = None

    def block(self) -> Json:
        block = {"type": "audio", "data": _base64(self.data), "mimeType": self.mime_type}
        return _annotated(block, self.annotations)


@dataclass
class Resource:
    """A resource's content, embedded. ``uri`` is absolute; ``content`` is text or bytes."""

    uri: str
    content: str | bytes
    mime_type: str = "text/plain"
    annotations: Mapping[str, Any] | None = None

    def contents(self) -> Json:
        entry: Json = {"uri": self.uri, "mimeType": self.mime_type}
        if isinstance(self.content, bytes):
            entry["blob"] = _base64(self.content)
        else:
            entry["text"] = self.content
        return entry

    def block(self) -> Json:
        return _annotated({"type": "resource", "resource": self.contents()}, self.annotations)


@dataclass
class ResourceLink:
    """A resource that the client may read later."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None

    def block(self) -> Json:
        block: Json = {"type": "resource_link", "uri": self.uri, "name": self.name}
        if self.title is not None:
            block["title"] = self.title
        if self.description is not None:
            block["description"] = self.description
        if self.mime_type is not None:
            block["mimeType"] = self.mime_type
        return block


Block = Text | Image | Audio | Resource | ResourceLink


@dataclass
class Result:
    """A whole result: ``content`` for readers, ``structured`` for programs."""

    content: Sequence[Block | str] = ()
    structured: Any = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)


def blocks(value: Any) -> list[Json] | None:
    """Return the content blocks of ``value``, or None when it is plain data."""
    if isinstance(value, Block):
        return [value.block()]
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, Block) for v in value):
        return [item.block() for item in value]
    return None


def json_object(text: str | bytes) -> Json | None:
    """Return the JSON object in ``text``, or None if the text is anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _annotated(block: Json, annotations: Mapping[str, Any] | None) -> Json:
    return block if annotations is None else {**block, "annotations": dict(annotations)}
