"""The plainest request there is: a POST whose head came in one piece.

Nearly every request is one, and reading it as general HTTP/1.1 costs more than a call does. What
is taken here is a small part of what Tornado takes, and means the same to both: one way to write
a line, no header twice, one Content-Length, nothing that changes how the rest is read. At the
first doubt nothing is taken, and Tornado reads the bytes as if this weren't here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from callboard.transport.http.access import HEADER_LIMIT

_HEAD = re.compile(rb"POST (/[!-~]*) HTTP/1\.1\r\n((?:[A-Za-z0-9-]+:[ -~]*\r\n){1,64})\r\n")
_LENGTH = re.compile("[0-9]{1,8}")
_NOT_PLAIN = frozenset({"transfer-encoding", "expect", "upgrade", "trailer", "te"})


class PlainHeaders(Mapping[str, str]):
    """Headers whose names are known in lower case; asked for in any."""

    def __init__(self, by_name: dict[str, str]) -> None:
        self._by_name = by_name

    def __getitem__(self, name: str) -> str:
        return self._by_name[name.lower()]

    def get(self, name: str, default: Any = None, /) -> Any:
        return self._by_name.get(name.lower(), default)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


class PlainRequest(NamedTuple):
    """``length`` bytes of body follow the head, which is ``head`` bytes long."""

    target: str
    headers: PlainHeaders
    head: int
    length: int


def plain_request(data: bytes) -> PlainRequest | None:
    """The request that ``data`` begins with; None where its head isn't plain, or not all there."""
    head = _HEAD.match(data)
    if head is None or head.end() > HEADER_LIMIT:
        return None
    lines = head[2].decode("ascii").split("\r\n")
    lines.pop()
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip(" ")
    length = headers.get("content-length", "")
    if (
        len(headers) != len(lines)
        or not _NOT_PLAIN.isdisjoint(headers)
        or headers.get("connection", "keep-alive").lower() != "keep-alive"
        or _LENGTH.fullmatch(length) is None
    ):
        return None
    return PlainRequest(head[1].decode("ascii"), PlainHeaders(headers), head.end(), int(length))
