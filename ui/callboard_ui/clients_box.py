"""The list of clients that may connect, with buttons to stop a client's calls, to revoke its
access, and to end its grants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from qtpy.QtCore import Qt
from qtpy.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from callboard.panel.status import ClientStatus, GrantStatus, Snapshot, TokenStatus
from callboard_ui.labels import Elided, as_tip, plain, tint
from callboard_ui.link import Link
from callboard_ui.shown_text import clock, one_line
from callboard_ui.theme import bold, em


class ClientsBox(QWidget):
    """The clients, each under the name of its token. Use it on Qt's thread."""

    def __init__(self, link: Link, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self.rows: dict[str, ClientRow] = {}
        self._answer = plain(self, wrap=True)
        self._answer.hide()
        self._empty = plain(self, wrap=True)
        self._empty.setText(self.tr("No client has access yet."))
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(em(self, 0.5))
        self._box.addWidget(self._empty)
        self._box.addWidget(self._answer)
        self._shown: object = None
        tint(self._empty, "dim")

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show a new state."""
        shown = (snapshot.tokens, snapshot.clients, snapshot.grants, snapshot.calls)
        if shown == self._shown:
            return
        self._shown = shown
        tokens = {one.name: one for one in snapshot.tokens}
        here = {one.holder for one in snapshot.clients if one.holder}
        allowed = {one.client for one in snapshot.grants}
        names = list(dict.fromkeys([*tokens, *sorted(here | allowed)]))
        for name in [name for name in self.rows if name not in names]:
            row = self.rows.pop(name)
            self._box.removeWidget(row)
            row.hide()
            row.deleteLater()
        titles = {tool.name: tool.title or tool.name for tool in snapshot.tools}
        for at, name in enumerate(names):
            shown_row = self.rows.get(name)
            if shown_row is None:
                shown_row = self.rows[name] = ClientRow(name, self._link, self.say, self)
                self._box.insertWidget(at, shown_row)
            clients = [one for one in snapshot.clients if one.holder == name]
            grants = [one for one in snapshot.grants if one.client == name]
            shown_row.show_client(tokens.get(name), clients, grants, titles)
        self._empty.setVisible(not names)

    def say(self, text: str, bad: bool = False) -> None:
        """Show the outcome of a button's action."""
        self._answer.setText(one_line(text))
        tint(self._answer, "bad" if bad else "dim")
        self._answer.setVisible(bool(text))


class ClientRow(QWidget):
    """One client and its grants."""

    def __init__(
        self, name: str, link: Link, say: Callable[[str, bool], None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._name, self._link, self._say = name, link, say
        self.title = Elided(self)
        self.title.setFont(bold(self.font()))
        self.title.show_text(name)
        self.state = Elided(self)
        self.stop = QPushButton(self.tr("Stop"), self)
        self.stop.setAccessibleName(self.tr("Stop the calls of {0}").format(name))
        self.stop.setToolTip(self.tr("End what this client runs; it may call again"))
        self.stop.clicked.connect(self._stop)
        self.revoke = QPushButton(self.tr("Revoke"), self)
        self.revoke.setAccessibleName(self.tr("Revoke the access of {0}").format(name))
        self.revoke.setToolTip(self.tr("Revoke this client's access"))
        # Revoking takes two clicks (open the menu, then choose), so that a stray click revokes
        # nothing.
        menu = QMenu(self.revoke)
        self.revoke_for_good = menu.addAction(
            self.tr("Revoke “{0}” in every application").format(name)
        )
        self.revoke_for_good.triggered.connect(lambda checked=False: self._revoke())
        self.revoke.setMenu(menu)
        self._grants = QVBoxLayout()
        self._grants.setSpacing(em(self, 0.2))
        self.grants: dict[str, QWidget] = {}
        self._lay_out()

    def show_client(
        self,
        token: TokenStatus | None,
        clients: Sequence[ClientStatus],
        grants: Sequence[GrantStatus],
        titles: dict[str, str],
    ) -> None:
        """Show one client. ``clients`` has the client's sessions. ``titles`` are the tools' titles
        by wire name."""
        named = ", ".join(dict.fromkeys(one_line(one.name) for one in clients))
        if clients:
            text, kind = self.tr("{0}, connected").format(named), "good"
        elif token is not None and token.last_seen is not None:
            text = self.tr("not connected; last heard {0}").format(clock(token.last_seen))
            kind = "dim"
        else:
            text, kind = self.tr("not connected"), "dim"
        self.state.show_text(text)
        tint(self.state, kind)
        self.revoke.setVisible(token is not None)
        there = {one.id: one for one in grants}
        for id in [id for id in self.grants if id not in there]:
            gone = self.grants.pop(id)
            self._grants.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        for id, grant in there.items():
            if id not in self.grants:
                self.grants[id] = self._grant(grant, titles)
                self._grants.addWidget(self.grants[id])

    def _grant(self, grant: GrantStatus, titles: dict[str, str]) -> QWidget:
        about = {
            "script": self.tr("code of its own"),
            "destructive": self.tr("deleting, replacing"),
            "outside_roots": self.tr("writing outside roots"),
            "client_roots": self.tr("folders of its own"),
        }
        what = about.get(grant.subject, grant.subject)
        if grant.tool is not None:
            what = self.tr("{0}, {1} only").format(what, titles.get(grant.tool, grant.tool))
        span = self.tr("this project") if grant.scope == "project" else self.tr("this session")
        line = QWidget(self)
        label = plain(line, wrap=True)
        text = self.tr("may: {0}; {1}").format(what, span)
        label.setText(one_line(text))
        label.setToolTip(as_tip(self.tr("{0}, since {1}").format(text, clock(grant.made))))
        button = QPushButton(self.tr("Ask again"), line)
        button.setAccessibleName(self.tr("Ask again about {0}").format(what))
        button.setToolTip(self.tr("Withdraw this; callboard asks again"))
        button.setAutoDefault(False)
        button.clicked.connect(partial(self._take_back, grant.id))
        box = QHBoxLayout(line)
        box.setContentsMargins(em(self, 0.6), 0, 0, 0)
        box.addWidget(label, 1)
        box.addWidget(button)
        return line

    def _take_back(self, grant: str) -> None:
        self._link.controls.revoke_grant(grant)

    def _stop(self) -> None:
        def answered(ended: int) -> None:
            text = self.tr("{0}: calls ended: {1}").format(self._name, ended)
            self._say(text, False)

        self._link.controls.stop_client(self._name, self._link.answer(answered))

    def _revoke(self) -> None:
        self.revoke.setEnabled(False)

        def answered(problem: str | None) -> None:
            self.revoke.setEnabled(True)
            done = self.tr("{0} no longer has access").format(self._name)
            self._say(done if problem is None else problem, problem is not None)

        self._link.controls.revoke_client(self._name, self._link.answer(answered))

    def _lay_out(self) -> None:
        space = em(self, 0.3)
        head = QHBoxLayout()
        head.setSpacing(space)
        head.addWidget(self.title, 1)
        for button in (self.stop, self.revoke):
            button.setAutoDefault(False)
            head.addWidget(button)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(em(self, 0.2))
        box.addLayout(head)
        box.addWidget(self.state, 0, Qt.AlignmentFlag.AlignTop)
        box.addLayout(self._grants)
