"""A real server in a process of its own, and a page that notes whatever should not happen."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PASSPHRASE = "several words are best"
PATIENCE = 180  # seconds; only what hangs takes as long, on a busy machine too
START = "import typer; from claim.cli.app import app; typer.run(app)"
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)


class Server:
    """``claim app`` in a process of its own."""

    def __init__(self, directory: Path, *options: str, **variables: str) -> None:
        environment = {**os.environ, "CLAIM_STUDIES": str(directory), "PYTHONUNBUFFERED": "1", **variables}
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, "--no-browser", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self.address = self._address()
        self.origin = self.address.partition("/launch")[0]

    def _address(self) -> str:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline().strip() if ready else ""
        if not line.startswith("http://127.0.0.1:"):
            self.kill()
            raise AssertionError(f"the server did not start: {line} {self.process.stderr.read()}")
        return line

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> str:
        """Ctrl-C; gives what it wrote to standard error."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.out, problems = self.process.communicate(timeout=PATIENCE)
            return problems
        except subprocess.TimeoutExpired:
            self.kill()
            raise


class Watched:
    """A page that notes whatever should not happen."""

    def __init__(self, browser, origin: str, size: str, **options) -> None:
        self.context = browser.new_context(viewport=SIZES[size], accept_downloads=True, locale="en-US", **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.size = size
        self.troubles: list[str] = []
        self.page.on("console", lambda message: self._note(message.type in ("error", "warning"), message.text))
        self.page.on("pageerror", lambda error: self._note(True, str(error)))
        self.page.on("request", lambda request: self._note(not request.url.startswith(origin), request.url))

    def _note(self, bad: bool, what: str) -> None:
        if bad:
            self.troubles.append(what)

    def shot(self, name: str) -> None:
        """Renew a screenshot of the documentation, if the folder CLAIM_SCREENSHOTS has it."""
        wanted = os.environ.get("CLAIM_SCREENSHOTS")
        path = Path(wanted or "") / f"{name}-{self.size}.png"
        if not wanted or not path.exists():
            return
        from PIL import Image

        self.page.screenshot(path=path)
        with Image.open(path) as picture:
            picture.convert("RGB").quantize(64).save(path, optimize=True)


def problems(page) -> list[str]:
    """What axe-core finds on a page, and whether it is wider than the window."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    violations = Axe().run(page, options=options).response["violations"]
    found = [f"{each['id']}: {node['html'][:200]}" for each in violations for node in each["nodes"]]
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return [*found, f"too wide: by {wide} pixels"] if wide > 0 else found


def until(condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
