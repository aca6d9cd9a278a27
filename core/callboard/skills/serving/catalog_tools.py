"""``skills__search``, ``skills__describe``, ``skills__load`` and ``skills__unload``, the tools with
which an agent finds tools that aren't in the list of tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callboard.calls.capabilities import Capabilities, Offer, missing
from callboard.calls.entry import entry_of
from callboard.calls.tools import Tool
from callboard.content import Json
from callboard.errors import SkillError, WrongArgument
from callboard.skills.catalog import KnownSkill, SkillCatalog
from callboard.skills.model import SkillMetadata, ToolDeclaration

#: Maximum number of characters of the arguments in a hit.
MOST_ARGUMENTS = 400
_NAME: Json = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1, "description": "The skill's name."}},
    "required": ["name"],
    "additionalProperties": False,
}
_DESCRIBE: Json = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": {**_NAME["properties"]["name"], "description": "A skill's name, or a tool's."},
        "tool": {
            "type": "string",
            "description": "Only this tool, with its schemas.",
        },
    },
}
_SEARCH: Json = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "maxLength": 500,
            "description": "What you want to do, in a few words.",
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        "callable": {
            "type": "boolean",
            "default": False,
            "description": "Leave out what needs a capability that this host doesn't have now.",
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}


def catalog_tools(catalog: SkillCatalog, capabilities: Capabilities) -> list[Tool]:
    """Return the four tools for one catalog."""

    def search(query: str, limit: int = 10, callable: bool = False) -> Json:
        return search_skills(catalog, query, limit, capabilities.offer, only_callable=callable)

    def describe(name: str | None = None, tool: str | None = None) -> Json:
        name = name or tool
        if name is None:
            raise WrongArgument("name must be a skill's name or a tool's")
        for known in catalog.known:
            if any(known.skill.wire_name(one.name) == name for one in known.skill.tools):
                return _describe_one(known, name, capabilities.offer)
        skill = catalog.get(name)
        known = next(k for k in catalog.known if k.skill.name == skill.name)
        if tool is not None:
            return _describe_one(known, tool, capabilities.offer)
        return describe_skill(catalog, known, capabilities.offer)

    def load(name: str) -> Json:
        loaded = catalog.load(name)
        # The tools of an already loaded skill are listed too, because the caller needs them.
        skills = loaded or [catalog.get(name)]
        tools = [skill.wire_name(tool.name) for skill in skills for tool in skill.tools]
        return {"loaded": [skill.name for skill in loaded], "tools": tools}

    def unload(name: str) -> Json:
        catalog.unload(name)
        return {"unloaded": name}

    return [
        _tool(
            "skills__search",
            "Finds skills and tools, loaded or not, by what they are for. A tool can be called "
            "even if its skill isn't loaded. Hits name its arguments, * if required; "
            "skills__describe has the schemas.",
            _SEARCH,
            search,
            read_only=True,
        ),
        _tool(
            "skills__describe",
            "Describes a skill: its purpose, its tools and what they need; for one tool, its "
            "schemas.",
            _DESCRIBE,
            describe,
            read_only=True,
        ),
        _tool(
            "skills__load",
            "Loads a skill and what it depends on; its tools join tools/list.",
            _NAME,
            load,
        ),
        _tool("skills__unload", "Removes a loaded skill's tools from tools/list.", _NAME, unload),
    ]


def search_skills(
    catalog: SkillCatalog,
    query: str,
    limit: int,
    offer: Offer,
    *,
    only_callable: bool = False,
) -> Json:
    """Return ``{hits: [{kind, name, skill | bundle, description, arguments?, loaded,
    missing_capabilities?}]}``, the best first. A skill's missing capabilities are listed only when
    none of its tools can be called. ``bundle`` is the bundle whose server has the tool.
    ``arguments`` are a tool's, as :func:`_arguments` returns them."""
    skills = {known.skill.name: known for known in catalog.known}
    ranked = catalog.search(query, 1000 if only_callable else limit)
    served_tools = catalog.served_tools()
    hits: list[Json] = []
    for hit in ranked:
        served = served_tools.get(hit.name) if hit.kind == "tool" else None
        known = None if served is not None else skills.get(hit.skill)
        if served is not None:
            missing_capabilities = missing(served.required_capabilities, offer.to(False))
        else:
            missing_capabilities = (
                [] if known is None else _missing(known, hit.kind, hit.name, offer)
            )
        if missing_capabilities and only_callable:
            continue
        hits.append(
            {
                "kind": hit.kind,
                "name": hit.name,
                ("skill" if served is None else "bundle"): hit.skill,
                "description": hit.description,
                **(
                    {"arguments": _arguments(hit.name, known, served)} if hit.kind == "tool" else {}
                ),
                "loaded": served is not None or (known is not None and known.loaded),
                **({"missing_capabilities": missing_capabilities} if missing_capabilities else {}),
            }
        )
    return {"hits": hits[:limit]}


