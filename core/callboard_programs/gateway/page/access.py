"""Access to the page. A browser gets access through a link that works once, and keeps its access as
long as the browser has a cookie and the page has a secret."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from callboard.clients.holder import TokenHolder, new_token, token_hash
from callboard.transport.http.access import Access, Refusal

#: The path prefix of the page's requests. The page itself is at ``/``.
BELOW = "/page/"
#: The path at which a caller with the gateway's own token gets a link.
LINK = "/page/link"
#: The path that a link opens.
ENTER = "/page/enter"
#: The header that carries the secret.
PAGE_HEADER = "Callboard-Page"
#: Seconds for which a link is valid, and for which a silent browser keeps its access.
LINK_LASTS, SILENT_FOR = 600.0, 12 * 3600.0
#: Maximum number of links, and maximum number of browsers, that are kept. The oldest are dropped
#: first.
MOST = 16

#: The token holder that requests from the page are attributed to.
VISITOR = TokenHolder("page", "page")

_NOT_HERE = Refusal(
    401,
    "this page opens with a link that works once: run `callboard gateway --open` on this machine",
)


class PageKeys(NamedTuple):
    """The cookie and the secret that a browser gets for its link. Browsers send a cookie to every
    port of a machine, so the cookie alone gives no access: the page must also send ``secret``."""

    cookie: str
    secret: str


class PageLogin:
    """The links to the page, and the browsers that have access. Use it on the gateway's loop."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        #: The time at which each link's code was made, by the code's hash.
        self._codes: dict[str, float] = {}
        #: The secret's hash and the time of its last use, by the cookie's hash.
        self._inside: dict[str, tuple[str, float]] = {}

    def new_code(self) -> str:
        """Return the code of a new link."""
        code = new_token()
        self._codes[token_hash(code)] = self._now()
        _keep_newest(self._codes)
        return code

    def is_good(self, code: str) -> bool:
        """Return whether a link's code is still valid."""
        made = self._codes.get(token_hash(code))
        return made is not None and self._now() - made < LINK_LASTS

    def enter(self, code: str) -> PageKeys | None:
        """Use up a link's code, and return the browser's keys. Return None if the code isn't
        valid."""
        if not self.is_good(code):
            return None
        del self._codes[token_hash(code)]
        entry = PageKeys(new_token(), new_token())
        self._inside[token_hash(entry.cookie)] = token_hash(entry.secret), self._now()
        _keep_newest(self._inside)
        return entry

    def knows(self, cookie: str) -> bool:
        """Return whether the browser with this cookie has access. This call is treated as a sign of
        life from the browser."""
        key = token_hash(cookie)
        secret, used = self._inside.get(key, ("", 0.0))
        if not secret:
            return False
        if self._now() - used > SILENT_FOR:
            del self._inside[key]
            return False
        self._inside[key] = secret, self._now()
        return True

    def belongs(self, cookie: str, secret: str) -> bool:
        """Return whether a request with this cookie and secret comes from the page."""
        if not self.knows(cookie):
            return False
        return hmac.compare_digest(self._inside[token_hash(cookie)][0], token_hash(secret))


class PageAccess(Access):
    """Access to the gateway and its page. The page's own paths need the cookie, and all other paths
    need a token."""

    def __init__(
        self,
        port: int,
        token: str | None,
        find: Callable[[str], TokenHolder | None],
        login: PageLogin,
    ) -> None:
        super().__init__(port, token, find)
        self._login = login
        self.port = port
        self.cookie_name = f"callboard-{port}"

    def check(
        self, headers: Mapping[str, str], path: str = "", query: str = ""
    ) -> TokenHolder | Refusal:
        if path == LINK or not (path == "/" or path.startswith(BELOW)):
            return super().check(headers, path, query)
        refusal = self.check_origin(headers)
        if refusal is not None:
            return refusal
        if path == ENTER:
            allowed = self._login.is_good(read_query(query).get("code", ""))
        else:
            allowed = self._login.knows(self.cookie_of(headers))
        return VISITOR if allowed else _NOT_HERE

    def cookie_of(self, headers: Mapping[str, str]) -> str:
        """Return the page's cookie, or an empty string if there is none."""
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return ""
        morsel = cookies.get(self.cookie_name)
        return "" if morsel is None else str(morsel.value)


def read_query(query: str) -> dict[str, str]:
    """Return the first value of each name in a query string, or an empty dictionary if there are
    too many names."""
    try:
        pairs = parse_qs(query, max_num_fields=8)
    except ValueError:
        return {}
    return {name: values[0] for name, values in pairs.items()}


def _keep_newest(kept: dict[str, Any]) -> None:
    while len(kept) > MOST:
        del kept[next(iter(kept))]
