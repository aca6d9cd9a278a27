"""The optional parameter in which an agent says why it calls a tool, and what was missing.

The parameter is used only if ``capture_intent`` is on. It is added to the schemas that clients see
and removed before the tool runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from callboard.demand.mcpeye_strings import INTENT_PARAM_DESCRIPTION, INTENT_PARAM_NAME

PARAM_NAME = INTENT_PARAM_NAME
PARAM_DESCRIPTION = INTENT_PARAM_DESCRIPTION


def add_intent(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a tool's input schema that also accepts the intent. A property with that
    name that the tool itself declared stays as it is. A schema of anything but an object also stays
    as it is."""
    changed = dict(schema)
    kind = changed.get("type")
    if kind != "object" and "properties" not in changed and (kind is not None or changed):
        return changed
    properties = dict(changed.get("properties") or {})
    properties.setdefault(PARAM_NAME, {"type": "string", "description": PARAM_DESCRIPTION})
    changed["properties"] = properties
    changed.setdefault("type", "object")
    return changed


def strip_intent(
    arguments: Mapping[str, Any], schema: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], str | None]:
    """Return the arguments without the intent, and the intent, which is None when it has no text.
    If the tool's own ``schema``, as declared, has a parameter with that name, the arguments stay as
    they are."""
    rest = dict(arguments)
    properties = (schema or {}).get("properties")
    if isinstance(properties, Mapping) and PARAM_NAME in properties:
        return rest, None
    intent = rest.pop(PARAM_NAME, None)
    if not isinstance(intent, str) or not intent.strip():
        return rest, None
    return rest, intent.strip()


_SUBJECT = r"(?P<need>[^.;:!?\n]{3,160}?)"
_END = r"(?=\s*(?:[.;:!?\n]|,? (?:but|so|and|because|since|which|therefore|hence)\b|,|$))"
#: The phrases that agents use, most reliable first: only the first phrase that matches a sentence
#: counts.
_PHRASES = (
    rf"\b(?:want(?:ed|s)?|need(?:ed|s)?|tried|wish(?:ed|es)?|asked|hop(?:ed|es)) to {_SUBJECT}"
    r",? (?:but|yet|however)\b[^.;\n]*?"
    r"\b(?:no|not|n't|cannot|none|lacks?|missing|without|unable)\b",
    rf"\b(?:can(?:no|')t|can not|could(?: not|n't)|unable to|not able to) {_SUBJECT}{_END}",
    rf"\bno (?:\w+ ){{0,2}}?(?:tool|way|option|support|capability|function|method)s? "
    rf"(?:exists? |available )?(?:to|for|that can|which can|of) {_SUBJECT}{_END}",
    rf"\bno {_SUBJECT} (?:tool|option|capability|function|feature|support)s? "
    r"(?:exists?|is|are|was|were|available|here)\b",
    rf"\b(?:missing|lacks?|lacking)(?: an?| the)?(?: capability| tool| way| ability)?"
    rf"(?: to| for| of)?:? {_SUBJECT}{_END}",
)
_FILLER = r"(?i)^(?:(?:find (?:a|any) (?:way|tool|option) to|be able to|a|an|the|to|any)\s+)+"


def missing_capabilities(intent: str) -> list[str]:
    """Return the things that an intent reports as impossible, in the intent's own wording. The list
    is empty if the intent reports nothing. The list is a guess based on phrases, so mark it as
    inferred wherever it is shown."""
    needs: list[str] = []
    for sentence in re.split(r"(?<=[.!?;])\s+|\n+", intent[:4096]):
        for phrase in _PHRASES:
            match = re.search(phrase, sentence, re.I)
            if match is None:
                continue
            need = re.sub(_FILLER, "", match["need"].strip(" ,'\"`"))
            if len(need) > 2 and need.lower() not in {known.lower() for known in needs}:
                needs.append(need)
            break
    return needs
