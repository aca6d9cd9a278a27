"""The gateway, on a free port."""

from __future__ import annotations

import sys

from callboard_programs.cli import main

sys.exit(main(["gateway", "--port", "0"]))
