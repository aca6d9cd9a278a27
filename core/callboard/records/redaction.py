"""Removes data that must never reach the disk: secrets, home folders, user names, long values.

It errs on the side of redacting too much, but leaves numbers and scene names alone, because a
record of a 3D application is useless without them.
"""

from __future__ import annotations

import getpass
import json
import os
import re
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from json.encoder import encode_basestring_ascii
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import quote

MAX_FIELD_BYTES = 32_768
MAX_DEPTH = 64
#: Limits for plain arguments: their number, and the length of each text.
PLAIN = 16
PLAIN_TEXT = 256
MAX_INT = 2**63
#: Maximum number of argument names that are remembered. There is a limit because clients choose the
#: names.
MAX_NAMES = 1024
SECRET = "[redacted]"
ADDRESS = "[redacted address]"
TOO_DEEP = "[too deep]"

_SECRET_WORDS = frozenset(
    (
        *("password", "passwd", "pwd", "passphrase", "passcode", "secret", "token", "credential"),
        *("credentials", "authorization", "cookie", "apikey", "bearer", "accesskey", "privatekey"),
        # Not ``tokens``, which are usually counts.
        *("passwords", "secrets", "cookies", "auth"),
    )
)
_KEY_KINDS = frozenset(
    ("api", "access", "private", "signing", "secret", "ssh", "encryption", "auth", "license")
)

_KEYS_IN_TEXT = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|"
    r"credentials?|authorization|auth|cookie)"
)
#: The separators of a path, including their spellings in URLs.
_SEP = r"(?:/|\\{1,4}|%(?:25)?2F|%(?:25)?5C)"
_SLASH = r"%(?:25)?2[Ff]"
#: The beginning of a path that isn't inside another path.
_START = r"(?:(?<![A-Za-z0-9_.~-])|(?<=%2[Ff])|(?<=%252[Ff]))"
#: Parameters that grant access in the query of a URL: signatures, and the values from which they
#: are made.
_SIGNS = (
    r"(?:x-(?:amz|goog|oss|cos)-(?:signature|credential|security-token)|sig|signature|sign|"
    r"key-pair-id|policy|awsaccesskeyid|googleaccessid|ossaccesskeyid|key|code|jwt|hash|hmac)"
)
_PLAIN_USERS = frozenset({"root", "admin", "administrator", "user", "users", "guest", "public"})

#: Text without any of these, in lower case, has nothing to redact. This is checked first, because
#: most calls are a name and some numbers, and each is redacted before its answer is sent.
_HINTS = (
    *("pass", "pwd", "secret", "token", "key", "credential", "auth", "cookie", "bearer"),
    *(
        "basic",
        "sk-",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "ghp-",
        "github_",
        "github-",
        "glpat",
        "hf_",
        "hf-",
        "npm",
        "pypi",
        "xox",
        "akia",
        "asia",
        "aiza",
    ),
    *("eyj", "@", "home", "users", "documents and", "documents%20and"),
    *(
        "sig=",
        "sig%",
        "sign=",
        "sign%",
        "signature",
        "policy",
        "code=",
        "code%",
        "jwt",
        "hash=",
        "hash%",
        "hmac",
    ),
)


