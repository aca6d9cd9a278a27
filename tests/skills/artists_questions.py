"""Questions of artists in their own words, each with what a right answer names: a tool, or a part
of Blender. Written before the recipes."""

from __future__ import annotations

QUESTIONS: dict[str, tuple[str, ...]] = {
    # Those that were asked of other servers.
    "How do I bake a normal map?": ("object.bake",),
    "shade smooth by angle": ("shade", "shade_auto_smooth", "shade_smooth_by_angle"),
    "My mesh is not deformed by its armature": ("ARMATURE", "parent_set", "vertex_groups"),
    "How can I export this to FBX?": ("exchange__export",),
    "add a constraint so that it follows another object": ("constraint",),
    "scatter rocks over the terrain": ("scene__duplicate", "distribute", "particle"),
    "the colours look washed out, where is color management": ("view_transform",),
    "find missing files": ("file__references",),
    "bind a character to a skeleton": ("parent_set", "ARMATURE"),
    "What uses this material?": ("scene__find",),
    # New ones.
    "make it look smooth without adding more polygons": ("geometry__shade",),
    "why is my texture pink": ("file__references",),
    "some faces are black or inside out": ("geometry__normals",),
    "lower the polygon count of a heavy mesh": ("decimate",),
    "round the edges of a box": ("bevel",),
    "I only modelled half of the character, how do I mirror it": ("mirror",),
    "why can't I see my object": ("scene__get_object",),
    "which object has the most polygons": ("scene__find",),
    "how do I make glass": ("materials__create", "transmission"),
    "light a product like in a photo studio": ("lights__three_point",),
    "use an HDRI as the sky": ("lights__set_environment",),
    "point the camera at the character": ("cameras__look_at",),
    "render a turntable of my model": ("render__turntable",),
    "animate a bouncing ball": ("animation__set_keys",),
    "the object's scale is wrong after export, apply it": ("geometry__apply_scale",),
    "unwrap the UVs": ("geometry__unwrap",),
    "cut a hole in a wall for a window": ("boolean",),
    "join several meshes into one": ("geometry__merge", "object.join"),
    "rename everything with a prefix": ("scene__rename",),
    "hide everything but the hero": ("structure__set_visibility",),
    "get back yesterday's version of my scene": ("file__history",),
    "make a pipe along a curve": ("geometry__create_curve",),
    "my render is noisy": ("samples", "denois"),
    "how do I give an object a custom property": ("attributes__set",),
    "put text on a sign": ("geometry__create_text",),
    "is the model ready for a game engine": ("check__run",),
    "switch from centimetres to metres": ("unit", "metersPerUnit"),
    "replace a picture on a material": ("materials__set_texture",),
    "several copies in a row": ("array", "scene__duplicate"),
    "undo what you just did": ("scene__undo",),
}
