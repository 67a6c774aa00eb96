"""A wrong setting is refused by name before anything is trained."""

import json
import re
from pathlib import Path

import pytest
from learning_cases import quick, quick_paper

from claim.errors import InputError
from claim.learning.api import settings_of
from claim.learning.config import VARIANTS, Config, Preset, parse_settings
from claim.learning.paper import Settings

WRONG: dict[Preset | None, str] = {
    None: "hidden=0 hidden=-3 hidden=none batch_size=0 goal=foo curriculum=maybe hindsight=final learning_rate=nan "
    "learning_rate=-1 learning_rate=0 layers=8 layers=8,0 layers=8,4,2 validate_every=0 validation_starts=0 "
    "dimensions=0 budget=0 budget=2.5 start=0 leaders=0 p=2 p=inf clusters=0 averaging=1.5 seed=-1 goals=0 updates=0 "
    "exploration_eps=2 cross_entropy=-1 curriculum_weight=-1 curriculum_decay=1.1 gamma=0.9 variant=claim",
    "paper": "variant=klaim gamma=7 buffer_size=0 target_interval=0 batch_size=-1 exploration_decay=2 "
    "exploration_initial_eps=1.1 exploration_final_eps=-0.1 curriculum_candidates=0 layers=4 weight_decay=-1 p=nan "
    "goal=true averaging=0.9",
}
RIGHT: dict[Preset | None, str] = {
    None: "goal=false hindsight=false curriculum=true every_choice=False layers=8,4 p=0 averaging=0 seed=0",
    "paper": "gamma=1 layers=8,4 curriculum_weight=0 weight_decay=0 buffer_size=1",
}


def cases(settings: dict[Preset | None, str]) -> list[tuple[Preset | None, str]]:
    return [(preset, setting) for preset, texts in settings.items() for setting in texts.split()]


@pytest.mark.parametrize(("preset", "setting"), cases(WRONG))
def test_wrong_values_are_refused_by_name(preset: Preset | None, setting: str) -> None:
    name = setting.partition("=")[0]
    with pytest.raises(InputError, match=name) as refused:
        settings_of("claim", preset, **parse_settings([setting], preset))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("preset", "setting"), cases(RIGHT))
def test_right_values_pass(preset: Preset | None, setting: str) -> None:
    changes = parse_settings([setting], preset)
    assert settings_of("claim", preset, **changes).to_dict().items() >= changes.items()


@pytest.mark.parametrize("preset", VARIANTS)
def test_every_variant_passes(preset: Preset | None) -> None:
    for variant in VARIANTS[preset]:
        assert settings_of(variant, preset).variant == variant


@pytest.mark.parametrize(
    ("variant", "preset", "changes", "message"),
    [
        ("her", None, {}, "the variant must be one of claim, got her; it is trained with --preset paper"),
        ("klaim", None, {}, "the variant must be one of claim, got klaim"),
        ("klaim", "paper", {}, "the variant must be one of geometric-dqn, goal-dqn, her, claim, got klaim"),
        ("claim", "papers", {}, "the preset must be paper, or none; got papers"),
        ("claim", None, {"speed": 3}, "train has no setting 'speed'"),
        ("claim", "paper", {"hindsight": True}, "train has no setting 'hindsight'"),
        ("claim", None, {"budget": 2.5}, "budget must be a whole number, got 2.5"),
        ("claim", None, {"goal": 3}, "goal must be true or false, got 3"),
        ("claim", "paper", {"layers": (8.0, 4)}, r"layers must be 2 whole numbers of at least 1, got (8.0, 4)"),
    ],
)
def test_wrong_settings_are_one_line(variant: str, preset: Preset, changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as refused:
        settings_of(variant, preset, **changes)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


def test_settings_are_parsed_in_their_type_and_written_back() -> None:
    assert parse_settings(["hidden=16", "layers=8,4", "goal=true", "averaging=0.5"]) == {
        "hidden": 16,
        "layers": (8, 4),
        "goal": True,
        "averaging": 0.5,
    }
    assert Config.from_dict(json.loads(json.dumps(quick().to_dict()))) == quick()
    assert quick_paper().to_dict()["layers"] == (16, 8)


def test_the_page_on_training_shows_the_defaults() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "train.md").read_text(encoding="utf-8")
    table = page.split("## Change settings", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", table, re.MULTILINE)
    ours = [f"{name}={value}" for name, value, _ in rows if value != "–"]
    papers = [f"{name}={value}" for name, _, value in rows if re.match(r"[\d.]", value)]
    assert len(ours) > 15 < len(papers) + 5
    assert Config().to_dict().items() >= parse_settings(ours).items()
    assert Settings().to_dict().items() >= parse_settings(papers, "paper").items()


def test_the_settings_of_the_paper_are_its_numbers_and_those_of_its_public_code() -> None:
    of_the_paper = {"budget": 5, "start": 5, "leaders": 10, "p": 0.1, "curriculum_candidates": 3}
    of_the_code = {"gamma": 0.99, "buffer_size": 4000, "batch_size": 100, "exploration_final_eps": 0.01}
    of_the_code |= {"exploration_initial_eps": 0.1, "exploration_decay": 0.999, "clusters": 100, "layers": (400, 300)}
    assert Settings().to_dict().items() >= (of_the_paper | of_the_code).items()
