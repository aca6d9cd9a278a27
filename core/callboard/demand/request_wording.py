"""Recognizes different wordings of the same request.

Words may appear in any order, tense and number. Filler words don't count, and neither do verbs that
only say that something is made, such as *export* or *create*: what is made says enough. Verbs that
say something else, such as *import* or *delete*, do count.
"""

from __future__ import annotations

import re
from itertools import pairwise

from callboard.ground.ranking import stem

_WORD = re.compile(r"[^\W_][\w.+/-]*")
_ARROW = re.compile(r"\s*(?:-+|=+)>\s*|\s*[→⇒]\s*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words that say nothing about the request.
_FILLER = _words(
    "a able ability add allow also an and any anyone are as at be been being but by can capability "
    "convert could create directly do doing done does export feature file for function "
    "functionality generate get give has have help how i if is it its just let like make me "
    "missing my need no-one of one option or our output perform please possible possibility "
    "produce run should so some somehow someone support that the their them there these they this "
    "through tool us use user using via want was way we when which will wish with would you your "
    "from in into on onto to"
)
_EMPTY = frozenset({*_FILLER, *(stem(word) for word in _FILLER)})
#: Short forms that people who work in 3D use, and the word that each stands for.
_SHORT = {
    "anim": "animation",
    "anims": "animation",
    "geo": "geometry",
    "img": "image",
    "mat": "material",
    "mats": "material",
    "sim": "simulation",
    "sims": "simulation",
    "tex": "texture",
}
#: Formats of files. A conversion between two of them has a direction, which counts.
_FORMATS = _words(
    "abc alembic blend csv dae dxf exr fbx gif glb gltf hdr hip iges jpeg jpg json ma max mb mov "
    "mp4 obj pdf ply png step stl svg tif tiff usd usda usdc usdz vdb xml"
)
#: Kinds of data that are made from each other, with a direction too.
_KINDS = {stem(kind): kind for kind in _words("curve image mesh nurbs points text volume")}
_FORWARD = frozenset({"to", "into", "as"})


def plain(text: str) -> str:
    """Return the wording without case, punctuation and extra spaces, or an empty string if there
    are no words."""
    return re.sub(r"[^\w.+/-]+", " ", text.casefold()).strip(" .")


def key_of(text: str) -> str:
    """Return the sorted stems of the words that count, the same for all wordings of one request. If
    no word counts, they all do."""
    written = plain(_ARROW.sub(" to ", text))
    words = [word.strip(".-/+") for word in _WORD.findall(written)]
    words = [_SHORT.get(word, word) for word in words if word]
    meant = {_stem(word) for word in words} - _EMPTY
    if "into" in words:
        meant.discard(stem("turn"))  # Turning one thing into another means making the other.
    stems = meant or {_stem(word) for word in words}
    return " ".join(sorted(stems | _directions(words))) or written


def _stem(word: str) -> str:
    """Return a word's stem. Words that aren't plain letters, such as ``scene.mutate``, and names of
    formats stay as they are."""
    plain_letters = word.isascii() and word.isalpha()
    return stem(word) if plain_letters and word not in _FORMATS else word


def _directions(words: list[str]) -> set[str]:
    """Return ``obj>fbx`` for words such as *from OBJ to FBX* or *FBX from an OBJ*."""
    words = [_KINDS.get(_stem(word), word) for word in words]
    named = [at for at, word in enumerate(words) if word in _FORMATS or word in _KINDS.values()]
    directions = set()
    for one, other in pairwise(named):
        between = set(words[one + 1 : other])
        if between & _FORWARD:
            directions.add(f"{words[one]}>{words[other]}")
        elif "from" in between:
            directions.add(f"{words[other]}>{words[one]}")
    return directions
