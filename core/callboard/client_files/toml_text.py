"""Changes one table of a TOML text. Everything else in the text stays as it is."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

_BOM = "\ufeff"


def parsed(text: str) -> Any:
    """Parse the text and return its value. Raises ValueError."""
    try:
        library = import_module("tomllib" if sys.version_info >= (3, 11) else "tomlkit")
        return library.loads(text.removeprefix(_BOM))
    except ImportError:
        raise ValueError("reading it needs Python 3.11 or tomlkit") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except Exception as error:
        # Not all of tomlkit's errors are ValueErrors.
        raise ValueError(str(error)) from None


def with_entry(text: str, key: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with the table ``[key.name]``: in place of the existing table, or at the
    end."""
    lines = [f"[{key}.{name}]", *(f"{word} = {_value(value)}" for word, value in entry.items())]
    end = "\r\n" if "\r\n" in text else "\n"
    table = end.join([*lines, ""])
    if there := _span(text, key, name):
        return text[: there[0]] + table + text[there[1] :]
    gap = "" if not text.strip() else end if text.endswith("\n") else end * 2
    return text + gap + table


def rewritten(text: str, key: str, name: str, entry: Mapping[str, Any] | None) -> str:
    """Return the text with the table, or without it if ``entry`` is None, even if it was written in
    braces or with dotted names. Needs tomlkit, which applications don't include. This may lose
    comments in a table that has lines of its own, so this is tried last. Raises tomlkit's
    exceptions."""
    document = import_module("tomlkit").parse(text.removeprefix(_BOM))
    servers = document[key]
    if entry is None:
        del servers[name]
    elif name in servers:
        # The table is changed in place, so that a comment after it stays.
        for word in set(servers[name]) - set(entry):
            del servers[name][word]
        servers[name].update(entry)
    else:
        servers[name] = dict(entry)
    return _BOM * text.startswith(_BOM) + str(document.as_string())


def without_entry(text: str, key: str, name: str) -> str:
    """Return the text without the table ``[key.name]``."""
    there = _span(text, key, name)
    if there is None:
        return text
    head = text[: there[0]]
    # The empty line above the table was added together with it.
    return re.sub(r"(?<=\n)\r?\n\Z", "", head) + text[there[1] :]


def _span(text: str, key: str, name: str) -> tuple[int, int] | None:
    """Return where the lines of the table and of its inner tables begin and end."""
    quote = "[\"']?"
    named = rf"[ \t]*\[[ \t]*{quote}{key}{quote}[ \t]*\.[ \t]*{quote}{name}{quote}[ \t]*[.\]]"
    header = re.compile(rf"^{named}", re.MULTILINE).search(text)
    if header is None:
        return None
    end = at = header.start()
    inside = True
    for line in text[at:].splitlines(keepends=True):
        if re.match(r"[ \t]*\[", line):
            inside = re.match(named, line) is not None
        if not inside:
            break
        at += len(line)
        # Comments and empty lines after its last line belong to the next table.
        if line.strip() and not line.lstrip().startswith("#"):
            end = at
    return header.start(), end


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(name)} = {_value(each)}" for name, each in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    # Strings, numbers, true and false are written as in JSON.
    return json.dumps(value, ensure_ascii=False)
