"""The names that others import from callboard change only on purpose."""

from __future__ import annotations

import difflib

from needed import needs
from public_face import COMMAND, SNAPSHOT, described


@needs("qt")  # The face of Qt's hosts needs Qt.
def test_the_public_face_is_what_the_snapshot_says() -> None:
    kept, now = SNAPSHOT.read_text("utf-8"), described()
    changes = difflib.unified_diff(kept.splitlines(), now.splitlines(), "kept", "now", lineterm="")
    assert kept == now, "\n".join([f"if this is intended, run `{COMMAND}`:", *changes])
