"""The table of REST routes, and the code that reads requests. This module uses no sockets and no
server."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, unquote

from callboard.calls.json_schema import SchemaViolation, Validator
from callboard.content import Json
from callboard.errors import InvalidParams, ParseError
from callboard.protocol import jsonrpc
from callboard.rest.problems import NotFound, Unacceptable
from callboard.transport.http.incoming_request import IncomingRequest


@dataclass(frozen=True)
class Parameter:
    """One parameter in the path or the query. If ``as_json`` is true, the text of the parameter is
    a JSON value."""

    name: str
    description: str
    schema: Json
    in_path: bool = False
    required: bool = False
    as_json: bool = False

    @cached_property
    def _validator(self) -> Validator:
        return Validator(self.schema, name=self.name)

    def read(self, text: str) -> Any:
        """Return the value of the parameter. Raises InvalidParams."""
        value: Any = text
        if self.as_json:
            try:
                value = jsonrpc.decode(text.encode("utf-8", "surrogatepass"))
            except ParseError as error:
                why = error.message.replace("the body", self.name, 1)
                raise InvalidParams(why) from None
        elif self.schema.get("type") == "integer":
            if not re.fullmatch(r"-?[0-9]{1,9}", text):
                raise InvalidParams(f"{self.name} must be an integer")
            value = int(text)
        try:
            self._validator.check(value)
        except SchemaViolation as wrong:
            raise InvalidParams(wrong.message) from None
        return value


@dataclass
class ReadRequest:
    """One request that has been read. ``values`` are its parameters, ``body`` its JSON object."""

    incoming: IncomingRequest
    values: dict[str, Any]
    body: Json


#: An HTTP status and the answer's JSON, or None when the handler has already answered.
RestAnswer = tuple[int, Json] | None
RouteHandler = Callable[[ReadRequest], Awaitable[RestAnswer]]


@dataclass(frozen=True)
class Route:
    """One operation. ``answers`` maps a status to the name of its schema, or to a content type
    other than JSON. Errors needn't be listed."""

    method: str
    path: str
    summary: str
    handler: RouteHandler
    answers: Mapping[int, str]
    parameters: Sequence[Parameter] = ()
    body: Json | None = None
    example: Json | None = None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        parts = re.split(r"\{(\w+)\}", self.path)
        return re.compile(
            "".join(
                f"(?P<{part}>[^/]+)" if index % 2 else re.escape(part)
                for index, part in enumerate(parts)
            )
        )

    @cached_property
    def _body_validator(self) -> Validator:
        return Validator(self.body or {}, name="body")

    def read(self, incoming: IncomingRequest) -> ReadRequest:
        """Read the request. Raises InvalidParams, ParseError or Unacceptable."""
        match = self.pattern.fullmatch(incoming.path)
        assert match is not None
        texts = {name: _decoded(text) for name, text in match.groupdict().items()}
        texts.update(self._query(incoming.query))
        values = {p.name: p.read(texts[p.name]) for p in self.parameters if p.name in texts}
        for parameter in self.parameters:
            if parameter.required and parameter.name not in values:
                raise InvalidParams(f"the parameter '{parameter.name}' is missing")
        return ReadRequest(incoming, values, self._read_body(incoming))

    def _query(self, query: str) -> dict[str, str]:
        known = {p.name for p in self.parameters if not p.in_path}
        texts: dict[str, str] = {}
        try:
            pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=64)
        except ValueError:
            raise InvalidParams("the query can't be read; percent-encode it as UTF-8") from None
        for name, value in pairs:
            if name not in known:
                takes = ", ".join(sorted(known)) or "none"
                raise InvalidParams(f"unknown parameter '{name[:80]}'; this path takes: {takes}")
            if name in texts:
                raise InvalidParams(f"the parameter '{name}' is given twice; give it once")
            texts[name] = value
        return texts

    def _read_body(self, incoming: IncomingRequest) -> Json:
        if self.body is None:
            return {}
        kind = incoming.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Unacceptable(415, "Content-Type must be application/json")
        value = jsonrpc.decode(incoming.body)
        try:
            self._body_validator.check(value)
        except SchemaViolation as wrong:
            raise InvalidParams(wrong.message) from None
        assert isinstance(value, dict)
        return value


def find(routes: Sequence[Route], incoming: IncomingRequest) -> Route | list[str]:
    """Return the route, or the methods that the path allows. Raises NotFound."""
    matching = [route for route in routes if route.pattern.fullmatch(incoming.path)]
    if not matching:
        raise NotFound("this path doesn't exist; /v1/openapi.json lists those that do")
    # HEAD is answered like GET, without the body.
    method = "GET" if incoming.method == "HEAD" else incoming.method
    for route in matching:
        if route.method == method:
            return route
    allowed = {route.method for route in matching}
    return sorted(allowed | {"HEAD"} if "GET" in allowed else allowed)


def _decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise InvalidParams("the path can't be read; percent-encode it as UTF-8") from None
