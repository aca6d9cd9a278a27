"""Headless Chromium, through Playwright. Skips the test if either isn't installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from e2e.client_environments import python_with
from needed import need

PLAYWRIGHT = "playwright==1.65.2"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield the browser."""
    need("chromium")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run(
        [python_with(PLAYWRIGHT), "-c", asked], capture_output=True, text=True, check=True
    ).stdout.strip()
    # These packages were installed for this version of Python, which can therefore use them. They
    # include none of ours.
    sys.path.append(packages)
    from playwright._impl._driver import compute_driver_executable
    from playwright.sync_api import sync_playwright

    node = compute_driver_executable()[0]
    started = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    if started.returncode != 0:
        pytest.skip(f"Playwright's Node doesn't start: {started.stderr.strip()}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
