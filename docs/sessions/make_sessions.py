"""Makes docs/what-it-can-do.md: each session except the one with the question is played with tools
alone against a Blender without a window and an OpenUSD stage, and written down as it went, with its
picture.

    python docs/sessions/make_sessions.py

Needs the extras ``blender`` and ``usd``, and Pillow. The text of the session with the question is
fixed, and its picture comes from docs/blender/make_pictures.py.
"""

from __future__ import annotations

import base64
import io
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from PIL import Image

PROJECT = Path(__file__).resolve().parents[2]
for source in ("core", "hosts", "tests"):
    sys.path.insert(0, str(PROJECT / source))

from callboard_testing.fake_client import FakeClient  # noqa: E402
from e2e.serving import Program, callboard, environment  # noqa: E402

HERE = Path(__file__).parent
PAGE = PROJECT / "docs" / "what-it-can-do.md"
BEGIN, END = "<!-- sessions -->", "<!-- end of sessions -->"
WIDE = {"width": 640, "height": 400}
SHEET = {"width": 640, "height": 426}
STRIP = {"width": 640, "height": 160}
#: Of a line of a transcript.
LONGEST = 150

#: Name, kind, widths, place of the middle, turned by, color, roughness.
Thing = tuple[str, str, list[float], list[float], list[float], str, float]
DESK: tuple[Thing, ...] = (
    ("Desk", "cube", [1.6, 0.9, 0.05], [0, 0, -0.025], [0, 0, 0], "#7a4b2a", 0.4),
    ("Wall", "cube", [5, 0.05, 2.4], [0, 0.6, 0.6], [0, 0, 0], "#51707f", 0.9),
    ("Atlas", "cube", [0.28, 0.2, 0.045], [-0.32, 0.02, 0.0225], [0, 0, 8], "#8c2f23", 0.6),
    ("Novel", "cube", [0.25, 0.18, 0.035], [-0.32, 0.02, 0.0625], [0, 0, -6], "#27466b", 0.6),
    ("Diary", "cube", [0.2, 0.15, 0.03], [-0.31, 0.02, 0.095], [0, 0, 14], "#c9a227", 0.6),
    ("Mug", "cylinder", [0.085, 0.085, 0.1], [0.02, -0.14, 0.05], [0, 0, 0], "#e6e2d8", 0.25),
    ("Foot", "cylinder", [0.18, 0.18, 0.02], [0.32, 0.1, 0.01], [0, 0, 0], "#20242a", 0.3),
    ("Pole", "cylinder", [0.02, 0.02, 0.4], [0.32, 0.1, 0.22], [0, 0, 0], "#20242a", 0.3),
    ("Shade", "cone", [0.26, 0.26, 0.16], [0.32, 0.1, 0.48], [0, 0, 0], "#d9c28a", 0.7),
    ("Apple", "sphere", [0.08, 0.08, 0.075], [0.2, -0.2, 0.0375], [0, 0, 0], "#a8201a", 0.35),
)
SET = """#usda 1.0
(
    defaultPrim = "Set"
    metersPerUnit = 0.01
    upAxis = "Y"
    subLayers = [@layout.usda@]
)

def Xform "Set"
{
    def Xform "Stool" (
        variants = { string finish = "oak" }
        prepend variantSets = "finish"
    )
    {
SHAPES
        variantSet "finish" = {
            "oak" {
                over "Seat" (prepend apiSchemas = ["MaterialBindingAPI"])
                {
                    rel material:binding = </Set/Looks/Oak>
                }
            }
            "blue" {
                over "Seat" (prepend apiSchemas = ["MaterialBindingAPI"])
                {
                    rel material:binding = </Set/Looks/Blue>
                }
            }
        }
    }

    def Scope "Looks"
    {
LOOKS
    }
}
"""
SHAPE = """        def Mesh "{name}" (prepend apiSchemas = ["MaterialBindingAPI"])
        {{
            uniform token subdivisionScheme = "none"
            point3f[] points = {points}
            int[] faceVertexCounts = {counts}
            int[] faceVertexIndices = {indices}
            {paint}
        }}
"""
WALNUT = "rel material:binding = </Set/Looks/Walnut>"
PAINT = """        def Material "{name}"
        {{
            token outputs:surface.connect = </Set/Looks/{name}/Surface.outputs:surface>

            def Shader "Surface"
            {{
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor = {color}
                float inputs:roughness = 0.5
                token outputs:surface
            }}
        }}
"""
PAINTS = {"Oak": (0.55, 0.33, 0.15), "Blue": (0.05, 0.16, 0.5), "Walnut": (0.16, 0.08, 0.04)}
LAYOUT = """#usda 1.0

over "Set"
{
    over "Stool"
    {
        double3 xformOp:translate = (40, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""
ASSETS = (
    ("ball", "sphere", "#a8201a"),
    ("cone", "cone", "#d98e1f"),
    ("crate", "cube", "#7a4b2a"),
    ("drum", "cylinder", "#2f6b4f"),
    ("ring", "torus", "#27466b"),
    ("tile", "plane", "#b8452c"),
)


class Session:
    """One session: what was asked for, the calls, the picture."""

    def __init__(self, title: str, request: str) -> None:
        self.title = title
        self.lines = [f"*“{request}”*", ""]
        self.name = title.lower().replace(" ", "-").replace(",", "")
        self.alt = ""
        self.images: list[Image.Image] = []

    def call(
        self, client: FakeClient, tool: str, asked: dict[str, Any], *show: str, why: str = ""
    ) -> dict[str, Any]:
        """Makes a call, and writes it down where ``why`` says what it is for, with these parts of
        its result. Raises SystemExit where it fails."""
        result = client.call(tool, asked)
        if result["isError"]:
            raise SystemExit(f"{self.title}: {tool}: {result['content'][0]['text']}")
        self.images += [
            Image.open(io.BytesIO(base64.b64decode(block["data"]))).convert("RGB")
            for block in result["content"]
            if block["type"] == "image"
        ]
        told: dict[str, Any] = result.get("structuredContent") or {}
        if why:
            self.note(f"{why} `{tool} {short(asked)}`")
            if parts := {name: told[name] for name in show if name in told}:
                self.lines[-1] += f" → `{short(parts)}`"
        return told

    def note(self, text: str) -> None:
        self.lines.append(f"- {text}")

    def keep(self, alt: str, *images: Image.Image, columns: int = 1) -> None:
        """The pictures, or the last that a call answered with, side by side in one."""
        shown = list(images or self.images[-1:])
        width = WIDE["width"] // columns
        tiles = [each.resize((width, each.height * width // each.width)) for each in shown]
        rows = math.ceil(len(tiles) / columns)
        whole = Image.new("RGB", (width * columns, tiles[0].height * rows))
        for number, tile in enumerate(tiles):
            whole.paste(tile, (number % columns * width, number // columns * tile.height))
        path = HERE / f"{self.name}.webp"
        whole.save(path, quality=86, method=6)
        print(path.name, path.stat().st_size, flush=True)
        self.alt = alt

    def text(self, number: int) -> str:
        picture = f"![{self.alt}](sessions/{self.name}.webp)"
        request, empty, *calls = self.lines
        return "\n".join(
            [f"## {number}. {self.title}", "", request, "", picture, empty, *calls, ""]
        )


def short(value: Any) -> str:
    """As JSON, floats as people write them, cut where it is long."""
    text = json.dumps(rounded(value), ensure_ascii=False).replace("`", "'")
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()}…"


def rounded(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value == int(value) else round(value, 3)
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


def made(things: Sequence[Thing]) -> list[dict[str, Any]]:
    """The calls that make them, for ``batch__run``."""
    calls: list[dict[str, Any]] = []
    for name, kind, wide, place, turned, color, rough in things:
        shape = {"kind": kind, "name": name, "dimensions": wide, "translate": place}
        calls.append({"tool": "scene__create_primitive", "arguments": {**shape, "rotate": turned}})
        look = {"name": f"{name} paint", "color": color, "roughness": rough, "objects": [name]}
        calls.append({"tool": "materials__create", "arguments": look})
    return calls


def empty(session: Session, client: FakeClient) -> None:
    session.call(client, "structure__new_scene", {"discard_changes": True})


def build(blender: FakeClient) -> Session:
    it = Session("Build a scene", "Put some books, a mug and a lamp on a desk, in the evening.")
    empty(it, blender)
    batch = {"calls": made(DESK), "brief": True}
    it.call(
        blender,
        "batch__run",
        batch,
        why="Ten objects, each with its own material, in one undo step:",
    )
    for name in ("Mug", "Apple"):
        it.call(blender, "geometry__shade", {"name": name, "smooth": True, "angle": 40})
    lamp = {"kind": "point", "name": "Bulb", "power": 7, "kelvin": 2700, "size": 0.12}
    lamp["translate"] = [0.32, 0.06, 0.34]
    it.call(blender, "lights__create", lamp, "verified", why="A warm bulb:")
    key = {"kind": "area", "name": "Window", "power": 70, "kelvin": 6500, "size": 1.5}
    key |= {"translate": [-1.6, -1.2, 1.4], "look_at": "Novel"}
    it.call(blender, "lights__create", key, "verified", why="Cool light from a window:")
    dim = {"color": "#4a5d7c", "strength": 0.5}
    it.call(
        blender, "lights__set_environment", dim, "verified", why="A little light from all around:"
    )
    it.call(blender, "cameras__create", {"name": "View", "lens": 50}, why="A camera:")
    seen = {"name": "View", "objects": ["Atlas", "Shade", "Mug"], "angle": "three_quarter"}
    it.call(blender, "cameras__frame", seen, "verified", why="The camera is aimed at the objects:")
    still = {"path": "desk.png", "width": 960, "height": 600}
    it.call(blender, "render__still", still, "engine", "samples", why="The picture:")
    it.keep("books, a mug, an apple and a lamp on a desk")
    return it


def look(blender: FakeClient) -> Session:
    it = Session("Look from four sides", "Show me the desk from all sides, without the wall.")
    hidden = {"objects": ["Wall"], "visible": False}
    it.call(blender, "structure__set_visibility", hidden, "verified", why="The wall is hidden:")
    asked = {"angles": ["front", "right", "top", "three_quarter"], "shading": "material", **SHEET}
    asked["frame"] = ["Desk", "Shade", "Mug"]
    parts = ("mean", "contrast", "empty", "dark", "bright")
    it.call(
        blender, "viewport__look", asked, *parts, why="Four views on one sheet, with measurements:"
    )
    it.keep("the desk from the front, the right, the top, and at an angle")
    it.call(blender, "scene__undo", {"steps": 1}, "undone", why="The wall comes back:")
    return it


def move(blender: FakeClient) -> Session:
    it = Session(
        "Move many things, then undo it all at once", "Arrange the twelve posts in a circle."
    )
    empty(it, blender)
    posts = [f"Post_{number:02}" for number in range(12)]
    row = [
        (name, "cylinder", [0.3, 0.3, 1.2], [number - 5.5, 0, 0.6], [0, 0, 0], "#c8742c", 0.5)
        for number, name in enumerate(posts)
    ]
    floor = ("Floor", "cube", [14, 10, 0.1], [0, 0, -0.05], [0, 0, 0], "#8d9aa3", 0.9)
    it.call(blender, "batch__run", {"calls": made([*row, floor]), "brief": True})
    seen = {"angles": ["three_quarter"], "shading": "material", **SHEET, "frame": posts}
    before = it.call(
        blender, "viewport__look", seen, "id", why="A picture of the row, to compare with later:"
    )["id"]
    circle = [
        {"tool": "scene__transform", "arguments": {"name": name, "translate": ring(number)}}
        for number, name in enumerate(posts)
    ]
    it.call(
        blender,
        "batch__run",
        {"calls": circle, "brief": True},
        why="Twelve moves in one undo step:",
    )
    asked = {**seen, "before": before}
    it.call(blender, "viewport__look", asked, "changed", why="Before, after, and the difference:")
    it.keep("twelve posts in a row, in a circle, and the difference")
    it.call(blender, "scene__undo", {"steps": 1}, "undone", why="One undo reverts all twelve:")
    post = {"name": "Post_00"}
    it.call(
        blender,
        "scene__get_object",
        post,
        "name",
        "translate",
        why="The first post is back in its place:",
    )
    return it


def ring(number: int) -> list[float]:
    angle = 2 * math.pi * number / 12
    return [round(3.5 * math.cos(angle), 3), round(3.5 * math.sin(angle), 3), 0.6]


def animate(blender: FakeClient) -> Session:
    it = Session("Animate, and see it as a strip", "Make the ball bounce twice in two seconds.")
    empty(it, blender)
    things: list[Thing] = [
        ("Ball", "sphere", [0.9, 0.9, 0.9], [-2, 0, 2], [0, 0, 0], "#c43a1e", 0.35),
        ("Ground", "cube", [5.4, 2, 0.1], [0, 0, -0.05], [0, 0, 0], "#7f9aa8", 0.9),
    ]
    it.call(blender, "batch__run", {"calls": made(things), "brief": True})
    it.call(blender, "geometry__shade", {"name": "Ball", "smooth": True})
    time = {"start": 1, "end": 48, "fps": 24}
    it.call(blender, "animation__set_timeline", time, "verified", why="A timeline of two seconds:")
    places = ((1, -2, 2), (12, -1, 0.45), (24, 0, 1.6), (36, 1, 0.45), (48, 2, 1.2))
    keys = [{"frame": frame, "translate": [x, 0, z]} for frame, x, z in places]
    asked = {"name": "Ball", "keys": keys}
    it.call(blender, "animation__set_keys", asked, "verified", why="Five keyframes:")
    strip = {"frames": [1, 12, 24, 36], "shading": "material", "angles": ["front"]}
    strip |= {"width": 1280, "height": 240, "frame": ["Ground", "Ball"]}
    it.call(blender, "viewport__look", strip, "frames", why="Four moments on one strip:")
    it.keep("a ball that falls and bounces, at four moments")
    return it


def bring_in(blender: FakeClient) -> Session:
    it = Session("Import a file in other units", "Import the stool. How high is its seat?")
    empty(it, blender)
    path = {"path": "workspace://set.usda"}
    parts = ("format", "meters_per_unit", "up_axis", "created_count", "without_uvs")
    told = it.call(
        blender, "exchange__import", path, *parts, why="The file is in centimeters, with Y up:"
    )
    seat = next(each for each in told["created"] if each.endswith("Seat"))
    asked = {"name": seat}
    parts = ("name", "translate", "bounds")
    found = it.call(
        blender,
        "scene__get_object",
        asked,
        *parts,
        why="The seat in the scene, in meters, with Z up:",
    )
    it.note(f"So the seat is {found['bounds']['max'][2]:.2f} m above the ground.")
    it.call(blender, "viewport__look", stool_look(), why="A picture of the result:")
    it.keep("a stool with an oak seat")
    return it


def stool_look() -> dict[str, Any]:
    return {"angles": ["three_quarter"], "shading": "material", **WIDE}


def check(blender: FakeClient) -> Session:
    it = Session("Find mistakes, and fix them", "Is anything wrong with this table? Fix it.")
    empty(it, blender)
    things: list[Thing] = [
        ("Top", "cube", [1.4, 0.8, 0.05], [0, 0, 0.725], [0, 0, 0], "#7a4b2a", 0.5),
        *(
            (f"Leg_{at}", "cube", [0.06, 0.06, 0.7], [x, y, 0.35], [0, 0, 0], "#54341c", 0.5)
            for at, (x, y) in enumerate(((-0.6, -0.3), (0.6, -0.3), (-0.6, 0.3), (0.6, 0.3)))
        ),
        ("Bowl", "cylinder", [0.3, 0.3, 0.1], [0, 0, 1.1], [0, 0, 0], "#2f6b4f", 0.4),
    ]
    it.call(blender, "batch__run", {"calls": made(things), "brief": True})
    it.call(blender, "geometry__normals", {"name": "Top", "side": "flip"})
    it.call(blender, "scene__duplicate", {"name": "Leg_0", "new_name": "Leg_5"})
    seen = {"angles": ["three_quarter"], "shading": "material", **SHEET}
    seen["frame"] = ["Top", "Leg_0", "Leg_1", "Leg_2"]
    before = it.call(blender, "viewport__look", seen)["id"]
    rules = ["inside_out", "floating", "doubles"]
    why = "A check for three kinds of mistakes:"
    found = it.call(blender, "check__run", {"rules": rules}, why=why)["findings"]
    for finding in found:
        it.note(f"`{finding['rule']}`, {finding['object']}: {finding['why']}")
        if finding["rule"] == "floating":
            down = {"name": "Bowl", "translate": [0, 0, 0.8]}
            it.call(
                blender,
                "scene__transform",
                down,
                "verified",
                why="The bowl is moved onto the table:",
            )
        elif fix := finding.get("fix"):
            it.call(
                blender,
                fix["tool"],
                fix["arguments"],
                "verified",
                why="The fix that the check suggests:",
            )
    it.call(blender, "check__run", {"rules": rules}, "findings", why="The same check again:")
    asked = {**seen, "before": before}
    it.call(blender, "viewport__look", asked, why="Before, after, and the difference:")
    it.keep("a bowl in the air above a table, the bowl on the table, and the difference")
    return it


def variants(usd: FakeClient, blender: FakeClient) -> Session:
    it = Session("Switch a USD variant", "Which finishes does the stool have? Make it blue.")
    path = {"path": "workspace://set.usda", "discard_changes": True}
    it.call(usd, "scene__open_file", path, why="The stage is opened:")
    stool = {"name": "/Set/Stool"}
    ask = {**stool, "attribute": "variants:finish"}
    shown = ("value", "allowed", "choices", "type")
    it.call(usd, "attributes__get", ask, *shown, why="The finishes that the stool has:")
    it.call(
        usd, "attributes__set", {**ask, "value": "blue"}, "verified", why="The blue one is chosen:"
    )
    it.call(
        usd,
        "scene__save_file",
        {"path": "workspace://blue.usda"},
        why="The stage is saved as a new file:",
    )
    for file in ("set.usda", "blue.usda"):
        empty(it, blender)
        it.call(blender, "exchange__import", {"path": f"workspace://{file}"})
        it.call(blender, "viewport__look", {**stool_look(), "width": 480, "height": 400})
    it.note(
        "OpenUSD's Python package draws nothing, so Blender imports both files for the picture."
    )
    it.keep("the stool in oak, and in blue", *it.images[-2:], columns=2)
    return it


def transfer(gateway: FakeClient, blender: FakeClient) -> Session:
    it = Session(
        "Copy from one application into another", "Put the stool from the USD stage at the desk."
    )
    empty(it, blender)
    desk: list[Thing] = [
        ("Desk", "cube", [1.2, 0.6, 0.04], [0.5, 0.7, 0.72], [0, 0, 0], "#7a4b2a", 0.4),
        ("Left", "cube", [0.05, 0.55, 0.7], [-0.05, 0.7, 0.35], [0, 0, 0], "#7a4b2a", 0.4),
        ("Right", "cube", [0.05, 0.55, 0.7], [1.05, 0.7, 0.35], [0, 0, 0], "#7a4b2a", 0.4),
    ]
    it.call(blender, "batch__run", {"calls": made(desk), "brief": True})
    listed = it.call(gateway, "instances__list", {}, why="The running applications:")["instances"]
    names = {each["host"]: each["name"] for each in listed}
    it.lines[-1] += f" → `{short(sorted(names.values()))}`"
    asked = {"from": names["openusd"], "to": names["blender"], "objects": ["/Set/Stool"]}
    parts = ("converted", "renamed", "lost", "added", "verified")
    it.call(
        gateway, "instances__transfer", asked, *parts, why="The copy, checked against the original:"
    )
    it.call(blender, "viewport__look", stool_look(), why="In Blender:")
    it.keep("the blue stool in front of a desk in Blender")
    return it


def question() -> Session:
    it = Session("Ask before code runs", "Use a script to place twelve cubes in a ring.")
    code = "import math ring = bpy.data.collections.new(…"
    it.note(f'The client calls `script__execute {{"code": "{code}"}}`. Nothing runs yet.')
    it.note(
        "callboard's icon in the header of Blender's 3D view turns red."
        " A click on it opens the question, with all of the code."
    )
    it.note(
        "The artist reads the code and chooses *Refuse*, *Allow once* or *For session*."
        " In the large panel, the code can also be allowed for the project."
    )
    it.note("If nobody answers within two minutes, the call is refused.")
    it.note(
        "The client in this picture is [a program](blender/make_pictures.py)"
        " that calls itself `claude-code`. It cancelled the call before anybody answered,"
        " so the code never ran."
    )
    shot = Image.open(PROJECT / "docs" / "blender" / "question.png").convert("RGB")
    it.keep("Blender's window with the question, and the code that would run", shot)
    return it


def thumbnails(blender: FakeClient, work: Path, env: dict[str, str]) -> Session:
    it = Session("Render thumbnails of a folder", "Make a thumbnail of each of our assets, please.")
    for name, kind, color in ASSETS:
        empty(it, blender)
        flat = [2.4, 2.4, 0.02] if kind == "plane" else [2, 2, 2]
        wide = [2, 2, 0.6] if kind == "torus" else flat
        place = [0, 0, wide[2] / 2]
        thing: Thing = (name, kind, wide, place, [0, 0, 0], color, 0.4)
        ground: Thing = ("Ground", "cube", [30, 30, 0.1], [0, 0, -0.05], [0, 0, 0], "#c9c6bf", 0.9)
        it.call(blender, "batch__run", {"calls": made([thing, ground]), "brief": True})
        it.call(blender, "lights__three_point", {"objects": [name], "brightness": 1.2})
        it.call(blender, "lights__set_environment", {"color": "#8c97a3", "strength": 0.6})
        it.call(blender, "cameras__create", {"name": "View", "lens": 50})
        seen = {"name": "View", "objects": [name], "angle": "three_quarter", "margin": 0.2}
        it.call(blender, "cameras__frame", seen)
        it.call(blender, "scene__save_file", {"path": f"workspace://assets/{name}.blend"})
    asked = {"path": "thumbs/{stem}.png", "width": 216, "height": 162}
    words = ["render__still", "--host", "blender", "--each", "assets/*.blend", "--root", "."]
    command = callboard("batch", *words, "--json", json.dumps(asked))
    done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    words[4] = f"'{words[4]}'"
    shown = f"callboard batch {' '.join(words[:5])} --json '{json.dumps(asked)}'"
    it.note(
        "One command and one Blender process for all six:"
        f" `{shown}` → `{done.stdout.splitlines()[-1]}`"
    )
    pictures = [Image.open(work / "thumbs" / f"{name}.png") for name, *_ in ASSETS]
    it.keep("six small pictures: a ball, a cone, a crate, …", *pictures, columns=3)
    return it


def cylinder(name: str, radius: float, heights: tuple[float, float], x: float, z: float) -> str:
    """A mesh in USD's words. Blender gives only imported meshes their materials."""
    turns = [2 * math.pi * side / 32 for side in range(32)]
    ring = [(x + radius * math.cos(turn), z - radius * math.sin(turn)) for turn in turns]
    points = [(round(at, 3), height, round(depth, 3)) for height in heights for at, depth in ring]
    sides = [(side, (side + 1) % 32, 32 + (side + 1) % 32, 32 + side) for side in range(32)]
    faces = [*sides, tuple(range(32))[::-1], tuple(range(32, 64))]
    counts = [len(face) for face in faces]
    indices = [corner for face in faces for corner in face]
    paint = "" if name == "Seat" else WALNUT  # a variant says the seat's
    return SHAPE.format(name=name, points=points, counts=counts, indices=indices, paint=paint)


