"""The tab with this host's capabilities, each with a switch, and the tools that need them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import monotonic, time
from typing import Any

from qtpy.QtCore import QEvent, QObject, Qt
from qtpy.QtGui import QResizeEvent, QShowEvent
from qtpy.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QSplitter,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from callboard.panel.records import missing_capabilities
from callboard.panel.status import BundleStatus, CapabilityStatus, Snapshot, ToolStatus
from callboard_ui import texts
from callboard_ui.labels import plain, tint
from callboard_ui.link import Link
from callboard_ui.plug_ins import PlugIns
from callboard_ui.row_delegate import RowDelegate
from callboard_ui.rows import Row, RowsModel
from callboard_ui.shown_text import one_line, visible
from callboard_ui.theme import em

#: The period, in seconds, over which requests for missing capabilities are counted, and the number
#: of seconds that must pass between counts.
_PERIOD, _FRESH = 7 * 86_400.0, 10.0
TOOLS, LACKING, BUNDLES, ASKED = range(4)


class CapabilitiesTab(QWidget):
    """The Capabilities tab. Use it on Qt's thread."""

    def __init__(self, link: Link, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._snapshot = Snapshot()
        self._tools_shown: tuple[Any, ...] = ()
        self._asked_at = 0.0
        #: Capabilities by area with their titles, in display order.
        self._areas = tuple(
            (self.tr(area), {name: self.tr(title) for name, title in named.items()})
            for area, named in texts.AREAS
        )
        self._titles = {name: title for _, named in self._areas for name, title in named.items()}
        self.model = RowsModel((self.tr("Offered"), self.tr("Tools"), self.tr("Name")), self)
        self.model.on_check = self._switch
        self.view = self._tree(self.model, self.tr("Capabilities"))
        self.view.installEventFilter(self)
        self.plug_ins = PlugIns(link, self._titles, self)
        self.page = QComboBox(self)
        self.page.setAccessibleName(self.tr("What to list"))
        self.page.addItems(
            [
                self.tr("Tools"),
                self.tr("Tools missing something"),
                self.tr("Bundles"),
                self.tr("Requested, missing"),
            ]
        )
        self.page.currentIndexChanged.connect(lambda index: self._page_chosen())
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Filter"))
        self.search.setAccessibleName(self.tr("Filter tools"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(lambda text: self._fill_below())
        self.below = RowsModel((self.tr("Tool"), self.tr("Lacks")), self)
        self.below_view = self._tree(self.below, self.tr("Tools"))
        self._note = plain(self, wrap=True)
        self._note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._asked: list[dict[str, Any]] = []
        self._lay_out()
        self._draw()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show a new state."""
        self._snapshot = snapshot
        if self.isVisible():
            self._fill()

    # -- Qt's methods ---------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fill()
        self._page_chosen()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.view and event.type() == QEvent.Type.Resize:
            self.view.setColumnHidden(2, self.view.width() < em(self, 24))
        return False

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._draw()

    # -- construction ---------------------------------------------------------------------------

    def _tree(self, model: RowsModel, name: str) -> QTreeView:
        view = QTreeView(self)
        view.setModel(model)
        view.setAccessibleName(name)
        view.setUniformRowHeights(True)
        view.setItemDelegate(RowDelegate(view))
        view.setAllColumnsShowFocus(True)
        view.setRootIsDecorated(False)
        view.setIndentation(em(self, 0.6))
        view.setHeaderHidden(True)
        header = view.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in range(1, model.columnCount()):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        return view

    def _lay_out(self) -> None:
        space = em(self, 0.3)
        choose = QHBoxLayout()
        choose.setSpacing(space)
        choose.addWidget(self.page)
        choose.addWidget(self.search, 1)
        lower = QWidget(self)
        box = QVBoxLayout(lower)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(space)
        box.addLayout(choose)
        box.addWidget(self.below_view, 1)
        box.addWidget(self._note)
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.setChildrenCollapsible(False)
        upper = QWidget(self)
        above = QVBoxLayout(upper)
        above.setContentsMargins(0, 0, 0, 0)
        above.setSpacing(space)
        above.addWidget(self.view, 1)
        above.addWidget(self.plug_ins)
        self._splitter.addWidget(upper)
        self._splitter.addWidget(lower)
        self._splitter.setStretchFactor(0, 3)
        self._splitter.setStretchFactor(1, 2)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(space, space, space, space)
        outer.addWidget(self._splitter)

    def _draw(self) -> None:
        for model in (self.model, self.below):
            model.set_look(self.palette(), self.font())

    def _arrange(self) -> None:
        wide = self.width() > em(self, 50)
        way = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self._splitter.orientation() != way:
            self._splitter.setOrientation(way)
        self.page.setMaximumWidth(max(em(self, 8), self.width() // 2))

    # -- new states -----------------------------------------------------------------------------

    def _fill(self) -> None:
        others = {c.name: c for c in self._snapshot.capabilities}
        rows = []
        for title, names in self._areas:
            present = [others.pop(name) for name in names if name in others]
            rows.append(self._area(title, present))
        rows.append(self._area(self.tr("Other"), list(others.values())))
        self.model.set_rows([row for row in rows if row.rows])
        self.view.expandAll()
        for number in range(self.model.rowCount()):
            self.view.setFirstColumnSpanned(number, self.view.rootIndex(), True)
        self.plug_ins.show_missing(self._snapshot.capabilities)
        self._fill_below()

    def _area(self, title: str, capabilities: Sequence[CapabilityStatus]) -> Row:
        return Row(title, (title,), heading=True, rows=tuple(map(self._capability, capabilities)))

    def _capability(self, one: CapabilityStatus) -> Row:
        name = one_line(one.name)
        title = self._titles.get(one.name, name)
        if not one.offered:
            says = self.tr("not loaded") if one.loadable else self.tr("not here")
            why = visible(one.advice) or self.tr("this host doesn't offer it")
            tip = self.tr("{0}: {1}\nTools that need it: {2}").format(name, why, one.unlocks)
            return Row(one.name, (title, says, name), "slash", "dim", tip, enabled=False)
        tip = self.tr("{0}: {1} tools need it").format(name, one.unlocks)
        if one.withdrawn:
            tip += "\n" + self.tr("Withdrawn: calls that need it are refused")
        count = self.tr("1 tool") if one.unlocks == 1 else self.tr("{0} tools").format(one.unlocks)
        return Row(one.name, (title, count, name), tip=tip, checked=not one.withdrawn)

    def _fill_below(self) -> None:
        page, text = self.page.currentIndex(), self.search.text().strip().casefold()
        if page == ASKED:
            self._fill_asked(text)
            return
        if page == BUNDLES:
            self._fill_bundles(text)
            return
        key = (page, text, id(self._snapshot.tools))
        if self._tools_shown and self._tools_shown[0] == key:
            return
        # As long as the tools are kept alive, their id() is unique.
        self._tools_shown = (key, self._snapshot.tools)
        tools = [
            tool
            for tool in self._snapshot.tools
            if (tool.missing or page == TOOLS) and text in f"{tool.name} {tool.title}".casefold()
        ]
        by_skill: dict[str, list[ToolStatus]] = {}
        for tool in tools:
            by_skill.setdefault(tool.skill or self.tr("Built in"), []).append(tool)
        self.below.set_rows(
            [
                Row(skill, (one_line(skill),), heading=True, rows=tuple(map(self._tool, group)))
                for skill, group in by_skill.items()
            ]
        )
        self._after_fill(self.tr("Every tool has what it needs.") if page else self.tr("No tool."))

    def _tool(self, tool: ToolStatus) -> Row:
        short = tool.title or (tool.name.partition("__")[2] if tool.skill else tool.name)
        lacks = ", ".join(map(one_line, tool.missing))
        needs = ", ".join(map(one_line, tool.requires)) or self.tr("nothing")
        tip = f"{one_line(tool.name)}\n{visible(tool.description)}\n"
        tip += self.tr("Needs: {0}").format(needs)
        glyph, kind = ("slash", "warn") if lacks else ("check", "good")
        says = self.tr("missing: {0}").format(lacks) if lacks else ""
        return Row(tool.name, (one_line(short), says), glyph, kind, tip)

    def _fill_bundles(self, text: str) -> None:
        self._tools_shown = ()
        self.below.set_rows(
            [self._bundle(one) for one in self._snapshot.bundles if text in one.name.casefold()]
        )
        none = self.tr("No bundle matches.") if text else self.tr("No bundle is installed.")
        self._after_fill(none)

    def _bundle(self, one: BundleStatus) -> Row:
        title = f"{one_line(one.name)} {one_line(one.version)}"
        tip = f"{title}\n{visible(one.description)}"
        wanted = [
            self._wanted(
                name, says, missing_capabilities=name in one.missing, needed=name in one.required
            )
            for names, says in (
                (one.required, self.tr("required")),
                (one.preferred, self.tr("preferred")),
            )
            for name in names
        ]
        if one.problem is not None:
            says = one_line(one.problem)
            wanted.insert(0, Row(":problem", (self.tr("Doesn't run"), says), "cross", "bad", says))
        if not wanted:
            nothing = self.tr("needs nothing from the host")
            wanted.append(Row(":nothing", (nothing, ""), "check", "dim"))
        return Row(one.name, (title,), tip=tip, heading=True, rows=tuple(wanted))

    def _wanted(self, name: str, says: str, *, missing_capabilities: bool, needed: bool) -> Row:
        shown = one_line(name)
        if not missing_capabilities:
            return Row(name, (shown, says), "check", "good", shown)
        without = (
            self.tr("{0}: the bundle doesn't run without it")
            if needed
            else self.tr("{0}: the bundle works without it, but does less")
        )
        state, kind = self.tr("{0}, missing").format(says), "bad" if needed else "warn"
        return Row(name, (shown, state), "slash", kind, without.format(shown))

    def _fill_asked(self, text: str) -> None:
        self._tools_shown = ()
        texts = {
            "requested": self.tr("asked for"),
            "refused": self.tr("refused"),
            "inferred": self.tr("supposed"),
        }
        rows = []
        for entry in self._asked:
            name = one_line(entry["capability"])
            if text not in name.casefold():
                continue
            says = self.tr("{0}, sessions: {1}").format(
                texts.get(entry["source"], entry["source"]), entry["sessions"]
            )
            tip = "\n".join([visible(entry["capability"]), *map(visible, entry["examples"])])
            rows.append(Row(entry["capability"], (name, says), "question", "warn", tip))
        self.below.set_rows(rows)
        if self._link.records is None:
            self._after_fill(self.tr("Calls aren't recorded."))
        else:
            self._after_fill(self.tr("Nothing was missing in the last seven days."))

    def _after_fill(self, empty: str) -> None:
        self.below_view.expandAll()
        for number, row in enumerate(self.below.rows):
            self.below_view.setFirstColumnSpanned(number, self.below_view.rootIndex(), row.heading)
        self._note.setText(empty)
        tint(self._note, "dim")
        self._note.setVisible(not self.below.rowCount())

    # -- the artist's actions -------------------------------------------------------------------

    def _switch(self, row: Row, wanted: bool) -> None:
        controls = self._link.controls
        (controls.restore if wanted else controls.withdraw)(row.key)

    def _page_chosen(self) -> None:
        records, asked = self._link.records, self.page.currentIndex() == ASKED
        if asked and records is not None and monotonic() - self._asked_at > _FRESH:
            self._asked_at = monotonic()
            work = partial(missing_capabilities, records, time() - _PERIOD)
            self._link.background.run(work, self._asked_for)
        self._fill_below()

    def _asked_for(self, requests: list[dict[str, Any]] | None, error: Exception | None) -> None:
        if requests is not None:
            self._asked = requests
        if self.page.currentIndex() == ASKED:
            self._fill_below()
            if error is not None:
                self._note.setText(self.tr("The records can't be read: {0}").format(error))
                tint(self._note, "bad")
                self._note.show()
