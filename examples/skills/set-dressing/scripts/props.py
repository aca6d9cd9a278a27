from math import cos, pi, sin

NO_FORM = {"type": "object", "properties": {}}


def place(ctx, name, position):
    editor = ctx.port("scene.mutate")
    path = editor.create("cube", f"prop_{name}", {"size": 1})
    return {"path": editor.set_transform(path, position, None, None)}


def ring(ctx, count, radius):
    placed = []
    for number in range(count):
        angle = 2 * pi * number / count
        position = [radius * cos(angle), 0, radius * sin(angle)]
        placed.append(place(ctx, f"ring_{number}", position)["path"])
        ctx.progress(number + 1, count, placed[-1])
        yield
    return {"placed": placed}


def clear(ctx):
    reader = ctx.port("scene.read")
    found = [path for path in reader.names() if path.rsplit("/", 1)[-1].startswith("prop_")]
    if not found:
        return {"deleted": []}
    if not ctx.elicit(f"Delete {len(found)} props?", NO_FORM).accepted:
        return {"deleted": []}
    return {"deleted": ctx.port("scene.mutate").delete(found)}
