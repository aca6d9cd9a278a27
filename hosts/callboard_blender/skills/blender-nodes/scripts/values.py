"""The tools of the ``blender-nodes`` skill that set values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard.skill import linear
from callboard_blender.parts.node_json import modifier_json
from callboard_blender.parts.node_trees import (
    Tree,
    fits,
    fitting_nodes,
    listed,
    modifiers_with,
    refuse_foreign,
    require_used,
    tree_named,
    trees_named,
    users_of,
)

_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
#: Maximum number of names in an answer.
_MOST = 200


def set(
    ctx: Any,
    trees: Sequence[str] | None = None,
    kind: str | None = None,
    nodes: Sequence[str] | None = None,
    type: str | None = None,
    uses: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    properties: Mapping[str, Any] | None = None,
    **flags: Any,
) -> Json:
    ctx.port("scene.mutate")
    changes = ctx.port("structure").nodes
    if not (inputs or properties or flags):
        raise WrongArgument("give at least one of inputs, properties, mute, label")
    if nodes is None and type is None and uses is None:
        raise WrongArgument("give at least one of nodes, type, uses, to say which nodes")
    if uses is not None:
        require_used(uses)
    searched, exact = trees_named(trees, kind)
    fitting = [(tree, [*fitting_nodes(tree, nodes, type, uses)]) for tree in searched]
    wanted = [(tree, each) for tree, each in fitting if each]
    if not wanted:
        there = {f"{each.name} ({each.bl_label})" for one in searched for each in one.tree.nodes}
        raise HostError(f"no node fits; the nodes there are: {listed(sorted(there))}")
    own = wanted if exact else [(tree, each) for tree, each in wanted if _is_own(tree)]
    for tree, _ in own or wanted:
        refuse_foreign(tree)
    lost: Any = []
    for tree, several in own:
        for node in several:
            lost += changes.set_node(
                tree, node, with_colors(inputs), with_colors(properties), flags
            )
    changes.end()
    answer = told([tree for tree, _ in own], [(t, n.name) for t, each in own for n in each])
    linked = sorted({tree.name for tree, _ in wanted} - {tree.name for tree, _ in own})
    answer |= {"skipped": linked[:_MOST]} if linked else {}
    return {**answer, "lost": lost[:_MOST]} if lost else answer


def told(trees: Iterable[Tree], nodes: Iterable[tuple[Tree, str]]) -> Json:
    """Return the answer to a change: what changed, and who uses the changed trees."""
    changed = [f"{tree.name}: {name}" for tree, name in nodes]
    return {
        "changed": changed[:_MOST],
        "count": len(changed),
        "used_by": users_of(trees),
        "verified": True,
    }


def with_colors(values: Mapping[str, Any] | None) -> Json:
    """Return the values with colors such as ``#ff8000`` as linear numbers."""
    return {
        key: linear(each) if isinstance(each, str) and _HEX.fullmatch(each) else each
        for key, each in (values or {}).items()
    }


def _is_own(tree: Tree) -> bool:
    return tree.library is None and tree.owner.override_library is None


def set_modifier(
    ctx: Any,
    inputs: Mapping[str, Any],
    objects: Sequence[str] | None = None,
    group: str | None = None,
    modifier: str | None = None,
) -> Json:
    ctx.port("scene.mutate")
    changes = ctx.port("structure").nodes
    if not inputs:
        raise WrongArgument("inputs names no input")
    if objects is None and group is None:
        raise WrongArgument("give objects, group, or both, to say which modifiers")
    if group is not None:
        require_used(group)
    everything = [*modifiers_with(None)]
    wanted = [
        (obj, each)
        for obj, each in everything
        if (objects is None or any(fits(obj, name) for name in objects))
        and (group is None or fits(each.node_group, group))
        and (modifier is None or fnmatchcase(each.name, modifier))
    ]
    if not wanted:
        there = sorted({f"{obj.name}: {e.name} ({e.node_group.name})" for obj, e in everything})
        raise HostError(
            "no modifier with geometry nodes fits. The modifiers, with their groups, are:"
            f" {listed(there)}"
        )
    twice = [obj.name for obj, _ in wanted]
    if group is None and modifier is None and len(twice) > len({*twice}):
        there = sorted({f"{e.name} ({e.node_group.name})" for _, e in wanted})
        raise HostError(f"an object has several such modifiers, so give modifier: {listed(there)}")
    for obj, each in wanted:
        changes.set_modifier(obj, each, with_colors(inputs))
    changes.end()
    return {
        "changed": [obj.name_full for obj, _ in wanted][:_MOST],
        "count": len(wanted),
        "modifiers": [modifier_json(obj, each) for obj, each in wanted[:20]],
        "verified": True,
    }


def replace_group(ctx: Any, group: str, by: str, trees: Sequence[str] | None = None) -> Json:
    ctx.port("scene.mutate")
    changes = ctx.port("structure").nodes
    old, new = (tree_named(each, "node_groups").tree for each in (group, by))
    searched, _ = trees_named(trees)
    done, lost = changes.replace_group(old, new, searched, with_modifiers=trees is None)
    changes.end()
    left = [
        f"{tree.name}: {node.name}"
        for tree in searched
        for node in tree.tree.nodes
        if getattr(node, "node_tree", None) == old
    ]
    left += [
        f"{obj.name}: {each.name}" for obj, each in modifiers_with(None) if each.node_group == old
    ]
    answer: Json = {
        "changed": done[:_MOST],
        "count": len(done),
        "verified": True,
        **({"left": left[:_MOST]} if left else {}),
    }
    return {**answer, "lost": lost[:_MOST]} if lost else answer
