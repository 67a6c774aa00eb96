"""The server listens on this machine only and says where."""

import socket
import threading

import pytest

from claim.errors import InputError
from claim.field.web.app import _open_again, address_of, bound


def test_it_binds_to_loopback_on_a_free_port():
    with bound(0) as door:
        host, port = door.getsockname()
        assert host == "127.0.0.1"
        assert port > 0
        with pytest.raises(InputError, match="--port"), bound(port):
            pass


@pytest.mark.parametrize("port", [-1, 65536])
def test_odd_ports_are_refused(port):
    with pytest.raises(InputError, match="port"), bound(port):
        pass


def test_the_address_carries_the_token(desk):
    assert address_of(desk) == f"http://127.0.0.1:{desk.port}/launch?token={desk.launch_token}"
    assert socket.gethostbyname("127.0.0.1") == "127.0.0.1"


def test_a_new_address_is_given_out_when_it_is_asked_for(desk):
    done, asked, addresses = threading.Event(), iter([False, True]), [address_of(desk)]

    def opened(address: str) -> None:
        addresses.append(address)
        done.set()

    _open_again(desk, done, lambda: next(asked), opened)
    assert addresses[1] == address_of(desk) != addresses[0]


def test_the_verb_has_the_options():
    import typer
    from typer.testing import CliRunner

    from claim.cli.app import app

    verb = typer.Typer()
    verb.command()(app)
    shown = CliRunner().invoke(verb, ["--help"], env={"COLUMNS": "120", "NO_COLOR": "1"}).output
    assert all(option in shown for option in ("--port", "--no-browser", "--rehearsal"))
