import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claim.field.study.setup import Setup

sys.path.insert(0, str(Path(__file__).parent))  # for paper.py, under any import mode

from paper import EASY, PASSPHRASE


@pytest.fixture
def passphrase() -> str:
    return PASSPHRASE


@pytest.fixture
def library(tmp_path):
    pytest.importorskip("sqlcipher3", reason="needs SQLCipher")
    from claim.field.store.library import Library

    return Library(tmp_path / "studies", work=EASY)


@pytest.fixture
def opened(library) -> Iterator:
    """A study with a start person who named two others."""
    from claim.field.study import commands

    with library.create(Setup("Quiet title", budget=10, leaders=2), PASSPHRASE) as opened:
        ana = opened.run(lambda draft: commands.add_person(draft, "Ana Zubizarreta", is_start=True)).result
        opened.run(lambda draft: commands.start_survey(draft, ana, consent=True))
        for name in ("Benedikt Quattrocchi", "Çağla Ørsted"):
            opened.run(lambda draft, name=name: commands.name_new_contact(draft, ana, name))
        yield opened


@pytest.fixture
def command(library, monkeypatch):
    """Runs ``claim study`` with these words in the directory of the library."""
    from typer.testing import CliRunner

    from claim.cli.study import app
    from claim.field.store.library import Library

    monkeypatch.setenv("CLAIM_STUDIES", str(library.directory))
    monkeypatch.setenv("CLAIM_PASSPHRASE", PASSPHRASE)
    monkeypatch.setattr(Library.__init__, "__defaults__", (None, EASY))

    def run(*words: str, answer: str | None = None):
        result = CliRunner().invoke(app, list(words), input=answer)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    """Wrong passphrases wait; tests that look at it have a gate of their own."""
    cipher = sys.modules.get("claim.field.store.store")
    if cipher is not None:
        monkeypatch.setattr(cipher.GATE, "_sleep", lambda seconds: None)
