"""Recognizing different wordings of the same request."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_][\w.+/-]*")
#: Words that say nothing about the request.
_EMPTY = frozenset(
    {
        *("a", "an", "and", "any", "as", "be", "can", "could", "for", "from", "i", "in", "into"),
        *("is", "it", "me", "my", "need", "of", "on", "or", "our", "please", "some", "that"),
        *("the", "this", "to", "tool", "want", "we", "which", "with", "would", "you"),
        *("ability", "able", "way", "support"),
    }
)
_ENDINGS = ("ing", "ies", "ed", "es", "s")


def plain(text: str) -> str:
    """Return the wording without case, punctuation and extra spaces, or an empty string if there
    are no words."""
    return re.sub(r"[^\w.+/-]+", " ", text.casefold()).strip(" .")


def key_of(text: str) -> str:
    """Return the sorted stems of the words, the same for all wordings of one request."""
    written = plain(text)
    words = [word.strip(".-/+") for word in _WORD.findall(written)]
    stems = sorted({stem(word) for word in words if word and word not in _EMPTY})
    return " ".join(stems) or written


def stem(word: str) -> str:
    """Return the stem: the same for ``exporting``, ``exports`` and ``export``. Short words, and
    words that aren't plain letters, such as ``scene.mutate``, stay as they are."""
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    for ending in _ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and not (ending == "s" and rest.endswith("s")):
            word = f"{rest}y" if ending == "ies" else rest
            break
    if word.endswith(("tion", "sion")):
        word = word.removesuffix("ion")
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word
