"""Firefox over WebDriver BiDi, as far as the walk needs it: any installed Firefox, no driver program."""

import json
import os
import re
import select
import shutil
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

from real_browser import PATIENCE

KEYS = {"Enter": "\ue007", "Space": " ", "ArrowRight": "\ue014"}
PREFERENCES = """
user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("intl.accept_languages", "en-US");
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("remote.active-protocols", 1);
"""


def program() -> str | None:
    """The Firefox of this machine."""
    return os.environ.get("CLAIM_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """One window; console errors and requests to other hosts are noted in ``troubles``."""

    def __init__(self, profile: Path, origin: str, width: int, height: int) -> None:
        from websockets.sync.client import connect

        profile.mkdir()
        (profile / "user.js").write_text(PREFERENCES)
        command = [program(), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.troubles: list[str] = []
        self._origin, self._number = origin, 0
        self._open = ExitStack()
        try:
            opening = connect(f"{self._address()}/session", max_size=None, open_timeout=PATIENCE)
            self._socket = self._open.enter_context(opening)
            self.send("session.new", capabilities={})
            self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
            self._window = self.send("browsingContext.create", type="window")["context"]  # the first has no focus
            size = {"width": width, "height": height}
            self.send("browsingContext.setViewport", context=self._window, viewport=size)
        except BaseException:
            self.close()
            raise

    def _address(self) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            ready, _, _ = select.select([self._process.stderr], [], [], 1)
            line = self._process.stderr.readline() if ready else ""
            if found := re.search(r"WebDriver BiDi listening on (\S+)", line):
                return found[1]
        raise AssertionError("Firefox did not start")

    def send(self, method: str, **parameters) -> dict:
        """Run a command; returns its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while (message := json.loads(self._socket.recv(PATIENCE))).get("id") != self._number:
            self._note(message)
        assert message["type"] == "success", message
        return message["result"]

    def _note(self, message: dict) -> None:
        said = message.get("params", {})
        if message.get("method") == "log.entryAdded" and said["level"] in ("error", "warn"):
            self.troubles.append(said["text"])
        address = said.get("request", {}).get("url", self._origin)
        if not address.startswith((self._origin, "about:", "data:", "blob:")):
            self.troubles.append(address)

    def goto(self, address: str) -> None:
        self.send("browsingContext.navigate", context=self._window, url=address, wait="complete")

    def js(self, expression: str):
        """The value of an expression: a text, a number, a truth value or None."""
        target = {"context": self._window}
        done = self.send("script.evaluate", expression=expression, target=target, awaitPromise=True)
        assert done["type"] == "success", done
        return done["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression holds; a page that is being left counts as not yet."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if self.js(f"document.readyState === 'complete' && Boolean({expression})"):
                    return
            except AssertionError:
                pass
            time.sleep(0.02)
        raise AssertionError(f"{expression} did not hold in time, at {self.js('location.pathname')}")

    def see(self, text: str) -> None:
        """Wait for a text on the page."""
        self.until(f"document.body.innerText.includes({json.dumps(text)})")

    def press(self, *keys: str) -> None:
        """Press keys one after the other: names of :data:`KEYS`, or characters."""
        self._act("key", [self._key(kind, key) for key in keys for kind in ("keyDown", "keyUp")])

    def _key(self, kind: str, key: str) -> dict:
        return {"type": kind, "value": KEYS.get(key, key)}

    def fill(self, selector: str, text: str) -> None:
        """Type into a field that is empty."""
        self.until(f"document.querySelector({json.dumps(selector)})")
        self.js(f"document.querySelector({json.dumps(selector)}).focus()")
        self.press(*text)

    def click(self, selector: str) -> None:
        """Click in the middle of an element."""
        self.until(f"document.querySelector({json.dumps(selector)})")
        element = f"document.querySelector({json.dumps(selector)})"
        self.js(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        box = json.loads(self.js(f"JSON.stringify({element}.getClientRects()[0])"))  # the first line, if it has several
        self.click_at(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def click_at(self, x: float, y: float) -> None:
        moves = {"type": "pointerMove", "x": round(x), "y": round(y)}
        self._act("pointer", [moves, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}])

    def _act(self, kind: str, actions: list[dict]) -> None:
        self.send(
            "input.performActions", context=self._window, actions=[{"type": kind, "id": kind, "actions": actions}]
        )

    def close(self) -> None:
        self._open.close()
        self._process.terminate()
        self._process.wait(PATIENCE)
        self._process.stderr.close()
