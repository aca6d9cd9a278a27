"""The hosts that run without a graphical application, by the names with which users choose them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from importlib import import_module

from callboard.errors import HostError
from callboard.host_kit.system_libraries import missing_for_blender
from callboard.ports.host import Host

Post = Callable[[Callable[[], None]], None]


#: The package that each extra of pyproject.toml installs. Messages name these packages: callboard
#: itself isn't published, and anyone could take its name on a package index.
REQUIREMENTS = {
    "blender": "bpy>=4.5,<4.6",
    "debug": "debugpy>=1.8.8",
    "farm": "distributed>=2026.7,<2026.9",
    "otlp": "opentelemetry-exporter-otlp-proto-http>=1.30",
    "ui": "PySide6-Essentials>=6.5,!=6.12.0",
    "usd": "usd-core>=25.5",
}


def pip_install(extra: str) -> str:
    """Return the command that installs an extra's package into this Python.

    The `pip` on the path may belong to another interpreter, so the command names this one.
    """
    return f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(REQUIREMENTS[extra])}"


#: For each headless host: its module, the class or function that makes it, and the package or
#: program that it requires.
HOSTS = {
    "openusd": ("callboard_openusd.host", "OpenUsdHost", f"`{pip_install('usd')}`"),
    "blender": (
        "callboard_blender.host",
        "BlenderHost",
        f"`{pip_install('blender')}` on Python 3.11",
    ),
    "houdini": ("callboard_houdini.host", "HoudiniHost", "hython, Houdini's own Python"),
    "3dsmax": ("callboard_max.host", "MaxHost", "3dsmaxbatch, 3ds Max without a GUI"),
    "maya": ("callboard_maya.headless", "make_host", "mayapy, the Python that comes with Maya"),
}


def make_host(kind: str, post: Post) -> Host:
    """Return the headless host of that kind. Raises a HostError that says what to install."""
    module, name, needed = HOSTS[kind]
    try:
        return getattr(import_module(module), name)(post)  # type: ignore[no-any-return]
    except ImportError as error:
        installed = not isinstance(error, ModuleNotFoundError)
        if error.name == "bpy" and installed and (missing := missing_for_blender()) is not None:
            raise HostError(f"the host '{kind}' can't start: {missing}") from None
        raise HostError(f"the host '{kind}' needs {needed}: {error}") from None
