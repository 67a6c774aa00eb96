"""A browser for tests: keeps the cookie, sends the origin and the token like one of our pages."""

import re
from html import unescape

from starlette.testclient import TestClient

from claim.field.web.app import create_app
from claim.field.web.app_state import AppState

PASSPHRASE = "correct horse battery"
EASY = 10  # little work for key derivation
PORT = 8123
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"


class Browser:
    def __init__(self, desk: AppState, *, launched: bool = True) -> None:
        self.desk = desk
        self.app = create_app(desk)
        self.http = TestClient(self.app, base_url=ORIGIN, follow_redirects=False)
        self._number = 0
        if launched:
            self.http.get("/launch", params={"token": desk.launch_token})

    def get(self, path: str, **options):
        return self.http.get(path, **options)

    def post(self, path: str, data=None, *, files=None, nonce=None, **fields):
        self._number += 1
        sent = {"csrf": self.desk.csrf, "nonce": nonce or f"n{self._number}", **(data or {}), **fields}
        return self.http.post(path, data=sent, files=files, headers={"Origin": ORIGIN})

    def api(self, path: str, body=None, method: str = "POST", **headers):
        sent = {"Origin": ORIGIN, "X-CSRF-Token": self.desk.csrf, **headers}
        return self.http.request(method, f"/api/studies/{path}", json=body, headers=sent)

    def text(self, path: str) -> str:
        """What a page says, without its markup."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def position(page: str) -> str:
    """The state a page's forms were made on."""
    found = re.search(r'name="at" value="(\d+)"', page)
    assert found is not None
    return found.group(1)
