"""The schemas of REST requests and responses, for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Sequence

from callboard.content import Json

STRING: Json = {"type": "string"}
NAME: Json = {"type": "string", "minLength": 1, "maxLength": 1000}
COUNT: Json = {"type": "integer", "minimum": 0}
OBJECT: Json = {"type": "object"}
BOOLEAN: Json = {"type": "boolean"}


def _object(properties: Json, optional: Json | None = None) -> Json:
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": sorted(properties),
    }


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


def _listing(key: str, entry: str, more: Json | None = None) -> Json:
    items = _list({"$ref": f"#/components/schemas/{entry}"})
    return _object({"total": COUNT, key: items, **(more or {})})


def _one_of(values: Sequence[str]) -> Json:
    return {"type": "string", "enum": list(values)}


#: The body of ``POST /v1/call``.
CALL: Json = {
    "type": "object",
    "properties": {
        "tool": {**NAME, "description": "A name from /v1/tools"},
        "arguments": {**OBJECT, "description": "Arguments that fit the tool's inputSchema"},
    },
    "required": ["tool"],
    "additionalProperties": False,
}

#: The body of ``POST /v1/capabilities``.
CAPABILITIES_CHANGE: Json = {
    "type": "object",
    "properties": {
        key: {**_list(NAME), "maxItems": 100, "description": f"Capabilities to {key}"}
        for key in ("withdraw", "restore")
    },
    "additionalProperties": False,
}

#: The body of ``POST /v1/artist/act``. ``do`` is an action, or the answer to a question.
ARTIST_ACT: Json = {
    "type": "object",
    "properties": {
        "do": _one_of(
            ("cancel", "undo", "refuse", "allow", "allow_session", "allow_project", "allow_tool")
        ),
        "id": {**NAME, "description": "The id of the call or the question"},
    },
    "required": ["do", "id"],
    "additionalProperties": False,
}

_TEXT_OR_NULL: Json = {"type": ["string", "null"]}
_NUMBER: Json = {"type": "number"}
_NUMBER_OR_NULL: Json = {"type": ["number", "null"]}

REPORT: Json = _object(
    {
        "generatedAt": STRING,
        "since": _TEXT_OR_NULL,
        "until": STRING,
        "calls": COUNT,
        "sessions": COUNT,
        "clients": _list(STRING),
        "outcomes": {"type": "object", "additionalProperties": COUNT},
        "topMissingCapabilities": _list(
            _object(
                {
                    "capability": STRING,
                    "count": COUNT,
                    "sessions": COUNT,
                    "source": _one_of(("requested", "refused", "inferred")),
                    "confidence": _one_of(("high", "low")),
                    "examples": _list(STRING),
                }
            )
        ),
        "refusedHere": _list(STRING),
        "unknownTools": _list(_object({"tool": STRING, "count": COUNT, "sessions": COUNT})),
        "changes": {
            **_object({"callsBefore": COUNT, "new": _list(STRING), "gone": _list(STRING)}),
            "type": ["object", "null"],
        },
        "topErrors": _list(
            _object(
                {
                    "tool": STRING,
                    "code": {"type": ["integer", "null"]},
                    "outcome": STRING,
                    "message": STRING,
                    "count": COUNT,
                    "sessions": COUNT,
                    "lastSeen": STRING,
                }
            )
        ),
        "slowestTools": _list(
            _object(
                {
                    "tool": STRING,
                    "calls": COUNT,
                    "medianMs": _NUMBER,
                    "p95Ms": _NUMBER_OR_NULL,
                    "maxMs": _NUMBER,
                    "queueP95Ms": _NUMBER_OR_NULL,
                    "mainThreadP95Ms": _NUMBER_OR_NULL,
                }
            )
        ),
        "callsPerDay": _list(
            _object({"date": STRING, "calls": COUNT, "errors": COUNT, "refused": COUNT})
        ),
        "more": {"type": "object", "additionalProperties": COUNT},
    }
)

SCHEMAS: Json = {
    "Problem": _object(
        {"type": STRING, "title": STRING, "status": {"type": "integer"}, "detail": STRING},
        {"code": {"type": "integer"}, "data": OBJECT},
    ),
    "Health": _object(
        {
            "instance": STRING,
            "host": STRING,
            "version": STRING,
            "tools": COUNT,
            "not_kept": _list(STRING),
        }
    ),
    "Capabilities": _object(
        {"declared": _list(STRING), "offered_by_host": _list(STRING), "withdrawn": _list(STRING)}
    ),
    "Looked": _object({"looked": BOOLEAN}),
    "Stopped": _object(
        {
            "ended": _list(
                _object(
                    {"call": STRING, "tool": STRING, "client": STRING, "seconds": _NUMBER},
                    {"rolled_back": BOOLEAN},
                )
            )
        },
        {"holds": STRING},
    ),
    "Acted": _object({"done": BOOLEAN}, {"undone": COUNT, "problem": STRING}),
    "Readiness": _object(
        {"ready": BOOLEAN, "paused": BOOLEAN, "stalled_ms": COUNT, "queued": COUNT},
        {
            "call": STRING,
            "blocked_by": STRING,
            "starving": _object({"waited_ms": COUNT, "running": _list(STRING)}),
        },
    ),
    "Tool": _object(
        {"name": STRING, "description": STRING, "inputSchema": OBJECT},
        {
            "title": STRING,
            "outputSchema": OBJECT,
            "annotations": OBJECT,
            "icons": _list(OBJECT),
            "_meta": OBJECT,
        },
    ),
    "Tools": _listing("tools", "Tool"),
    "CallResult": _object(
        {"content": _list(OBJECT), "isError": BOOLEAN},
        {"structuredContent": OBJECT, "_meta": OBJECT},
    ),
    "Prompt": _object(
        {"name": STRING, "description": STRING},
        {"title": STRING, "arguments": _list(OBJECT), "_meta": OBJECT},
    ),
    "Prompts": _listing("prompts", "Prompt", {"diagnostics": OBJECT}),
    "RenderedPrompt": _object({"description": STRING, "messages": _list(OBJECT)}),
    "Skill": _object(
        {
            "name": STRING,
            "description": STRING,
            "scope": _one_of(("bundled", "user", "project", "site")),
            "loaded": BOOLEAN,
            "version": {"type": ["string", "null"]},
            "tags": _list(STRING),
            "depends": _list(STRING),
            "required_capabilities": _list(STRING),
            "tools": _list(OBJECT),
            "failures": _list(OBJECT),
        }
    ),
    "Skills": _listing(
        "skills", "Skill", {"failures": _list(OBJECT), "host_capabilities": _list(STRING)}
    ),
    "Hit": _object(
        {
            "kind": _one_of(("skill", "tool")),
            "name": STRING,
            "skill": STRING,
            "description": STRING,
            "loaded": BOOLEAN,
        },
        {"arguments": STRING},
    ),
    "Hits": _listing("hits", "Hit"),
    "Resource": _object(
        {"name": STRING, "mimeType": STRING},
        {"uri": STRING, "uriTemplate": STRING, "title": STRING, "description": STRING},
    ),
    "Resources": _listing(
        "resources", "Resource", {"templates": _list({"$ref": "#/components/schemas/Resource"})}
    ),
    "Contents": _object({"contents": _list(OBJECT)}),
    "Job": _object(
        {
            "job_id": STRING,
            "tool": STRING,
            "status": _one_of(("working", "input_required", "completed", "failed", "cancelled")),
            "created": STRING,
            "updated": STRING,
        },
        {"progress": OBJECT, "result": OBJECT, "error": OBJECT},
    ),
    "Report": REPORT,
    "Document": OBJECT,
}
