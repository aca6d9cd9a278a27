"""Inside an application its own Python modules are found first; elsewhere the doubles are."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "doubles"))
