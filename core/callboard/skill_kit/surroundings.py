"""Changes the scene's environment through the ``lights`` port, and checks the result. For bundled
skills, on the main thread."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.skill_kit.read_back import alike, expect


def surround(port: Any, values: Mapping[str, Any]) -> Json:
    """Set these values of the environment and return all its values. Colors are linear. Raises
    NotVerified."""
    port.set_environment(values)
    environment: Json = port.environment()
    for key, value in values.items():
        actual = environment[key]
        if key == "path":
            right = actual is not None and Path(actual).is_file() and Path(actual).samefile(value)
        elif key == "rotate":
            right = actual is not None and alike((actual - value + 180) % 360, 180.0)
        else:
            right = alike(value, actual)
        expect(right, f"the environment's {key}", value, actual)
    return environment
