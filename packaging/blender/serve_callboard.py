"""A site's start-up script for Blender: serves callboard to everybody from the site's folder.

It belongs in the site folder's ``blender/startup``. The site folder's file ``version`` names the
version of callboard that Blender uses when it starts. A Blender that is already running keeps the
version that it started with.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import addon_utils
import bpy

_NAME = "callboard_addon"


def register() -> None:
    site = Path(__file__).resolve().parents[2]
    try:
        version = (site / "version").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        print(
            f"callboard: not serving, because {site / 'version'} can't be read: {error}",
            flush=True,
        )
        return
    folder = site / "versions" / version / "blender"
    if not (folder / _NAME).is_dir():
        print(f"callboard: not serving, because {folder / _NAME} doesn't exist", flush=True)
        return
    os.environ.setdefault("CALLBOARD_SITE", str(site))
    # The site's copy must be found before the user's own copy of that name.
    sys.path.insert(0, str(folder))
    addon_utils.enable(_NAME)
    bpy.app.handlers.load_post.append(_again)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _again(*_: object) -> None:
    """Enable the add-on again: with an application template or factory settings, Blender disables
    every add-on, and enables only those that the user's preferences name."""
    if not addon_utils.check(_NAME)[1]:
        addon_utils.enable(_NAME)


def unregister() -> None:
    if _again in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(_again)
    addon_utils.disable(_NAME)
