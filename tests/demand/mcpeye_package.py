"""The published ``mcpeye`` package: its two modules of strings, loaded on their own, and our own
module that is generated from them.

``python tests/demand/mcpeye_package.py`` regenerates ``mcpeye_strings.py``, if ``mcpeye`` is
installed. The package's own ``__init__`` would import an HTTP and a validation stack, so it is
never run.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import textwrap
from pathlib import Path
from types import ModuleType

TARGET = Path(__file__).parents[2] / "core" / "callboard" / "demand" / "mcpeye_strings.py"
NAMES = {
    "request_capability": (
        "REQUEST_CAPABILITY_TOOL_NAME",
        "REQUEST_CAPABILITY_TOOL_DESCRIPTION",
        "REQUEST_CAPABILITY_CAPABILITY_DESCRIPTION",
        "REQUEST_CAPABILITY_CONTEXT_DESCRIPTION",
        "REQUEST_CAPABILITY_ACK",
    ),
    "intent": ("INTENT_PARAM_NAME", "INTENT_PARAM_DESCRIPTION"),
}


def load(name: str) -> ModuleType:
    """Return ``mcpeye/<name>.py`` as a module, without the package around it. Raises
    PackageNotFoundError."""
    path = importlib.metadata.distribution("mcpeye").locate_file(f"mcpeye/{name}.py")
    spec = importlib.util.spec_from_file_location(f"published_{name}", str(path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def generate() -> str:
    """Return the text of our module as the formatter writes it."""
    version = importlib.metadata.version("mcpeye")
    lines = [
        '"""The strings that every mcpeye SDK shares, byte for byte.',
        "",
        f"Generated from the published package (``mcpeye`` {version}, MIT) by",
        "``tests/demand/mcpeye_package.py``: don't edit.",
        '"""',
        "",
    ]
    for module, names in NAMES.items():
        published = load(module)
        for name in names:
            lines.append(_assignment(name, getattr(published, name)))
    return "\n".join(lines) + "\n"


def _assignment(name: str, value: str) -> str:
    literal = json.dumps(value, ensure_ascii=False)
    if len(name) + 3 + len(literal) <= 100:
        return f"{name} = {literal}"
    # Wrapping keeps every space, so that the joined pieces are the same string.
    pieces = textwrap.wrap(value, 88, drop_whitespace=False, break_on_hyphens=False)
    assert "".join(pieces) == value
    body = "\n".join(f"    {json.dumps(piece, ensure_ascii=False)}" for piece in pieces)
    return f"{name} = (\n{body}\n)"


if __name__ == "__main__":
    TARGET.write_text(generate(), encoding="utf-8")
