"""Palettes as the hosts have them, and pictures in small files."""

from __future__ import annotations

from pathlib import Path

from qtpy.QtCore import Qt
from qtpy.QtGui import QColor, QImage, QPalette
from qtpy.QtWidgets import QWidget

#: Text, window, lists, buttons and what is chosen.
HOSTS = {
    "maya": ("#bbbbbb", "#444444", "#2b2b2b", "#5d5d5d", "#5285a6"),
    "max-dark": ("#e6e6e6", "#444444", "#393939", "#505050", "#4a90c4"),
    "max-light": ("#1a1a1a", "#c8c8c8", "#dcdcdc", "#d0d0d0", "#3f7fb0"),
    "houdini": ("#cccccc", "#3a3a3a", "#131313", "#4a4a4a", "#b8802a"),
    "blender": ("#e6e6e6", "#303030", "#1d1d1d", "#545454", "#4772b3"),
}


def palette(host: str) -> QPalette:
    """Much like that host's own colors."""
    text, window, base, button, chosen = map(QColor, HOSTS[host])
    roles = QPalette.ColorRole
    made = QPalette(button, window)
    for role, color in (
        (roles.Window, window),
        (roles.WindowText, text),
        (roles.Base, base),
        (roles.AlternateBase, window),
        (roles.Text, text),
        (roles.Button, button),
        (roles.ButtonText, text),
        (roles.ToolTipBase, base),
        (roles.ToolTipText, text),
        (roles.PlaceholderText, QColor("#8c8c8c")),
        (roles.Highlight, chosen),
        (roles.HighlightedText, QColor("#ffffff")),
    ):
        made.setColor(role, color)
    pale = QColor("#858585" if text.lightness() > window.lightness() else "#7a7a7a")
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, pale)
    return made


def save(widget: QWidget, path: Path) -> None:
    """Fewer shades are enough, and make small files. Raises OSError."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    bits = image.bits()
    if hasattr(bits, "setsize"):
        bits.setsize(image.sizeInBytes())
    # The upper five bits of each channel, and their copy below, so that white stays white.
    table = bytes((value & 0xF8) | (value >> 5) for value in range(256))
    few = bytes(bits).translate(table)
    made = QImage(
        few, image.width(), image.height(), image.bytesPerLine(), QImage.Format.Format_RGB32
    )
    made = made.convertToFormat(
        QImage.Format.Format_Indexed8, Qt.ImageConversionFlag.ThresholdDither
    )
    if not made.save(str(path), "PNG", 0):
        raise OSError(f"{path} could not be written")
