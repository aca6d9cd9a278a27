"""Presents the chosen variant of each set as an attribute ``variants:<set>``, with the set's name
in the file."""

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
    """Raise HostError if an attribute that the prim doesn't have is named like a set, so that no
    plain attribute is made."""
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
        raise HostError(f"'{attribute}' must be one of {', '.join(offered) or 'no variants'}")
    variants.SetVariantSelection(str(value))