class Redactor:
    """Removes secrets and names. ``home`` and ``user`` are those of this machine's user. Call it
    from any thread; it holds only compiled patterns and names of arguments."""

    def __init__(self, home: str | None = None, user: str | None = None) -> None:
        home = str(Path.home()) if home is None else home
        user = _login_name() if user is None else user
        # An escaped letter could be part of a name that must be redacted.
        hints = [*_HINTS, "\\u"]
        self._own: list[tuple[re.Pattern[str], str]] = []
        parts = [part for part in re.split(r"[\\/]+", home) if part]
        if parts:
            start = _START + (_SEP if home[:1] in "/\\" else "")
            pattern = start + _SEP.join(map(_spelt, parts)) + r"(?![A-Za-z0-9_.-])"
            self._own.append((re.compile(pattern, re.I if os.name == "nt" else 0), "~"))
            hints += [parts[-1].lower(), quote(parts[-1]).lower()]
        if len(user) > 1 and user.lower() not in _PLAIN_USERS:
            named = rf"((?:^|{_SEP})){_spelt(user)}(?={_SEP}|$)"
            self._own.append((re.compile(named, re.I), r"\1<user>"))
            hints += [user.lower(), quote(user).lower()]
        self._hint_words = hints
        #: Argument names that need no redaction, and their JSON with the colon.
        self._names: dict[str, str] = {}
        self._hidden: set[str] = set()

    def hide(self, secret: str) -> None:
        """Redact this string everywhere. This is meant for tokens, which have no recognizable form.
        Call it on the thread that records."""
        if secret in self._hidden:
            return
        self._hidden.add(secret)
        self._own.insert(0, (re.compile(_spelt(secret)), SECRET))
        self._hint_words += [secret.lower(), quote(secret).lower()]
        self.__dict__.pop("_hints", None)
        self._names.clear()

    @cached_property
    def _hints(self) -> re.Pattern[str]:
        # Compiled on first use, so that startup isn't delayed and can add this server's token.
        return re.compile("|".join(map(re.escape, self._hint_words)))

    def text(self, text: str) -> str:
        """Return ``text`` without secrets, addresses, home folders and the user's name in paths."""
        if self.is_clean(text):
            return text
        for pattern, replacement in _patterns():
            text = pattern.sub(replacement, text)
        for own, replacement in self._own:
            text = own.sub(replacement, text)
        return _homes().sub("~", text)

    def value(self, value: Any, depth: int = 0) -> Any:
        """Return a JSON value with every string redacted, and without the values of secrets."""
        if isinstance(value, str):
            return self.text(value)
        if depth > MAX_DEPTH:
            return TOO_DEEP
        if isinstance(value, dict):
            return {
                self.text(key) if isinstance(key, str) else key: SECRET
                if isinstance(key, str) and _holds(item) and names_a_secret(key)
                else self.value(item, depth + 1)
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.value(item, depth + 1) for item in value]
        return value

    def json(self, value: Any) -> str:
        """Return ``value`` as redacted ASCII JSON, or a marker if it is too large or isn't JSON."""
        try:
            text = _encode(value)
            if len(text) > MAX_FIELD_BYTES and (size := _utf8_size(value)) > MAX_FIELD_BYTES:
                return _encode({"[truncated]": True, "bytes": size})
            return text if self.is_clean(text) else _encode(self.value(value))
        except (TypeError, ValueError, RecursionError):
            return '{"[unserializable]":true}'

    def plain(self, value: Any) -> str | None:
        """Return the same as :meth:`json` in a fraction of the time, for a few names with numbers
        and short texts, which is all that most calls have. Return None for anything else, and for
        anything suspicious. No suspicious pattern crosses a quotation mark, so each text is checked
        separately."""
        if type(value) is not dict or len(value) > PLAIN:
            return None
        parts = []
        for key, item in value.items():
            name = self._names.get(key) or self._clean_name(key)
            if name is None:
                return None
            kind = type(item)
            if (kind is int and -MAX_INT < item < MAX_INT) or (kind is float and isfinite(item)):
                parts.append(f"{name}{item!r}")
            elif kind is str and len(item) <= PLAIN_TEXT and self.is_clean(item):
                text = encode_basestring_ascii(item)
                if "\\u" in text:
                    return None
                parts.append(name + text)
            elif item is None or kind is bool:
                parts.append(name + ("null" if item is None else "true" if item else "false"))
            else:
                return None
        return f"{{{','.join(parts)}}}"

    def _clean_name(self, key: Any) -> str | None:
        if type(key) is not str or len(key) > PLAIN_TEXT:
            return None
        text = encode_basestring_ascii(key)
        if not self.is_clean(text):
            return None
        if len(self._names) < MAX_NAMES:
            self._names[key] = text + ":"
        return text + ":"

    def line(self, text: str | None) -> str | None:
        """Return a message or an intent redacted, and cut at the field limit."""
        if not text:
            return text
        encoded = text.encode("utf-8", "replace")
        if len(encoded) <= MAX_FIELD_BYTES:
            return self.text(text)
        # The text is cut last, because half a secret would no longer look like a secret.
        margin = encoded[: MAX_FIELD_BYTES + 4096].decode("utf-8", "ignore")
        note = f" [truncated, {len(encoded)} bytes]"
        shortened = self.text(margin).encode("utf-8", "replace")[: MAX_FIELD_BYTES - len(note)]
        return shortened.decode("utf-8", "ignore") + note

    def is_clean(self, text: str) -> bool:
        """Return whether a text, or the ASCII JSON of a value, certainly needs no redaction."""
        return self._hints.search(text.lower()) is None


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the patterns and their replacements, compiled when the first suspicious text comes."""
    # No pattern has an unbounded repetition before its match is certain, because the text may be
    # hostile.
    return (
        (
            re.compile(
                r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
                re.S,
            ),
            SECRET,
        ),
        (re.compile(r"\b([a-z][a-z0-9+.-]{0,20}://)[^\s/@:]+:[^\s/@]+@", re.I), rf"\1{SECRET}@"),
        (re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.I), rf"\1 {SECRET}"),
        (re.compile(r"\b((?:Set-)?Cookie\s{0,8}:\s{0,8})[^\r\n\"']+", re.I), rf"\1{SECRET}"),
        (
            # …&X-Amz-Signature=…, and the same when the URL is itself part of a query.
            re.compile(
                rf"((?:[?&;]|%(?:25)?3F|%(?:25)?26){_SIGNS}(?:=|%(?:25)?3D))[^\s\"'&;#%]"
                r"(?:[^\s\"'&;#%]|%(?!(?:25)?26))*",
                re.I,
            ),
            rf"\1{SECRET}",
        ),
        (re.compile(r"\bsk-[A-Za-z0-9_-]{16,}"), SECRET),
        (re.compile(r"\b(?:gh[pousr]|github_pat|glpat|hf|npm|pypi)[_-][A-Za-z0-9_-]{16,}"), SECRET),
        (re.compile(r"\bxox[a-z]-[A-Za-z0-9-]{10,}"), SECRET),
        (re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"), SECRET),
        (re.compile(r"\bAIza[A-Za-z0-9_-]{30,}"), SECRET),
        (
            re.compile(
                r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}"
            ),
            SECRET,
        ),
        (
            # password=…, d["api_key"] = '…', \\"token\\": \\"…\\": the name is kept, and the value
            # is replaced.
            re.compile(
                rf"""({_KEYS_IN_TEXT}[\\"'\]]{{0,4}}\s{{0,8}}[:=,]?\s{{0,8}})(\\?["'])(?:(?!\2).)+\2""",
                re.I,
            ),
            rf"\1\2{SECRET}\2",
        ),
        (
            re.compile(
                rf"""({_KEYS_IN_TEXT}[\\"'\]]{{0,4}}\s{{0,8}}(?:[:=]|%(?:25)?3D|\b(?:is|was)\s)\s{{0,8}})"""
                r"""[^\s"'\\,;&)\]}\[]+""",
                re.I,
            ),
            rf"\1{SECRET}",
        ),
        (
            re.compile(
                rf"((?<![a-z0-9_-])--[a-z0-9_-]{{0,40}}?{_KEYS_IN_TEXT}\s{{1,8}})[^\s\"']+", re.I
            ),
            rf"\1{SECRET}",
        ),
        (re.compile(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,}"), ADDRESS),
    )


