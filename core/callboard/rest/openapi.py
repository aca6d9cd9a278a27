"""The OpenAPI 3.1 document, made from the table of routes."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from callboard.content import Json
from callboard.rest.problems import PROBLEM_TYPE
from callboard.rest.routes import Parameter, Route
from callboard.rest.schemas import SCHEMAS


def document(routes: Sequence[Route], version: str, url: str) -> Json:
    """Return the document. ``url`` is the address that the paths are relative to."""
    paths: dict[str, Json] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "callboard",
            "version": version,
            "description": "The tools, prompts and resources of one running host. The same as over "
            "MCP, with the same checks.",
        },
        "servers": [{"url": url}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> Json:
    responses: dict[str, Json] = {
        str(status): _response(status, answer) for status, answer in route.answers.items()
    }
    responses["default"] = {
        "description": "A problem (RFC 9457)",
        "content": {PROBLEM_TYPE: {"schema": _schema("Problem")}},
    }
    operation: Json = {
        "operationId": _operation_id(route),
        "summary": route.summary,
        "responses": responses,
    }
    if route.parameters:
        operation["parameters"] = [_parameter(parameter) for parameter in route.parameters]
    if route.body is not None:
        content: Json = {"schema": route.body}
        if route.example is not None:
            content["example"] = route.example
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def _operation_id(route: Route) -> str:
    words = route.path.removeprefix("/v1/").replace(".", "/").split("/")
    return "_".join([route.method.lower(), *(word.strip("{}") for word in words)])


def _response(status: int, answer: str) -> Json:
    kind, schema = (answer, {"type": "string"}) if "/" in answer else ("application/json", None)
    return {
        "description": HTTPStatus(status).phrase,
        "content": {kind: {"schema": schema or _schema(answer)}},
    }


def _parameter(parameter: Parameter) -> Json:
    entry: dict[str, Any] = {
        "name": parameter.name,
        "in": "path" if parameter.in_path else "query",
        "description": parameter.description,
        "required": parameter.required or parameter.in_path,
    }
    if parameter.as_json:
        entry["content"] = {"application/json": {"schema": parameter.schema}}
    else:
        entry["schema"] = parameter.schema
    return entry


def _schema(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}
