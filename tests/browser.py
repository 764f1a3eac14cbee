"""Finds the browser for the page's tests: the system's Chromium, or the one Playwright fetched.

Run as: python tests/browser.py (exit code 1 where there is none)
"""

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, Playwright, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# Quiet: no calls home. As root Chromium runs only without its sandbox.
_FLAGS = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


def executable(playwright: Playwright) -> str | None:
    own = playwright.chromium.executable_path
    return next(filter(None, map(shutil.which, _NAMES)), own if Path(own).exists() else None)


def launch(playwright: Playwright) -> Browser:
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    flags = [*_FLAGS, "--no-sandbox"] if root else _FLAGS
    return playwright.chromium.launch(executable_path=executable(playwright), args=flags)


if __name__ == "__main__":
    with sync_playwright() as found:
        sys.exit(0 if executable(found) else 1)