@cache
def _homes() -> re.Pattern[str]:
    """Return the pattern of any user's home folder."""
    return re.compile(
        # Windows profile names may contain spaces, so a name runs to the next separator if there is
        # one.
        rf"(?i:(?:(?<![A-Za-z0-9])|(?<=%2F)|(?<=%252F))[a-z](?::|%(?:25)?3A){_SEP}"
        rf"(?:Users|Documents(?: |%(?:25)?20)and(?: |%(?:25)?20)Settings){_SEP})"
        r"(?!(?i:Public|Default|All Users)\b)"
        rf"(?:(?:(?!{_SEP})[^:*?\"<>|\r\n])+(?={_SEP})|(?:(?!{_SEP})[^:*?\"<>|\s',;)])+)"
        # These are the locations that studios, WSL and macOS use for home folders. Other locations
        # aren't redacted, because a scene may contain /World/home.
        r"|(?<![A-Za-z0-9_.~-])"
        r"(?:/(?:var|export|net|nfs|private|cygdrive/[a-z]|mnt(?:/[a-z])?|System/Volumes/Data)|"
        r"(?:(?<!:)|(?<=file:))//[A-Za-z0-9._-]{1,255})?"
        r"/(?:homes?|Users)/(?!Shared\b)[^/\\\s\"':,;)\]}]+"
        # These are the same locations, as they are spelled in a URL.
        rf"|{_START}(?:{_SLASH}(?:var|export|net|nfs|private|cygdrive{_SLASH}[a-z]|"
        rf"mnt(?:{_SLASH}[a-z])?|System{_SLASH}Volumes{_SLASH}Data)|"
        rf"(?i:(?<!%3A)(?<!%253A)|(?<=file%3A)|(?<=file%253A)){_SLASH}{_SLASH}"
        r"[A-Za-z0-9._-]{1,255})?"
        rf"{_SLASH}(?:homes?|Users){_SLASH}(?!Shared\b)(?:(?!{_SLASH})[^/\\\s\"':,;)\]}}&?#])+"
        rf"|(?<![\\A-Za-z0-9])(?:\\{{2}}|\\{{4}})[A-Za-z0-9._-]{{1,255}}{_SEP}"
        rf"(?i:homes?\$?|users\$?){_SEP}[^\\/:*?\"<>|\r\n\s',;)]+"
    )


@lru_cache(maxsize=4096)
def names_a_secret(key: str) -> bool:
    """Return whether a name is the name of a secret, in any spelling: apiKey, API_KEY,
    x-api-key."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", key[:256])
    words = [word for word in re.split(r"[^a-z0-9]+", spaced.lower()) if word]
    if _SECRET_WORDS.intersection(words):
        return True
    return any(a in _KEY_KINDS and b in {"key", "keys"} for a, b in pairwise(words))


def _spelt(name: str) -> str:
    """Return a pattern for a name as it is, and as URLs write it."""
    once = quote(name)
    ways = dict.fromkeys((name, once, quote(once)))
    return f"(?:{'|'.join(map(re.escape, ways))})"


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def _utf8_size(value: Any) -> int:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return len(text.encode("utf-8", "replace"))


def _holds(value: Any) -> bool:
    return value is not None and not isinstance(value, bool)


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
