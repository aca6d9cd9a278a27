"""The panel widget, for a host's dock or a separate window."""

from __future__ import annotations

from functools import partial

from qtpy.QtCore import QEvent, QSize, Qt
from qtpy.QtGui import (
    QCloseEvent,
    QHideEvent,
    QIcon,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from qtpy.QtWidgets import (
    QDockWidget,
    QFrame,
    QLineEdit,
    QStyle,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from callboard.panel.controls import Controls
from callboard.panel.status import Snapshot
from callboard_ui.activity_tab import ActivityTab
from callboard_ui.banner import Banner
from callboard_ui.capabilities_tab import CapabilitiesTab
from callboard_ui.consent_tab import ConsentNotice, ConsentTab, area_of, titles_of
from callboard_ui.header import Header
from callboard_ui.icons import icon
from callboard_ui.link import Link
from callboard_ui.qt_threads import post
from callboard_ui.roots_tab import RootsTab
from callboard_ui.skills_tab import SkillsTab
from callboard_ui.style_sheet import follow
from callboard_ui.theme import em

ACTIVITY, ROOTS, CAPABILITIES, CONSENT, SKILLS = range(5)


class Panel(QWidget):
    """The panel of one server. While it exists, the artist is considered present, and tools'
    questions wait for an answer. ``shut`` ends this, as does closing the panel's window or deleting
    the panel. Use it on Qt's main thread."""

    def __init__(
        self,
        controls: Controls,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("callboardPanel")
        self.setWindowTitle(self.tr("Callboard"))
        self._asked = 0
        self._dock: QDockWidget | None = None
        self.link = link = Link(controls, self._show)
        # A widget that is deleted doesn't get a close event.
        self.destroyed.connect(link.close)
        self.header = Header(link, self._show_rules, self)
        self.banner = Banner(lambda: self.tabs.setCurrentIndex(CONSENT), self)
        self.activity = ActivityTab(link, self)
        self.roots = RootsTab(link, self)
        self.capabilities = CapabilitiesTab(link, self)
        self.consent = ConsentTab(link, self)
        self.skills = SkillsTab(link, self)
        self.notice = ConsentNotice(link, self)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        # Let titles be shortened, so that the dock can be made narrower.
        self.tabs.setMinimumWidth(em(self, 10))
        self._titles = (
            self.tr("Activity"),
            self.tr("Roots"),
            self.tr("Capabilities"),
            self.tr("Consent"),
            self.tr("Skills"),
        )
        tabs = (self.activity, self.roots, self.capabilities, self.consent, self.skills)
        for title, tab in zip(self._titles, tabs, strict=True):
            self.tabs.addTab(tab, title)
        self.tabs.currentChanged.connect(lambda index: self._arrange())
        line = QFrame(self)
        line.setFrameShape(QFrame.Shape.HLine)
        line.setFrameShadow(QFrame.Shadow.Sunken)
        content = QWidget(self)
        # A dock may be shorter than the panel's parts, which are then scrolled.
        self.area = area_of(content, self)
        outside = QVBoxLayout(self)
        outside.setContentsMargins(0, 0, 0, 0)
        outside.addWidget(self.area)
        box = QVBoxLayout(content)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.header)
        box.addWidget(line)
        box.addWidget(self.banner)
        box.addWidget(self.tabs, 1)
        self._arrange()
        self._set_up_keys()
        self._show(controls.status.snapshot)

    def shut(self) -> None:
        """Release the server. Idempotent."""
        if not self.link.open:
            return
        self.link.close()
        self.activity.close_down()
        self.consent.close_down()
        self.notice.cards.close_down()
        self.notice.hide()

    def minimumSizeHint(self) -> QSize:
        return QSize(min(em(self, 15), 280), em(self, 10))

    def sizeHint(self) -> QSize:
        return QSize(em(self, 26), em(self, 42))

    # -- Qt's methods ---------------------------------------------------------------------------

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        if self.isWindow():
            self.shut()
            # Delete it here, because Python's garbage collector might do so later, on another
            # thread.
            self.deleteLater()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        follow(self)
        dock = self.parentWidget()
        while dock is not None and not isinstance(dock, QDockWidget):
            dock = dock.parentWidget()
        if dock is not None and dock is not self._dock:
            # When another dock covers this one, the panel in it gets no hide event.
            self._dock = dock
            dock.visibilityChanged.connect(self._moved)
        self._moved()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._moved()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.PaletteChange):
            follow(self, by_palette=event.type() == QEvent.Type.PaletteChange)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._arrange()

    # -- internals ------------------------------------------------------------------------------

    def _show(self, snapshot: Snapshot) -> None:
        self._shown = snapshot
        self.header.show_snapshot(snapshot)
        self.roots.show_snapshot(snapshot)
        self.activity.show_snapshot(snapshot)
        self.capabilities.show_snapshot(snapshot)
        self.consent.show_snapshot(snapshot)
        self.skills.show_snapshot(snapshot)
        self.banner.show_snapshot(snapshot)
        asked = len(snapshot.questions)
        if asked != self._asked:
            self._asked = asked
            self._arrange()
        self._show_notice(snapshot)

    def _show_notice(self, snapshot: Snapshot) -> None:
        """Show the question in one place only: in the panel if the panel is visible, otherwise in
        the notice."""
        asked = snapshot.questions
        waiting = () if not asked or self._seen() else asked
        self.notice.show_questions(waiting, titles_of(snapshot))

    def _moved(self, *_: object) -> None:
        """Move the question to where the artist can see it, once Qt has moved everything."""
        post(lambda: self._show_notice(self._shown) if self.link.open else None)

    def _set_up_keys(self) -> None:
        """Make Ctrl with a digit select a tab, and Ctrl+F the tab's filter. These keys work only
        while the keyboard focus is in the panel. Elsewhere they belong to the host."""
        keys = [(f"Ctrl+{number + 1}", partial(self._turn_to, number)) for number in range(5)]
        for key, act in [*keys, ("Ctrl+F", self._to_filter)]:
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)

    def _turn_to(self, number: int) -> None:
        self.tabs.setCurrentIndex(number)
        self.tabs.tabBar().setFocus()

    def _to_filter(self) -> None:
        fields = self.tabs.currentWidget().findChildren(QLineEdit)
        field = next((one for one in fields if one.isVisible()), None)
        if field is not None:
            field.setFocus()
            field.selectAll()

    def _show_rules(self) -> None:
        self.tabs.setCurrentIndex(CONSENT)
        self.consent.rules.setChecked(True)

    def _seen(self) -> bool:
        if not self.isVisible() or self.window().isMinimized():
            return False
        # Nothing in a dock behind another one has a visible region. Nor has a widget whose children
        # cover it.
        parts = self.area.findChildren(QWidget)
        return any(not part.visibleRegion().isEmpty() for part in parts)

    def _arrange(self) -> None:
        """Show all tabs' titles if they fit, and otherwise only the current tab's."""
        bar = self.tabs.tabBar()
        names = ("activity", "folder", "switch", "hand", "book")
        titles = list(self._titles)
        if self._asked:
            titles[CONSENT] = f"{titles[CONSENT]} ({self._asked})"
        room = self.width()
        text = [bar.fontMetrics().horizontalAdvance(title) for title in titles]
        beside = bar.style().pixelMetric(QStyle.PixelMetric.PM_TabBarTabHSpace, None, bar)
        each = beside + bar.iconSize().width() + em(self, 0.4)
        current = self.tabs.currentIndex()
        all_fit = sum(text) + 5 * each <= room
        for number, title in enumerate(titles):
            kind = "warn" if number == CONSENT and self._asked else "text"
            bare = not all_fit and number != current
            only_text = not all_fit and number == current
            glyph = QIcon() if only_text else icon(names[number], self.palette(), kind)
            self.tabs.setTabIcon(number, glyph)
            count = f"{self._asked}" if number == CONSENT and self._asked else ""
            self.tabs.setTabText(number, count if bare else title)
            self.tabs.setTabToolTip(number, title)
            if hasattr(bar, "setAccessibleTabName"):
                bar.setAccessibleTabName(number, title)
