"""Labels for text from outside. They never interpret formatting in the text, and shorten text that
doesn't fit."""

from __future__ import annotations

from qtpy.QtCore import QEvent, QSize, Qt
from qtpy.QtGui import QPainter, QPaintEvent, QPalette
from qtpy.QtWidgets import QLabel, QSizePolicy, QWidget

from callboard_ui.shown_text import one_line
from callboard_ui.style_sheet import KIND, is_followed, polish
from callboard_ui.theme import Kind, color, palette_of


class Tinted(QLabel):
    """A label that updates the color for its ``kind`` when the host's palette changes."""

    kind: Kind | None = None

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # A parent receives this event before its children have the new palette, but this label
        # already has it.
        if event.type() == QEvent.Type.PaletteChange and self.kind is not None:
            tint(self, self.kind)


def plain(parent: QWidget | None = None, *, wrap: bool = False) -> Tinted:
    """Return an empty label that shows text verbatim."""
    label = Tinted(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wrap)
    return label


class Elided(Tinted):
    """One line, shortened in the middle or at its end. The tool tip shows the whole text."""

    def __init__(
        self,
        parent: QWidget | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_text(self, text: str, tip: str | None = None) -> None:
        """Show ``text``. ``tip`` is the plain-text tooltip, by default ``text`` itself."""
        shown, tip = one_line(text), as_tip(text if tip is None else tip)
        if shown != self.text():
            self.setText(shown)
        if tip != self.toolTip():
            self.setToolTip(tip)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().height(), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        text = self.fontMetrics().elidedText(self.text(), self._mode, self.width())
        role = self.foregroundRole()
        self.style().drawItemText(
            painter,
            self.rect(),
            int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft),
            self.palette(),
            self.isEnabled(),
            text,
            role,
        )


def as_tip(text: str) -> str:
    """Return a tool tip that shows ``text`` verbatim. Without this, Qt would interpret some texts
    as HTML."""
    if not text:
        return ""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    lines = escaped.replace("\n", "<br>")
    return f"<p>{lines}</p>"


def tint(label: Tinted, kind: Kind) -> None:
    """Color the label's text and nothing else."""
    known = label.property(KIND) == kind
    label.kind = kind
    label.setProperty(KIND, kind)
    if is_followed(label):
        if not known:  # Polishing changes the palette, which leads here again.
            polish(label)
        return
    wanted = color(palette_of(label), kind)
    palette = QPalette(label.palette())
    if palette.color(QPalette.ColorRole.WindowText) != wanted:
        palette.setColor(QPalette.ColorRole.WindowText, wanted)
        label.setPalette(palette)
