"""The operators that add and remove the artist's roots, with Blender's own file browser."""

from __future__ import annotations

from typing import Any

import bpy

from callboard.errors import CallboardError
from callboard.panel.project_settings import Root, parse_root
from callboard_blender.application.kept_roots import own_roots
from callboard_blender.server import residence


class CALLBOARD_OT_add_folder(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.add_folder"
    bl_label = "Add folder…"
    bl_description = (
        "Let clients work in a folder whenever this project is open; the first is the workspace"
    )

    directory: bpy.props.StringProperty(subtype="DIR_PATH")  # type: ignore[valid-type]
    filter_folder: bpy.props.BoolProperty(default=True)  # type: ignore[valid-type]

    def invoke(self, context: Any, event: Any) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        try:
            root = parse_root(bpy.path.abspath(self.directory))
        except CallboardError as wrong:
            self.report({"ERROR"}, wrong.message)
            return {"CANCELLED"}
        there = own_roots(residence.snapshot)
        _keep(self, [*(one for one in there if one.path != root.path), root])
        return {"FINISHED"}


class CALLBOARD_OT_remove_folder(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.remove_folder"
    bl_label = "Remove this root"
    bl_description = "Remove this folder from the roots; it stays on the disk"

    uri: bpy.props.StringProperty()  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        _keep(self, [one for one in own_roots(residence.snapshot) if one.uri != self.uri])
        return {"FINISHED"}


CLASSES = (CALLBOARD_OT_add_folder, CALLBOARD_OT_remove_folder)


def _keep(operator: bpy.types.Operator, roots: list[Root]) -> None:
    if residence.roots is not None:
        problem = residence.roots.keep(roots, residence.snapshot)
        if problem:
            operator.report({"WARNING"}, problem)
