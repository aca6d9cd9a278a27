"""Words that a skill's author most likely misspelled: keys, capabilities, applications, hints and
names of its own tools. A word unlike any known one is left alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from callboard.calls.capabilities import VOCABULARY
from callboard.ground import safe_yaml
from callboard.skills.frontmatter import frontmatter
from callboard.skills.model import SKILL_FILE, SkillMetadata
from callboard.skills.resource_files import KEYS
from callboard.skills.skill_files import FileProblem, expand, read_text, relative, resolve_inside
from callboard.skills.tool_entry import HINT_WORDS, KNOWN_KEYS

#: File, line, message.
Odd = tuple[str, int, str]

#: Minimum similarity of a word to the intended one.
_ALIKE = 0.8
#: Common substitutes for known words, too different for the similarity check.
_MEANT = {
    **{"usd": "openusd", "pxr": "openusd", "bpy": "blender", "hou": "houdini", "mayapy": "maya"},
    **{"max": "3dsmax", "3ds-max": "3dsmax", "pymxs": "3dsmax"},
    **{"read_only": "read_only_hint", "read-only": "read_only_hint", "readonly": "read_only_hint"},
}
_DCCS = ("blender", "maya", "houdini", "3dsmax", "openusd", "python")
_FRONT = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_BLOCK = (
    *("dcc", "version", "layer", "tags", "search-hint", "search-aliases", "depends", "load"),
    *("requires", "search_hint", "search_aliases"),
    *("tools", "prompts", "resources", "examples", "recipes", "workflows"),
)
_OUTCOMES = ("on-success", "on-failure", "on_success", "on_failure")
_WORKFLOW = ("name", "description", "inputs", "steps")
_STEP = (
    *("id", "kind", "tool", "args", "arguments", "retry", "backoff", "timeout", "timeout_secs"),
    *("foreach", "items", "as", "steps", "parallel", "branch", "on", "then", "else", "equals"),
    *("approve", "message", "prompt", "fail"),
)


def odd_words(skill: SkillMetadata) -> Iterator[Odd]:
    """Yield the likely misspellings in SKILL.md, the tools' file and the workflows."""
    front = frontmatter(skill.path)
    if front is not None:
        yield from _of_front(front)
    tools = tools_document(skill)
    if tools is not None:
        yield from _of_tools(skill, *tools)
    yield from _of_resources(skill)
    yield from odd_in_workflows(skill)


def odd_in_workflows(skill: SkillMetadata) -> Iterator[Odd]:
    """Yield the likely misspellings in the workflows that SKILL.md names."""
    listed = skill.workflows
    for reference in (listed,) if isinstance(listed, str) else listed or ():
        for path in expand(skill.path, reference)[0]:
            shown = relative(skill.path, path)
            document = _document(skill, shown)
            if document is not None:
                yield from _of_workflow(skill, shown, document)


def tools_document(skill: SkillMetadata) -> tuple[str, safe_yaml.Document] | None:
    """Return the tools' file and its content, or None when there is none, or it can't be read."""
    file = tools_file(skill)
    document = None if file == SKILL_FILE else _document(skill, file)
    return None if document is None else (file, document)


def tools_file(skill: SkillMetadata) -> str:
    """Return the tools' file that SKILL.md names, or SKILL.md when it names none."""
    block: Any = skill.metadata.get("dcc-mcp")
    reference = block.get("tools") if isinstance(block, dict) else None
    return str(reference or skill.metadata.get("dcc-mcp.tools") or SKILL_FILE)


def tool_entries(document: safe_yaml.Document) -> Iterator[tuple[safe_yaml.Path, dict[str, Any]]]:
    """Yield each entry of a tools' file that is a mapping, with its path in the document."""
    value = document.value
    key = _written(value, "tools")
    at: safe_yaml.Path = () if isinstance(value, list) else (key,)
    entries = value.get(key) if isinstance(value, dict) else value
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict):
            yield (*at, index), entry


def is_like(word: str, others: Iterable[str]) -> bool:
    """Return whether ``word`` is most likely a misspelling of one of the others."""
    return bool(get_close_matches(word, [*others], 1, _ALIKE))


def _of_front(document: safe_yaml.Document) -> Iterator[Odd]:
    front = document.value
    yield from _keys(SKILL_FILE, document, (), front, _FRONT)
    outer = _written(front, "metadata")
    metadata = front.get(outer) if isinstance(front, dict) else None
    yield from _keys(SKILL_FILE, document, (outer,), metadata, ("dcc-mcp",))
    inner = _written(metadata, "dcc-mcp")
    block = metadata.get(inner) if isinstance(metadata, dict) else None
    if not isinstance(block, dict):
        return
    at = (outer, inner)
    yield from _keys(SKILL_FILE, document, at, block, _BLOCK)
    for key, known in (("dcc", _DCCS), ("load", ("when-called",))):
        line = document.line(*at, key)
        yield from _one(SKILL_FILE, line, f"key '{key}':", block.get(key), known)


