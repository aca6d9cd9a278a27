"""Copies specs as ``Sdf.CopySpec`` does, but also in binary layers, where OpenUSD's function
fails on targets."""

from __future__ import annotations

from pxr import Sdf, Tf

from callboard.errors import HostError


def copy_spec(source: Sdf.Layer, path: Sdf.Path, layer: Sdf.Layer, target: Sdf.Path) -> None:
    """Copy the spec at ``path`` in ``source`` to ``target`` in ``layer``. Raises HostError if
    OpenUSD can't copy it."""
    try:
        done = Sdf.CopySpec(source, path, layer, target)
    except Tf.ErrorException:
        # A binary layer lists the targets of relationships and connections, and reports specs for
        # them, but doesn't have these specs.
        done = Sdf.CopySpec(source, path, layer, target, _any, _not_targets)
    if not done:
        raise HostError(f"'{path.name}' could not be copied")


def _any(*_: object) -> bool:
    return True


def _not_targets(field: str, *_: object) -> bool:
    return field not in ("targetChildren", "connectionChildren")
