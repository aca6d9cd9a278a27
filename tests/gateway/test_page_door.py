"""The visitors that get the gateway's page, and those that don't."""

from __future__ import annotations

from itertools import product
from urllib.parse import urlsplit

import pytest
from gateway_thread import running_gateway
from page_visitor import Visitor, link_of, request

from callboard.clients.book import ClientBook
from callboard.clients.holder import token_hash
from callboard_programs.gateway.page.access import LINK_LASTS, SILENT_FOR, PageLogin
from callboard_programs.gateway.page.browser import open_link, running_link

PATHS = ("/", "/page/page.js", "/page/events", "/page/calls", "/page/enter?code=guessed")


def test_without_the_cookie_nothing_is_told() -> None:
    with running_gateway() as gateway:
        forged = {"Cookie": f"callboard-{urlsplit(gateway.url).port}=guessed"}
        shown = ({}, forged, {"Authorization": f"Bearer {gateway.token}"})
        for path, headers in product(PATHS, shown):
            status, _, body = request(gateway.url, "GET", path, headers)
            assert status == 401
            assert b"callboard gateway --open" in body


def test_a_link_works_once_and_is_made_for_the_gateways_own_token_only() -> None:
    with running_gateway() as gateway:
        parts = urlsplit(link_of(gateway))
        path = f"{parts.path}?{parts.query}"
        assert request(gateway.url, "GET", path, {})[0] == 200
        assert request(gateway.url, "GET", path, {})[0] == 401
        client = {"Authorization": f"Bearer {ClientBook().make('cursor')[1]}"}
        status, _, body = request(gateway.url, "POST", "/page/link", client)
        assert (status, b"not a client's token" in body) == (403, True)
        assert request(gateway.url, "POST", "/page/link", {})[0] == 401
        assert request(gateway.url, "POST", "/page/link", Visitor(gateway).headers)[0] == 401


def test_the_cookie_alone_shows_an_empty_page_and_is_good_for_nothing_else() -> None:
    with running_gateway() as gateway:
        visitor = Visitor(gateway)
        assert visitor.set_cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
        status, headers, _ = request(gateway.url, "GET", "/", visitor.cookie)
        assert status == 200
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        for path in ("/page/events", "/page/calls", "/page/trace?call=x"):
            assert request(gateway.url, "GET", path, visitor.cookie)[0] == 403
        for path, status in (("/mcp", 401), ("/mcp/fake", 401), ("/v1/tools", 404)):
            assert request(gateway.url, "GET", path, visitor.headers)[0] == status
        assert request(gateway.url, "GET", "/page/../gateway.json", visitor.headers)[0] == 404


def test_what_changes_something_names_where_it_comes_from() -> None:
    with running_gateway() as gateway:
        visitor = Visitor(gateway)
        asked = {**visitor.headers, "Content-Type": "application/json"}

        def act(**more: str) -> int:
            return request(gateway.url, "POST", "/page/act", {**asked, **more}, b"{}")[0]

        assert act() == 403
        assert act(Origin="http://elsewhere.example") == 403
        assert act(Host="elsewhere.example") == 421
        assert act(Origin=visitor.url) == 400  # The request is allowed, but it names no action.
        del asked["Callboard-Page"]
        assert act(Origin=visitor.url) == 403


def test_links_and_browsers_are_forgotten_in_time() -> None:
    now = 0.0
    door = PageLogin(lambda: now)
    late, code = door.new_code(), door.new_code()
    entry = door.enter(code)
    assert entry is not None
    assert door.belongs(*entry)
    assert not door.belongs(entry.cookie, token_hash(entry.secret))
    now = LINK_LASTS
    assert door.enter(late) is None
    now = SILENT_FOR
    assert door.knows(entry.cookie)  # The secret has just been used.
    now += SILENT_FOR + 1
    assert not door.belongs(*entry)


def test_the_link_of_the_command_line_is_the_running_gateways(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert running_link() is None
    with running_gateway() as gateway:
        link = running_link()
        assert link is not None
        assert urlsplit(link).port == urlsplit(gateway.url).port
        opened: list[str] = []
        monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
        assert open_link(link)
        # Every user of the machine can see a browser's arguments.
        assert opened[0].startswith("file:")
        assert "code=" not in opened[0]
