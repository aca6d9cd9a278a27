"""Presents the chosen variant of each variant set as an attribute. The attribute's name is
``variants:`` followed by the set's name in the file."""

from __future__ import annotations

from pxr import Usd

from callboard.errors import HostError
from callboard.host import Json

_PREFIX = "variants:"


def names(prim: Usd.Prim) -> list[str]:
    return [_PREFIX + name for name in prim.GetVariantSets().GetNames()]


def of_name(prim: Usd.Prim, attribute: str) -> Usd.VariantSet | None:
    """Return the set, or None when the prim has no set with that name."""
    known = attribute in names(prim)
    return prim.GetVariantSet(attribute.removeprefix(_PREFIX)) if known else None


def refuse_unknown(prim: Usd.Prim, attribute: str) -> None:
    """Raise HostError if the attribute's name begins with ``variants:`` but the prim has no such
    variant set. Without this check, a plain attribute would be made."""
    if attribute.startswith(_PREFIX):
        there = ", ".join(names(prim)) or "no variant sets"
        raise HostError(f"'{prim.GetName()}' has no '{attribute}'; it has {there}")


def variant_json(variants: Usd.VariantSet) -> Json:
    """Return the attribute's description. ``value`` is None when no variant is chosen."""
    chosen, offered = variants.GetVariantSelection(), variants.GetVariantNames()
    return {"type": "variant", "value": chosen or None, "allowed": list(offered)}


def choose(variants: Usd.VariantSet, attribute: str, value: object) -> None:
    """Choose a variant. Raises HostError for an unknown one."""
    offered = variants.GetVariantNames()
    if value not in offered:
        raise HostError(
            f"'{attribute}' must be one of its variants: {', '.join(offered) or 'it has none'}"
        )
    variants.SetVariantSelection(str(value))
