import json
from pathlib import Path


def build(ctx, list, scene):
    props = json.loads(Path(list).read_text("utf-8"))
    editor = ctx.port("scene.mutate")
    # A host stays open between lists, so the last list's objects are still in the scene.
    if left := ctx.port("scene.read").names():
        editor.delete(left)
    for prop in props:
        path = editor.create("cube", prop["name"], {"size": 1})
        editor.set_transform(path, prop["position"], None, None)
    saved = ctx.port("filesystem.write").save(scene)
    return {"props": [prop["name"] for prop in props], "path": saved["path"]}
