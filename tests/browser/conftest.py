"""A real browser and a real server; skipped with a clear word where there is no Chromium or no Playwright."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for real_browser.py, under any import mode

from real_browser import FLAGS, Server, Watched


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    pytest.importorskip("fastapi", reason="needs FastAPI")
    pytest.importorskip("sqlcipher3", reason="needs SQLCipher")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    found = os.environ.get("CLAIM_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("needs Chromium: install it, or set CLAIM_CHROMIUM to the program")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS.split())
        browser.playwright, browser.program = playwright, found  # for tests that start one of their own
        yield browser
        browser.close()


@pytest.fixture
def studies(tmp_path) -> Path:
    return tmp_path / "studies"


@pytest.fixture
def server(studies, chromium) -> Iterator[Server]:
    started = Server(studies)
    yield started
    told = started.stop()
    assert "Traceback" not in told
    assert "Zubizarreta" not in told


@pytest.fixture(params=["desktop", pytest.param("phone", marks=pytest.mark.slow)])
def watched(request, chromium, server) -> Iterator[Watched]:
    made = Watched(chromium, server.origin, request.param)
    yield made
    made.context.close()
    assert made.troubles == []
