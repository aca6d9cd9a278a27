"""The tools of the ``blender-nodes`` skill that read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import bpy

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import in_slices
from callboard_blender.parts.data_blocks import nested
from callboard_blender.parts.node_json import Flow, interface_json, modifier_json, node_json
from callboard_blender.parts.node_motion import moved
from callboard_blender.parts.node_trees import (
    Tree,
    fitting_nodes,
    modifiers_with,
    require_used,
    tree_named,
    trees,
    trees_named,
    users_of,
)


def list(
    ctx: Any, kind: str | None = None, pattern: str = "*", offset: int = 0, limit: int = 200
) -> Json:
    ctx.port("structure")
    fitting = [each for each in trees(kind) if fnmatchcase(each.name.lower(), pattern.lower())]
    page = fitting[offset : offset + limit]
    return {"trees": [_summary(each) for each in page], "total": len(fitting)}


def read(
    ctx: Any,
    tree: str,
    kind: str | None = None,
    type: str | None = None,
    nodes: Sequence[str] | None = None,
    offset: int = 0,
    limit: int = 50,
) -> Json:
    ctx.port("structure")
    wanted = tree_named(tree, kind)
    flow, set_by = Flow(wanted.tree), moved(wanted)
    fitting = [*fitting_nodes(wanted, nodes, type, None)]
    answer: Json = {
        **_head(wanted),
        "type": _type(wanted),
        "nodes": [
            {**node_json(each, flow), **set_by.get(each.name, {})}
            for each in fitting[offset : offset + limit]
        ],
        "total": len(fitting),
        "used_by": users_of([wanted]),
        "groups": sorted(each.name_full for each in nested(wanted.tree)),
    }
    if wanted.owner == wanted.tree:
        answer |= {f"{each}s": interface_json(wanted.tree, each) for each in ("input", "output")}
    return answer


def find(
    ctx: Any,
    uses: str | None = None,
    type: str | None = None,
    nodes: Sequence[str] | None = None,
    trees: Sequence[str] | None = None,
    kind: str | None = None,
    without_effect: bool = False,
    offset: int = 0,
    limit: int = 50,
) -> Generator[None, None, Json]:
    ctx.port("structure")
    if all(each is None for each in (uses, type, nodes, trees, kind)) and not without_effect:
        raise WrongArgument("give at least one of uses, type, nodes, trees, kind, without_effect")
    if uses is not None:
        require_used(uses)
    searched, _ = trees_named(trees, kind)
    page: Any = []
    concerned: dict[Tree, None] = {}
    total = 0

    def search() -> Generator[None, None, None]:
        nonlocal total
        for tree in searched:
            with suppress(ReferenceError):  # The tree may have been removed by now.
                for entry in _matches(tree, nodes, type, uses, without_effect):
                    if offset <= total < offset + limit:
                        page.append(entry())
                        concerned[tree] = None
                    total += 1
            yield

    yield from in_slices(search())
    users = bpy.data.user_map() if concerned else {}
    heads = [{**_head(tree), "used_by": users_of([tree], users)} for tree in concerned]
    answer: Json = {"nodes": page, "total": total, "trees": heads}
    using = [*modifiers_with(uses)] if uses and trees is None and kind is None else []
    answer["modifiers"] = [modifier_json(*each) for each in using[:limit]]
    return {**answer, "modifier_count": len(using)}


def _matches(
    tree: Tree,
    nodes: Sequence[str] | None,
    type: str | None,
    uses: str | None,
    without_effect: bool,
) -> Iterator[Callable[[], Json]]:
    """Yield a function for each node that fits, which describes it."""
    flow: Flow | None = None
    for node in fitting_nodes(tree, nodes, type, uses):
        flow = flow or Flow(tree.tree)
        if not without_effect or flow.why_not(node):
            yield partial(_entry, tree, node, flow)


def _entry(tree: Tree, node: Any, flow: Flow) -> Json:
    set_by = moved(tree).get(node.name, {})
    return {"tree": tree.name, "kind": tree.kind, **node_json(node, flow), **set_by}


def _summary(each: Tree) -> Json:
    inner = sorted(one.name_full for one in nested(each.tree))
    return {
        **_head(each),
        "type": _type(each),
        "nodes": len(each.tree.nodes),
        "users": each.owner.users,
        **({"groups": inner[:20]} if inner else {}),
    }


def _head(each: Tree) -> Json:
    entry: Json = {"name": each.name, "kind": each.kind}
    # From Blender 5.0, nodes can't be switched off.
    if bpy.app.version < (5, 0) and getattr(each.owner, "use_nodes", True) is False:
        entry["off"] = "its nodes are switched off (use_nodes)"
    elif each.kind != "scenes" and each.owner.users <= each.owner.use_fake_user:
        entry["off"] = "nothing uses it"
    return {**entry, "library": each.library.filepath} if each.library else entry


def _type(each: Tree) -> str:
    return str(each.tree.bl_idname.removesuffix("NodeTree").lower())
