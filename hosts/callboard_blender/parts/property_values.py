"""Values of Blender's properties, and their conversion from and to JSON."""

from __future__ import annotations

import math
import re
from typing import Any

from callboard.errors import HostError
from callboard.host import MOST_ELEMENTS

_WORDS = {"BOOLEAN": "bool", "INT": "int", "FLOAT": "float", "STRING": "string", "ENUM": "enum"}
#: Subtypes of properties that name files, or are secret.
FILES = {"FILE_PATH", "DIR_PATH", "FILE_NAME", "BYTE_STRING", "PASSWORD"}
#: Parts of the names of settings that decide into how many parts something is divided.
_SIZES = ("resolution", "voxel_size")
#: The limit for integers in a custom property.
_WHOLE = 2**31


def type_of(owner: Any, key: str, rna: Any) -> tuple[str, Any]:
    """Return the type's name, such as ``float[3]`` for three numbers, and the value."""
    if rna is None:
        value = owner[key]
        value = value.to_list() if hasattr(value, "to_list") else value
        first = value[0] if isinstance(value, list) and value else value
        return f"custom {type(first).__name__}", value
    value = getattr(owner, key)
    word = _WORDS.get(rna.type, rna.type.lower())
    if rna.type == "ENUM":
        return word, sorted(value) if rna.is_enum_flag else value
    count = getattr(rna, "array_length", 0)
    return (f"{word}[{count}]" if count else word), value


def choices(owner: Any, key: str) -> list[str]:
    """Return the words that a choice can be set to now. Many choices depend on other settings, and
    Blender lists those only when it refuses a word."""
    rna = owner.bl_rna.properties[key]
    if rna.is_enum_flag:
        return [item.identifier for item in rna.enum_items]
    try:
        setattr(owner, key, "")
    except TypeError as error:
        return re.findall("'([^']*)'", str(error).partition("not found in")[2])
    except AttributeError:  # It is read-only.
        pass
    return []


def plain(value: Any) -> Any:
    """Return the value as JSON, with None for numbers that aren't finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [plain(value[at]) for at in range(min(len(value), MOST_ELEMENTS))]


def converted(value: Any, owner: Any, key: str, rna: Any, attribute: str) -> Any:
    """Return the value converted to the property's type. Raises HostError when the value isn't
    valid for that type."""
    if rna is None:
        return _custom(value, owner, key, attribute)
    several = bool(getattr(rna, "is_array", False))
    if rna.type == "ENUM":
        return _choice(value, owner, key, rna, attribute)
    if not several:
        return _one(value, rna, attribute)
    there = getattr(owner, key)
    if len(there) and hasattr(there[0], "__len__"):
        raise HostError(f"'{attribute}' is a matrix; use scene__transform to place objects")
    if not isinstance(value, list) or len(value) != len(there):
        raise HostError(f"'{attribute}' must be a list of {len(there)} values")
    return [_one(each, rna, attribute) for each in value]


def limits(rna: Any) -> tuple[float, float]:
    """Return the smallest and the largest number that a setting takes. A count of parts, or a size
    of parts, beyond its slider's range makes Blender run out of memory or hang."""
    if rna.type == "INT" or any(word in rna.identifier for word in _SIZES):
        return rna.soft_min, rna.soft_max
    return rna.hard_min, rna.hard_max


def _one(value: Any, rna: Any, attribute: str) -> Any:
    word = _WORDS.get(rna.type, "value")
    if rna.type == "BOOLEAN":
        right = isinstance(value, bool)
    elif rna.type == "STRING":
        longest = rna.length_max
        right = isinstance(value, str) and "\0" not in value
        if right and longest and len(value.encode()) >= longest:
            raise HostError(f"'{attribute}' can't be longer than {longest - 1} bytes")
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        right = False
    else:
        low, high = limits(rna)
        right = isinstance(value, int) if rna.type == "INT" else math.isfinite(value)
    if not right:
        raise HostError(f"'{attribute}' must be {word}, not {_shown(value)}")
    if rna.type in ("INT", "FLOAT") and not low <= value <= high:
        raise HostError(f"'{attribute}' must be from {low:g} to {high:g}, not {_shown(value)}")
    return value


def _choice(value: Any, owner: Any, key: str, rna: Any, attribute: str) -> Any:
    """Return the chosen word or words. Some properties compute their choices only when they are
    shown. For such properties, Blender itself rejects a wrong choice."""
    known = choices(owner, key)
    wanted = value if rna.is_enum_flag else [value]
    if not isinstance(wanted, list) or not all(isinstance(each, str) for each in wanted):
        raise HostError(
            f"'{attribute}' must be {'a list of words' if rna.is_enum_flag else 'a word'}"
        )
    if known and not set(wanted) <= set(known):
        raise HostError(f"'{attribute}' must be one of {', '.join(known[:40])}")
    return set(wanted) if rna.is_enum_flag else value


def _custom(value: Any, owner: Any, key: str, attribute: str) -> Any:
    parts = value if isinstance(value, list) else [value]
    kinds = {_kind(each, attribute) for each in parts}
    if kinds == {"int", "float"}:
        parts, kinds = [float(each) for each in parts], {"float"}
    if len(kinds) != 1:
        raise HostError(
            f"'{attribute}' is a custom property, so all values in a list must be of the same type"
        )
    if isinstance(value, list) and kinds & {"str"}:
        raise HostError(f"'{attribute}': Blender's custom properties can't hold a list of strings")
    made = parts if isinstance(value, list) else parts[0]
    if key not in owner:
        return made
    there = owner[key]
    there = there.to_list() if hasattr(there, "to_list") else there
    if isinstance(there, list) is not isinstance(made, list):
        raise HostError(
            f"'{attribute}' must be {'a list' if isinstance(there, list) else 'a single value'}"
        )
    before = _kind((there[0] if isinstance(there, list) and there else there), attribute)
    if before == "float" and kinds == {"int"}:
        return [float(each) for each in parts] if isinstance(value, list) else float(value)
    if kinds != {before}:
        raise HostError(f"'{attribute}' must be {before}, not {_shown(value)}")
    return made


def _kind(value: Any, attribute: str) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int) and -_WHOLE <= value < _WHOLE:
        return "int"
    if isinstance(value, (int, float)) and math.isfinite(value):
        return "float"
    if isinstance(value, str) and "\0" not in value:
        return "str"
    raise HostError(
        f"'{attribute}' can't hold {_shown(value)}; give true or false, a number or a string"
    )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"