def _arguments(name: str, known: KnownSkill | None, served: Tool | None) -> str:
    """Return the names of the tool's arguments, such as ``path*, width``. A ``*`` marks what is
    required."""
    if served is not None:
        schema = served.input_schema
    else:
        tools = [] if known is None else known.skill.tools
        named = (each for each in tools if known and known.skill.wire_name(each.name) == name)
        schema = next((each.input_schema for each in named), {})
    properties, required = schema.get("properties"), schema.get("required")
    names = list(properties) if isinstance(properties, dict) else []
    needed = required if isinstance(required, list) else []
    marked = ", ".join(f"{each}*" if each in needed else each for each in names)
    return marked if len(marked) <= MOST_ARGUMENTS else f"{marked[:MOST_ARGUMENTS]}…"


def _missing(known: KnownSkill, kind: str, name: str, offer: Offer) -> list[str]:
    skill, declared = known.skill, offer.to(known.scope == "bundled")
    tools = [tool for tool in skill.tools if kind == "skill" or skill.wire_name(tool.name) == name]
    missing_capabilities = [missing(tool.required_capabilities, declared) for tool in tools]
    if not missing_capabilities or not all(missing_capabilities):
        return []
    return list(dict.fromkeys(each for one in missing_capabilities for each in one))


def describe_skill(catalog: SkillCatalog, known: KnownSkill, offer: Offer) -> Json:
    """Return a skill's description for ``skills__describe`` and REST. Its failures include those of
    newer files that are broken and therefore not used."""
    skill, declared = known.skill, offer.to(known.scope == "bundled")
    own = [*skill.failures, *(each for each in catalog.failures if each.skill == skill.name)]
    bundle = catalog.came_with(skill.path)
    return {
        "name": skill.name,
        "description": skill.description,
        "scope": known.scope,
        "loaded": known.loaded,
        "version": skill.version,
        "tags": list(skill.tags),
        "depends": list(skill.depends),
        "required_capabilities": skill.required_capabilities,
        "missing_capabilities": missing(skill.required_capabilities, declared),
        "tools": [_describe_tool(skill, tool, declared) for tool in skill.tools],
        "failures": [failure.as_json() for failure in dict.fromkeys(own)],
        **({} if bundle is None else {"bundle": bundle}),
    }


def _describe_one(known: KnownSkill, tool: str, offer: Offer) -> Json:
    """Return one tool with its schemas, by its wire name or its own name. Raises SkillError."""
    skill = known.skill
    for one in skill.tools:
        if tool in (one.name, skill.wire_name(one.name)):
            return {
                **_describe_tool(skill, one, offer.to(known.scope == "bundled")),
                "input_schema": one.input_schema,
                **({} if one.output_schema is None else {"output_schema": one.output_schema}),
            }
    names = ", ".join(one.name for one in skill.tools)
    raise SkillError(f"skill '{skill.name}' has no tool '{tool[:100]}'; it has: {names}")


def _describe_tool(skill: SkillMetadata, tool: ToolDeclaration, declared: Sequence[str]) -> Json:
    missing_capabilities = missing(tool.required_capabilities, declared)
    return {
        "name": skill.wire_name(tool.name),
        "description": tool.description,
        "required_capabilities": list(tool.required_capabilities),
        **({"missing_capabilities": missing_capabilities} if missing_capabilities else {}),
    }


def _tool(
    name: str, description: str, schema: Json, function: Any, *, read_only: bool = False
) -> Tool:
    entry = entry_of(function, name, name)
    return Tool(
        name=name,
        description=description,
        input_schema=schema,
        load=lambda: entry,
        affinity="any",
        ours=True,
        annotations={"readOnlyHint": read_only, "destructiveHint": False, "openWorldHint": False},
    )
