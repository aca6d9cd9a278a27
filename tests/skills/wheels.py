"""Makes wheels that pip can install."""

from __future__ import annotations

import zipfile
from pathlib import Path


def make_wheel(folder: Path, package: str, version: str, text: str) -> None:
    """Make a wheel. Its one module has the package's name with underscores, and contains
    ``text``."""
    name = package.replace("-", "_")
    about = f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", text)
        head = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        wheel.writestr(f"{about}/METADATA", head)
        tag = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{about}/WHEEL", tag)
        wheel.writestr(f"{about}/RECORD", "")