def stage() -> str:
    """A stool in two finishes, in centimeters, Y up."""
    shapes = cylinder("Seat", 18, (44, 48), 0, 0)
    for number, (x, z) in enumerate(((-11, -11), (11, -11), (-11, 11), (11, 11)), 1):
        shapes += cylinder(f"Leg_{number}", 1.6, (0, 44), x, z)
    paints = "".join(PAINT.format(name=name, color=color) for name, color in PAINTS.items())
    return SET.replace("SHAPES\n", shapes).replace("LOOKS\n", paints)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        work = Path(folder) / "work"
        (work / "assets").mkdir(parents=True)
        (work / "thumbs").mkdir()
        (work / "set.usda").write_text(stage(), "utf-8")
        (work / "layout.usda").write_text(LAYOUT, "utf-8")
        env = environment(Path(folder) / "home")
        os.environ["CALLBOARD_HOME"] = env["CALLBOARD_HOME"]

        def start(*words: str) -> Program:
            return running.enter_context(Program(callboard(*words), env))

        gateway = start("gateway", "--port", "0")
        hosts = [
            start("serve", "--host", host, "--root", str(work)) for host in ("blender", "openusd")
        ]
        blender, usd, everything = (
            running.enter_context(FakeClient(each.url, each.token)) for each in (*hosts, gateway)
        )
        sessions: list[Callable[[], Session]] = [
            lambda: build(blender),
            lambda: look(blender),
            lambda: move(blender),
            lambda: animate(blender),
            lambda: check(blender),
            lambda: bring_in(blender),
            lambda: variants(usd, blender),
            lambda: transfer(everything, blender),
            question,
            lambda: thumbnails(blender, work, env),
        ]
        texts = [play().text(number) for number, play in enumerate(sessions, 1)]
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        generated = "\n".join(texts).replace(str(work), "/show")
        PAGE.write_text(f"{before}{BEGIN}\n\n{generated}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
