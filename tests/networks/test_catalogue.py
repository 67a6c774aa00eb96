import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from claim.errors import InputError
from claim.networks import catalogue, load
from claim.networks.catalogue import (
    KNOWN_NETWORKS,
    PUBLIC_NETWORKS,
    data_directories,
    expand,
    families,
    family_networks,
    find,
    locate,
    user_data_directory,
)

PUBLIC_NAMES = [known.name for known in PUBLIC_NETWORKS]


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_the_real_networks_are_those_of_the_catalogue(real_data: Path, name: str) -> None:
    known = find(name)
    network = load(name, data_dir=real_data)
    assert known.matches(network)
    assert network.checksum == known.checksum
    assert network.name == name
    assert network.labels == tuple(range(network.n))


def test_public_entries_are_complete() -> None:
    assert len(PUBLIC_NETWORKS) == 30
    for known in PUBLIC_NETWORKS:
        assert known.kind == "public"
        assert known.origin
        assert len(known.checksum or "") == 64
        if known.family == "villages":
            assert known.how_to_get in known.origin
        else:
            assert known.downloads
            assert known.how_to_get == f"claim networks fetch {known.name}"
    assert {known.name: known.start_seed for known in PUBLIC_NETWORKS if known.start_seed is not None} == {
        **dict.fromkeys(["israel", "damascus", "obama", "assad", "bhp"], 10),
        "kcs": 20,
    }


def test_no_two_networks_share_a_name() -> None:
    names = [known.name for known in KNOWN_NETWORKS]
    assert len(set(names)) == len(names)
    assert not set(names) & set(families())


def test_splits() -> None:
    assert [known.name for known in family_networks("retweet", "train")] == ["copen", "occupy"]
    assert [known.name for known in family_networks("animal", "test")] == ["bhp", "kcs"]
    assert len(family_networks("retweet")) == 6
    assert len(family_networks("villages", "train")) == len(family_networks("villages", "test")) == 10
    with pytest.raises(InputError, match=r"'fish' is no family .*retweet, animal"):
        family_networks("fish")


def test_names_alone_or_with_family_in_any_case() -> None:
    assert find("israel") is find("retweet/israel") is find("Israel")
    assert find("israel").address == "retweet/israel"
    with pytest.raises(InputError, match=r"'isreal' is no known network \(did you mean israel\?\)"):
        find("isreal")


def test_expand() -> None:
    assert expand(["animal"]) == ["bhp", "kcs"]
    assert expand(["animal:train", "my.csv", "kcs", "animal:test"]) == ["plj", "rob", "my.csv", "kcs", "bhp"]
    assert expand(["C:\\ties.csv", "retweet/israel"]) == ["C:\\ties.csv", "retweet/israel"]
    with pytest.raises(InputError, match="train or its test"):
        expand(["animal:validation"])


def test_data_directories(no_user_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if sys.platform not in ("win32", "darwin"):
        assert data_directories() == [no_user_data]
    user = user_data_directory()
    monkeypatch.setenv("CLAIM_DATA", str(tmp_path / "set"))
    assert data_directories() == [tmp_path / "set", user]
    assert data_directories(tmp_path / "given") == [tmp_path / "given", user]


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_DATA_HOME", "{set}/claim"),
        ("linux", None, "{home}/.local/share/claim"),
        ("darwin", None, "{home}/Library/Application Support/claim"),
        ("win32", "LOCALAPPDATA", "{set}/claim"),
        ("win32", None, "{home}/AppData/Local/claim"),
    ],
)
def test_user_data_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, variable: str | None, expected: str
) -> None:
    home, chosen = tmp_path / "home", tmp_path / "set"
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, str(chosen))
    assert user_data_directory() == Path(expected.format(home=home, set=chosen))


@pytest.mark.parametrize(
    "place", ["retweet/israel.edges", "israel.edges", "retweet/israel.edges.gz", "israel.edges.gz"]
)
def test_where_files_are_looked_for(no_user_data: Path, tmp_path: Path, place: str) -> None:
    path = tmp_path / "data" / place
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(b"0 1\n") if path.suffix == ".gz" else b"0 1\n")
    assert locate(find("israel"), tmp_path / "data") == path
    assert load("israel", data_dir=tmp_path / "data").name == "israel"
    assert not find("israel").matches(load("retweet/israel", data_dir=tmp_path / "data"))
    present = [known.name for known in KNOWN_NETWORKS if locate(known, tmp_path / "data")]
    assert present == ["israel"]


def test_the_users_own_directory_comes_last(no_user_data: Path, tmp_path: Path) -> None:
    path = user_data_directory() / "animal" / "bhp.edges"
    path.parent.mkdir(parents=True)
    path.write_text("0 1\n1 2\n")
    assert load("bhp").m == 2
    assert load("bhp", data_dir=tmp_path).m == 2
    (tmp_path / "bhp.edges").write_text("0 1\n")
    assert load("bhp", data_dir=tmp_path).m == 1


def test_a_known_network_that_is_not_there(no_user_data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load("retweet/israel", data_dir=tmp_path)
    message = str(caught.value)
    assert message.isprintable()
    assert str(tmp_path) in message
    assert str(user_data_directory()) in message
    assert message.endswith("how to get it: claim networks fetch israel")


def test_files_are_loaded_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ties.csv"
    path.write_text("source,target,p\na,b,0.5\n")
    assert load(path).name == "ties"
    assert load(str(path), directed=True).directed
    monkeypatch.chdir(tmp_path)
    assert load("ties.csv").n == 2


@pytest.mark.parametrize("name", ["nowhere.csv", "no\0where", "x" * 5000, "\x1b[31m", ""])
def test_neither_a_name_nor_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        load(name)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200


def test_close_matches_are_offered() -> None:
    with pytest.raises(InputError, match="did you mean damascus"):
        load("damscus")


def test_importing_networks_is_light() -> None:
    heavy = ["numba", "torch", "matplotlib", "scipy", "networkx"]
    code = f"import sys, claim.networks; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_catalogue_is_plain_data() -> None:
    assert catalogue.find("kcs").people == 1218
    with pytest.raises(AttributeError):
        catalogue.find("kcs").people = 1  # type: ignore[misc]