def _of_tools(skill: SkillMetadata, file: str, document: safe_yaml.Document) -> Iterator[Odd]:
    own = _own_tools(skill)
    yield from _keys(file, document, (), document.value, ("tools",))
    for at, entry in tool_entries(document):
        yield from _keys(file, document, at, entry, KNOWN_KEYS)
        for word in HINT_WORDS & entry.keys():
            line = document.line(*at, word)
            yield file, line, f"'{word}' counts only below 'annotations'; move it there"
        key = _written(entry, "annotations")
        yield from _keys(file, document, (*at, key), entry.get(key), {*HINT_WORDS, "title"})
        for key in ("required_capabilities", "required-capabilities", "requiredCapabilities"):
            needs = entry.get(key)
            for index, word in enumerate(needs if isinstance(needs, list) else ()):
                line = document.line(*at, key, index)
                yield from _one(file, line, "capability", word, VOCABULARY)
        for key in ("next-tools", "next_tools", "nextTools"):
            after = entry.get(key)
            if isinstance(after, dict):
                yield from _keys(file, document, (*at, key), after, _OUTCOMES)
                for outcome, names in after.items():
                    line = document.line(*at, key, outcome)
                    for name in names if isinstance(names, list) else ():
                        yield from _own_tool(file, line, name, own, skill.wire_name(""))


def _of_resources(skill: SkillMetadata) -> Iterator[Odd]:
    for file in skill.resources:
        yield from _of_resource_file(skill, file)


def _of_resource_file(skill: SkillMetadata, file: str) -> Iterator[Odd]:
    document = _document(skill, file)
    value = None if document is None else document.value
    entries = value.get("resources") if isinstance(value, dict) else None
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        assert document is not None
        at = ("resources", index)
        yield from _keys(file, document, at, entry, KEYS)
        if not isinstance(entry, dict):
            continue
        if not is_like("description", entry):
            message = f"resource '{entry.get('name')}' has no description; say what it contains"
            yield file, document.line(*at), message
        needs = entry.get("required_capabilities")
        for number, word in enumerate(needs if isinstance(needs, list) else ()):
            line = document.line(*at, "required_capabilities", number)
            yield from _one(file, line, "capability", word, VOCABULARY)


def _of_workflow(skill: SkillMetadata, file: str, document: safe_yaml.Document) -> Iterator[Odd]:
    own = _own_tools(skill)
    yield from _keys(file, document, (), document.value, _WORKFLOW)
    steps = document.value.get("steps") if isinstance(document.value, dict) else None
    for at, step in _steps(steps, ("steps",)):
        yield from _keys(file, document, at, step, _STEP)
        line = document.line(*at, "tool")
        yield from _own_tool(file, line, step.get("tool"), own, skill.wire_name(""))


def _steps(steps: Any, at: safe_yaml.Path) -> Iterator[tuple[safe_yaml.Path, dict[str, Any]]]:
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict):
            here = (*at, index)
            yield here, step
            for key in ("steps", "parallel", "then", "else"):
                yield from _steps(step.get(key), (*here, key))


def _own_tools(skill: SkillMetadata) -> set[str] | None:
    """Return the skill's tools as written, or None when they can't be read. An entry's own mistakes
    are reported elsewhere."""
    read = tools_document(skill)
    if read is None:
        return set() if tools_file(skill) == SKILL_FILE else None
    names = {str(entry.get("name")) for _, entry in tool_entries(read[1])}
    return {skill.wire_name(name) for name in (*names, *(tool.name for tool in skill.tools))}


def _own_tool(
    file: str, line: int, name: Any, own: Collection[str] | None, prefix: str
) -> Iterator[Odd]:
    if own is None or not isinstance(name, str) or name in own:
        return
    whole = prefix + name.replace("-", "_")
    if not name.startswith(prefix) and whole not in own:
        return
    meant = [whole] if whole in own else get_close_matches(name, own, 1)
    remedy = f"did you mean '{meant[0]}'?" if meant else "add it to the tools' file, or remove it"
    yield file, line, f"this skill has no tool '{name}'; {remedy}"


def _written(mapping: Any, key: str) -> str:
    """Return the key as it is written, perhaps misspelled, so that its content is checked too."""
    if not isinstance(mapping, Mapping) or key in mapping:
        return key
    words = [word for word in mapping if isinstance(word, str)]
    return next(iter(get_close_matches(key, words, 1, _ALIKE)), key)


def _keys(
    file: str, document: safe_yaml.Document, at: safe_yaml.Path, mapping: Any, known: Iterable[str]
) -> Iterator[Odd]:
    if isinstance(mapping, Mapping):
        for key in mapping:
            yield from _one(file, document.line(*at, key), "key", key, known)


def _one(file: str, line: int, what: str, word: Any, known: Iterable[str]) -> Iterator[Odd]:
    """Yield a finding if the word isn't known but resembles a known one."""
    if not isinstance(word, str) or word in known:
        return
    usual = _MEANT.get(word, "")
    meant = [usual] if usual in known else get_close_matches(word, [*known], 1, _ALIKE)
    if meant:
        yield file, line, f"{what} '{word}' isn't known; did you mean '{meant[0]}'?"


def _document(skill: SkillMetadata, file: str) -> safe_yaml.Document | None:
    try:
        return safe_yaml.load(read_text(skill.path, resolve_inside(skill.path, file)))
    except (FileProblem, safe_yaml.YamlError):
        return None
