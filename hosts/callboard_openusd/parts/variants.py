"""Which variant of a set is chosen, told as an attribute ``variants:<set>``, as it is called in the
file."""

from __future__ import annotations

from pxr import Usd

from callboard.errors import HostError
from callboard.host import Json

_PREFIX = "variants:"


def names(prim: Usd.Prim) -> list[str]:
    return [_PREFIX + name for name in prim.GetVariantSets().GetNames()]


def of_name(prim: Usd.Prim, attribute: str) -> Usd.VariantSet | None:
    """The set; None where that names none of the prim's."""
    known = attribute in names(prim)
    return prim.GetVariantSet(attribute.removeprefix(_PREFIX)) if known else None


def refuse_unknown(prim: Usd.Prim, attribute: str) -> None:
    """Raises HostError for a set that there isn't: nobody wants a plain attribute of that name."""
    if attribute.startswith(_PREFIX):
        there = ", ".join(names(prim)) or "no variant sets"
        raise HostError(f"'{prim.GetName()}' has no '{attribute}'; it has {there}")


def variant_json(variants: Usd.VariantSet) -> Json:
    """What an attribute tells of itself; ``value`` is None where none is chosen."""
    chosen, offered = variants.GetVariantSelection(), variants.GetVariantNames()
    return {"type": "variant", "value": chosen or None, "allowed": list(offered)}


def choose(variants: Usd.VariantSet, attribute: str, value: object) -> None:
    """Raises HostError for a variant that there isn't."""
    offered = variants.GetVariantNames()
    if value not in offered:
        raise HostError(f"'{attribute}' is one of {', '.join(offered) or 'no variants'}")
    variants.SetVariantSelection(str(value))
