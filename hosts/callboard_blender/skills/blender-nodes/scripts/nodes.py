"""The tools of the ``blender-nodes`` skill that change nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard.skill import expect, linear
from callboard_blender.parts.node_facts import value_json
from callboard_blender.parts.node_json import Flow, modifier_json, node_json, socket_json
from callboard_blender.parts.node_links import kept_values
from callboard_blender.parts.node_trees import (
    Tree,
    fits,
    fitting_nodes,
    interface_of,
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
                tree, node, _with_colors(inputs), _with_colors(properties), flags
            )
    changes.end()
    answer = _told([tree for tree, _ in own], [(t, n.name) for t, each in own for n in each])
    linked = sorted({tree.name for tree, _ in wanted} - {tree.name for tree, _ in own})
    answer |= {"skipped": linked[:_MOST]} if linked else {}
    return {**answer, "lost": lost[:_MOST]} if lost else answer


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
        changes.set_modifier(obj, each, _with_colors(inputs))
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


def add(
    ctx: Any,
    tree: str,
    nodes: Sequence[Mapping[str, Any]],
    links: Sequence[Mapping[str, str]] = (),
    kind: str | None = None,
) -> Json:
    ctx.port("scene.mutate")
    structure = ctx.port("structure")
    into = tree_named(tree, kind)
    made = []
    for each in nodes:
        node = structure.links.add(into, each["type"], each.get("name"))
        flags = {"label": each["label"]} if "label" in each else {}
        values = (_with_colors(each.get(key)) for key in ("inputs", "properties"))
        structure.nodes.set_node(into, node, *values, flags)
        made.append(node)
    replaced = [one for each in links for one in structure.links.link(into, each)[1]]
    structure.links.place(into, made)
    structure.nodes.end()
    flow = Flow(into.tree)
    answer = _told([into], [(into, each.name) for each in made])
    answer["nodes"] = [node_json(each, flow) for each in made]
    return {**answer, "replaced": replaced} if replaced else answer


def remove(
    ctx: Any, tree: str, nodes: Sequence[str], reconnect: bool = False, kind: str | None = None
) -> Json:
    ctx.port("scene.mutate")
    structure = ctx.port("structure")
    into = tree_named(tree, kind)
    gone, keys = structure.links.remove(into, nodes, reconnect)
    structure.nodes.end()
    left = {each.name for each in into.tree.nodes}.intersection(gone)
    expect(not left, "what is left", [], sorted(left))
    answer = {**_told([into], [(into, each) for each in gone]), "removed": gone[:_MOST]}
    return {**answer, "lost": [f"keys of {each}" for each in keys[:_MOST]]} if keys else answer


def link(ctx: Any, tree: str, links: Sequence[Mapping[str, str]], kind: str | None = None) -> Json:
    ctx.port("scene.mutate")
    structure = ctx.port("structure")
    into = tree_named(tree, kind)
    done, replaced = [], []
    for each in links:
        made, instead = structure.links.link(into, each)
        done.append(made)
        replaced += instead
    structure.nodes.end()
    flow = Flow(into.tree)
    why = {}
    for each in done:
        reason = flow.why_not(into.tree.nodes[each["from"]])
        why.update({each["from"]: reason} if reason else {})
    answer = {**_told([into], [(into, each["to"]) for each in done]), "links": done}
    answer |= {"replaced": replaced} if replaced else {}
    return {**answer, "without_effect": why} if why else answer


def unlink(
    ctx: Any, tree: str, links: Sequence[Mapping[str, str]], kind: str | None = None
) -> Json:
    ctx.port("scene.mutate")
    structure = ctx.port("structure")
    into = tree_named(tree, kind)
    gone = [one for each in links for one in structure.links.unlink(into, each)]
    structure.nodes.end()
    answer = _told([into], [(into, each["to"]) for each in gone])
    return {**answer, "removed": gone[:_MOST]}


def set_socket(
    ctx: Any,
    group: str,
    socket: str,
    direction: str = "input",
    type: str | None = None,
    everywhere: bool = False,
    **asked: Any,
) -> Json:
    ctx.port("scene.mutate")
    structure = ctx.port("structure")
    tree = tree_named(group, "node_groups")
    if type is None and not asked:
        raise WrongArgument("give at least one of type, new_name, default, min, max, description")
    if everywhere and ("default" not in asked or direction != "input"):
        raise WrongArgument("everywhere sets the default of an input, so give default")
    asked |= _with_colors({key: asked[key] for key in asked.keys() & {"default"}})
    there = structure.links.set_socket(tree, direction, socket, type, asked)
    name = asked.get("new_name", socket if type else there.name)
    answer: Json = {}
    if "default" in asked and direction == "input":
        if everywhere or type is not None:
            answer["set_in"] = structure.links.spread(tree, there, asked["default"])[:_MOST]
        kept = kept_values(tree, there, value_json(there.default_value))
        answer |= {"kept": kept[:_MOST]} if kept else {}
    structure.nodes.end()
    known = interface_of(tree.tree, direction)
    expect(name in known, "the name", name, list(known))
    entry = {"name": name, **socket_json(known[name])}
    head = {"changed": [tree.name], "socket": entry, "used_by": users_of([tree])}
    return {**head, **answer, "verified": True}


def remove_socket(ctx: Any, group: str, socket: str, direction: str = "input") -> Json:
    ctx.port("scene.mutate")
    structure = ctx.port("structure")
    tree = tree_named(group, "node_groups")
    lost = structure.links.remove_socket(tree, direction, socket)
    structure.nodes.end()
    known = interface_of(tree.tree, direction)
    expect(socket not in known, socket, "gone", "there")
    answer: Json = {"changed": [tree.name], "used_by": users_of([tree]), "verified": True}
    answer[f"{direction}s"] = list(known)
    return {**answer, "lost": lost[:_MOST]} if lost else answer


def _told(trees: Iterable[Tree], nodes: Iterable[tuple[Tree, str]]) -> Json:
    """Return the answer to a change: what changed, and who uses the changed trees."""
    changed = [f"{tree.name}: {name}" for tree, name in nodes]
    return {
        "changed": changed[:_MOST],
        "count": len(changed),
        "used_by": users_of(trees),
        "verified": True,
    }


def _with_colors(values: Mapping[str, Any] | None) -> Json:
    """Return the values with colors such as ``#ff8000`` as linear numbers."""
    return {
        key: linear(each) if isinstance(each, str) and _HEX.fullmatch(each) else each
        for key, each in (values or {}).items()
    }
