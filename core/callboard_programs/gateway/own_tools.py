"""The gateway's own tools, which list the instances, attach instances to this conversation, and
call any tool of any instance."""

from __future__ import annotations

from callboard.calls.json_schema import SchemaViolation, Validator
from callboard.content import Json
from callboard.errors import InvalidParams

LIST, ATTACH, DETACH = "instances__list", "instances__attach", "instances__detach"
TRANSFER = "instances__transfer"
SEARCH, DESCRIBE, CALL = "tools__search", "tools__describe", "tools__call"

_INSTANCE: Json = {
    "type": "string",
    "minLength": 1,
    "description": f"A name, or an id, from {LIST}.",
}
_TOOL: Json = {"type": "string", "minLength": 1, "description": "The tool's own name, unprefixed."}
_READS: Json = {"readOnlyHint": True, "openWorldHint": False}
_CHANGES_NOTHING: Json = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}


def _tool(
    name: str,
    title: str,
    description: str,
    annotations: Json,
    required: tuple[str, ...],
    **properties: Json,
) -> Json:
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
        "annotations": annotations,
    }


TOOLS = (
    _tool(
        LIST,
        "Running applications",
        "Lists the applications that are running on this machine: Maya, Blender, Houdini, 3ds "
        "Max, OpenUSD; with each one's open scene, and whether it is attached here.",
        _READS,
        (),
    ),
    _tool(
        ATTACH,
        "Work with an application",
        "From now on, in this conversation only, lists that instance's tools, each with its name "
        "in front: maya__scene__list_objects. Several can be attached. Ask the user if it isn't "
        "clear which one to attach.",
        _CHANGES_NOTHING,
        ("instance",),
        instance=_INSTANCE,
    ),
    _tool(
        DETACH,
        "Leave an application",
        "Takes that instance's tools off this conversation's list. The application keeps running.",
        _CHANGES_NOTHING,
        ("instance",),
        instance=_INSTANCE,
    ),
    _tool(
        TRANSFER,
        "Take objects into another application",
        "Copies objects, with what is below them, their materials, cameras, lights and animation, "
        "from one instance into another by USD; units, up axis, frame rate and names are converted "
        "to the other one's. One undo step there. Reports what is lost or renamed.",
        _CHANGES_NOTHING,
        ("from", "to"),
        **{"from": _INSTANCE, "to": _INSTANCE},
        objects={
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 1024},
            "minItems": 1,
            "maxItems": 1000,
            "description": "Names or paths in the source; by default everything.",
        },
        folder={
            "type": "string",
            "minLength": 1,
            "maxLength": 4096,
            "description": "An absolute path below a root of both, for the exchanged file; "
            "by default such a root.",
        },
    ),
    _tool(
        SEARCH,
        "Find a tool",
        "Searches the tools of all running instances, or of one, by purpose.",
        _READS,
        ("query",),
        query={"type": "string", "minLength": 1, "maxLength": 500},
        instance=_INSTANCE,
        limit={"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
    ),
    _tool(
        DESCRIBE,
        "A tool's arguments",
        "Describes one tool: its description, the schemas of its arguments and its result.",
        _READS,
        ("instance", "tool"),
        instance=_INSTANCE,
        tool=_TOOL,
    ),
    _tool(
        CALL,
        "Call a tool",
        "Calls one tool of one instance, attached or not; its result is the tool's own.",
        {"readOnlyHint": False, "openWorldHint": False},
        ("instance", "tool"),
        instance=_INSTANCE,
        tool=_TOOL,
        arguments={"type": "object", "description": "As tools__describe shows."},
    ),
)
#: Tools that need a session.
OF_SESSIONS = (ATTACH, DETACH)
_VALIDATORS = {tool["name"]: Validator(tool["inputSchema"]) for tool in TOOLS}


def is_own(name: object) -> bool:
    return name in _VALIDATORS


def checked(name: str, arguments: object) -> Json:
    """Return the checked arguments of a call to one of the gateway's own tools. Raises
    InvalidParams."""
    given = {} if arguments is None else arguments
    try:
        _VALIDATORS[name].check(given)
    except SchemaViolation as wrong:
        raise InvalidParams(wrong.message) from None
    assert isinstance(given, dict)
    return given
