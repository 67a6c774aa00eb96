import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI")
pytest.importorskip("jinja2", reason="needs Jinja2")
if not (find_spec("httpx2") or find_spec("httpx")):
    pytest.skip("needs httpx2", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).parent))  # for desk_client.py, under any import mode

from desk_client import EASY, PASSPHRASE, PORT, Browser

from claim.field.store.library import Library
from claim.field.study.setup import Setup
from claim.field.web.app_state import AppState


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _no_connections(monkeypatch):
    """Nothing of this ever connects to anywhere."""

    def refuse(_, address):
        raise AssertionError(f"a connection to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(tmp_path, clock):
    made = AppState(Library(tmp_path / "studies", work=EASY), port=PORT, clock=clock)
    yield made
    made.shut_down()


@pytest.fixture
def browser(desk) -> Browser:
    return Browser(desk)


@pytest.fixture
def study(desk) -> str:
    """A real study, open; its id."""
    return desk.create(Setup("Quiet centre", budget=10, leaders=2, consent_text="I agree."), PASSPHRASE)


@pytest.fixture
def base(study) -> str:
    return f"/s/{study}"
