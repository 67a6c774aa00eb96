"""``claim networks convert``: the same network in a form that is mapped."""

from pathlib import Path

from claim.networks import load


def test_a_network_is_converted(claim, tmp_path: Path):
    ties = tmp_path / "mine.edges"
    ties.write_text("10 20\n20 30\n20 30\n")
    done = claim("networks", "convert", str(ties), str(tmp_path / "mine.claimnet"))
    assert done.returncode == 0, done.stderr
    assert "3 people, 2 edges" in done.stderr
    assert load(tmp_path / "mine.claimnet") == load(ties)
    assert sorted(each.name for each in tmp_path.glob("*mine*")) == ["mine.claimnet", "mine.edges"]
    for target, problem in (("mine.bin", "must end in .claimnet"), ("no/mine.claimnet", "there is no folder")):
        refused = claim("networks", "convert", str(ties), str(tmp_path / target))
        assert refused.returncode == 2
        assert problem in refused.stderr
    refused = claim("select", "--network", str(tmp_path / "mine.claimnet"), "--directed")
    assert refused.returncode == 2
