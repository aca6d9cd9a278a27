"""The cost of a scene's size in Blender, compared with plain ``bpy``.

Each tool runs on scenes of 100 to 20,000 objects. Its time is shown next to the time that plain
``bpy`` takes for the same change.

    python benchmarks/scenes_blender.py [--objects 100 1000 5000 20000] [--cpu] [--best] [--json]

A tool is called as the server calls it: the arguments are checked, the result is read back, and
there is one undo step. A client makes the batch through a real server. Plain ``bpy`` makes the
change, updates the scene and pushes an undo step. Times are medians in milliseconds, or those of
the best round with ``--best``. ``--cpu`` counts the thread's busy time, for a machine that is doing
other work.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import bpy
from stopwatch import Row, in_turns, program, several, slices, timed

from callboard.app import Callboard
from callboard.guest.inbox import MainThreadInbox
from callboard_blender.host import BlenderHost
from callboard_testing.direct_calls import DirectCaller
from callboard_testing.fake_client import FakeClient

#: Number of objects below one group, and of calls in a batch.
GROUP = BATCH = 100
ROUNDS = 5


def make_scene(count: int) -> None:
    """Make groups of cubes that share a mesh. A tenth of the cubes are below ``Tree``."""
    bpy.ops.wm.read_homefile(use_empty=True)
    mesh = bpy.data.meshes.new("Shared")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    link = bpy.context.scene.collection.objects.link
    tree = group = bpy.data.objects.new("Tree", None)
    link(tree)
    for number in range(count):
        below_tree = number < count // 10
        if not below_tree and number % GROUP == 0:
            group = bpy.data.objects.new(f"G{number // GROUP}", None)
            link(group)
        obj = bpy.data.objects.new(f"P{number}", mesh)
        obj.location = (number % 100, number // 100, 0)
        obj.parent = tree if below_tree else group
        link(obj)
    bpy.context.view_layer.update()


class Plain:
    """The same changes with bpy alone. ``at`` returns an object that no tool changes."""

    def __init__(self, count: int) -> None:
        self.count = count

    def at(self, number: int) -> Any:
        return bpy.data.objects[f"P{self.count - 1 - number}"]

    def create(self, number: int) -> None:
        made = bpy.data.objects.new("Plain", bpy.data.meshes["Shared"])
        bpy.context.scene.collection.objects.link(made)

    def create_many(self, number: int) -> None:
        for _ in range(BATCH):
            self.create(number)

    def transform(self, number: int) -> None:
        self.at(number).location.x += 1

    def rename(self, number: int) -> None:
        self.at(number + 10).name = f"Plainly {number}"

    def color(self, number: int) -> None:
        material = bpy.data.materials.new("Plain")
        obj = self.at(number + 20)
        if not obj.material_slots:
            obj.data.materials.append(None)
        obj.material_slots[0].link = "OBJECT"
        obj.material_slots[0].material = material

    def parent(self, number: int) -> None:
        self.at(number + 30).parent = bpy.data.objects["Tree"]

    def duplicate(self, number: int) -> None:
        bpy.context.scene.collection.objects.link(self.at(number + 40).copy())

    def undo(self) -> None:
        bpy.ops.ed.undo()
        bpy.context.view_layer.update()

    def delete(self, number: int) -> None:
        bpy.data.objects.remove(self.at(number + 50))

    def select(self, number: int) -> None:
        bpy.ops.object.select_all(action="DESELECT")
        self.at(number).select_set(True)

    def keys(self, number: int) -> None:
        obj = self.at(number)
        for frame in range(1000):
            obj.location = (frame, 0, 0)
            obj.keyframe_insert("location", frame=frame)

    def delete_many(self, number: int) -> None:
        first, many = self.count * 3 // 4, min(200, self.count // 10)
        objects = bpy.data.objects
        bpy.data.batch_remove([objects[f"P{first + number}"] for number in range(many)])

    def duplicate_tree(self, number: int) -> None:
        link = bpy.context.scene.collection.objects.link
        for obj in bpy.data.objects["Tree"].children:
            copy = obj.copy()
            copy.data = obj.data.copy()
            link(copy)


def stepped(work: Callable[[int], object]) -> Callable[[int], None]:
    def step(number: int) -> None:
        work(number)
        bpy.context.view_layer.update()
        bpy.ops.ed.undo_push(message="plain")

    return step


def measured(count: int, folder: Path) -> Iterator[Row]:
    """Yield the work, its time, and the time that plain bpy takes for it."""
    make_scene(count)
    os.environ["CALLBOARD_HOME"] = str(folder)  # for the record of the server's calls
    inbox = MainThreadInbox()
    host = BlenderHost(inbox.post)
    call, plain = DirectCaller(host), Plain(count)
    many = [f"P{count // 2 + number}" for number in range(min(200, count // 10))]

    def tool(called: str, /, **arguments: Any) -> Any:
        return call(called, arguments)

    stepped(plain.transform)(0)
    tool("scene__transform", name="P0", translate=[0, 0, 0])
    yield "info", several(lambda _: tool("scene__scene_info"), ROUNDS), None
    yield "list 100", several(lambda _: tool("scene__list_objects"), ROUNDS), None
    last = max(0, count - 100)
    yield (
        "list the last 100",
        several(lambda _: tool("scene__list_objects", offset=last), ROUNDS),
        None,
    )
    yield "get", several(lambda _: tool("scene__get_object", name=f"P{count // 2}"), ROUNDS), None
    whole, longest = slices(call, "scene__list_objects", {"type": "camera"})
    yield "list by type", whole, None
    yield "its longest slice", longest, None
    changes: dict[str, tuple[Callable[[int], object], Callable[[int], object]]] = {
        "transform": (
            lambda n: tool("scene__transform", name=f"P{n}", translate=[1, 2, n]),
            plain.transform,
        ),
        "rename": (
            lambda n: tool("scene__rename", name=f"P{n + 10}", new_name=f"R{n}"),
            plain.rename,
        ),
        "select": (lambda n: tool("scene__select", name=f"P{n}"), plain.select),
        "1,000 keys": (
            lambda n: tool(
                "animation__set_keys",
                name=f"P{n}",
                keys=[{"frame": frame, "translate": [frame, 0, 0]} for frame in range(1000)],
            ),
            plain.keys,
        ),
        "colour": (
            lambda n: tool("scene__set_material_color", name=f"P{n + 20}", color=[1, 0, 0]),
            plain.color,
        ),
        "parent": (
            lambda n: tool("scene__set_parent", name=f"P{count // 2 - n}", parent="Tree"),
            plain.parent,
        ),
        "create": (lambda n: tool("scene__create_primitive", kind="cube"), plain.create),
        "duplicate": (lambda n: tool("scene__duplicate", name=f"P{n + 30}"), plain.duplicate),
        "delete": (lambda n: tool("scene__delete", name=f"P{n + 40}"), plain.delete),
    }
    rounds = 3 if count > 1000 else ROUNDS
    for what, (ours, theirs) in changes.items():
        yield what, *in_turns(ours, stepped(theirs), rounds)
    with _batches(host, inbox) as batch:
        yield f"create {BATCH} in a batch", *in_turns(batch, stepped(plain.create_many), rounds)
    delete = stepped(plain.delete)
    yield (
        "undo a delete",
        *in_turns(
            lambda _: host.undo.undo(call.undo_id or ""),
            lambda _: plain.undo(),
            rounds,
            lambda n: tool("scene__delete", name=f"P{count // 2 + n}"),
            lambda n: delete(rounds + n),
        ),
    )
    whole, longest = slices(call, "check__run", {})
    yield "check", whole, None
    yield "its longest slice", longest, None
    yield (
        f"delete {len(many)}",
        timed(lambda: tool("scene__delete", names=many)),
        timed(lambda: stepped(plain.delete_many)(0)),
    )
    yield (
        f"duplicate a tree of {count // 10}",
        timed(lambda: tool("scene__duplicate", name="Tree")),
        timed(lambda: stepped(plain.duplicate_tree)(0)),
    )
    yield "read 200 with looks and keys", several(_reading_200(call), ROUNDS), None
    yield "list 100 after changes", timed(lambda: tool("scene__list_objects")), None
    host.close()


@contextmanager
def _batches(host: BlenderHost, inbox: MainThreadInbox) -> Iterator[Callable[[int], object]]:
    """Yield a function that has a client make a batch of calls, which together are one undo
    step. The server runs on this thread."""
    app = Callboard(host)
    app.start()

    def batch(client: FakeClient) -> None:
        made = [{"kind": "cube", "translate": [number, 0, 0]} for number in range(BATCH)]
        calls = [{"tool": "scene__create_primitive", "arguments": each} for each in made]
        answer = client.call("batch__run", {"calls": calls})
        assert not answer["isError"], answer

    def on_this_thread(work: Callable[[], object]) -> None:
        def in_thread() -> None:
            try:
                work()
            finally:
                inbox.stop()

        thread = Thread(target=in_thread)
        thread.start()
        inbox.run()
        thread.join()

    client = FakeClient(app.url, app.token)
    on_this_thread(client.__enter__)
    try:
        yield lambda _: on_this_thread(lambda: batch(client))
    finally:
        app.stop()


def _reading_200(call: DirectCaller) -> Callable[[int], object]:
    """Return a function that reads 180 meshes, each with a material and two keys, and 20 lights in
    one call."""
    for number in range(180):
        obj = bpy.data.objects.new(f"Look{number}", bpy.data.meshes.new("Own"))
        obj.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
        obj.data.materials.append(bpy.data.materials.new("Look"))
        bpy.context.scene.collection.objects.link(obj)
        for frame in (1, 25):
            obj.keyframe_insert("location", frame=frame)
    for number in range(20):
        lamp = bpy.data.objects.new(f"Look{180 + number}", bpy.data.lights.new("Lamp", "AREA"))
        bpy.context.scene.collection.objects.link(lamp)
    asked = {"pattern": "Look*", "limit": 200, "details": True}
    return lambda _: call("scene__list_objects", asked)


if __name__ == "__main__":
    code = program(__doc__, "objects", "bpy", [100, 1000, 5000, 20_000], measured)
    sys.stdout.flush()
    # Blender's module sometimes hangs in its destructors.
    os._exit(code)
