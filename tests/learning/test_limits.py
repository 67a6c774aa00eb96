"""A wrong setting is refused by name before anything is trained."""

import re
from pathlib import Path

import pytest
from learning_cases import quick

from claim.errors import InputError
from claim.learning.config import RETIRED, VARIANTS, Config, parse_settings, variant_named

WRONG = (
    "hidden=0 hidden=-3 hidden=none batch_size=0 goal=foo curriculum=foo curriculum=literal features=xx "
    "hindsight=past hindsight=future learning_rate=nan learning_rate=-1 learning_rate=0 gamma=7 "
    "layers=8 layers=8,0 layers=8,4,2 "
    "validate_every=0 validation_starts=0 dimensions=0 budget=0 start=0 leaders=0 p=2 p=inf buffer_size=0 clusters=0 "
    "goal=none tau=none tau=1.5 seed=-1 learning_starts=-1 exploration_decay=2 curriculum_weight=-1 variant=klaim"
)
RIGHT = "goal=input hindsight=none curriculum=none learning_starts=0 layers=8,4 p=0 shaping=false"


@pytest.mark.parametrize("setting", WRONG.split())
def test_wrong_values_are_refused_by_name(setting: str) -> None:
    name = setting.partition("=")[0]
    with pytest.raises(InputError, match=name) as refused:
        variant_named("claim", **parse_settings([setting]))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("setting", RIGHT.split())
def test_right_values_pass(setting: str) -> None:
    changes = parse_settings([setting])
    assert variant_named("claim", **changes).to_dict().items() >= changes.items()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_passes(variant: str) -> None:
    assert VARIANTS[variant].variant == quick(variant).variant == variant


@pytest.mark.parametrize("name", RETIRED)
def test_a_removed_setting_of_a_file_is_ignored_at_its_only_value_and_else_refused(name: str) -> None:
    data = quick().to_dict()
    assert Config.from_dict({**data, name: RETIRED[name]}) == quick()
    with pytest.raises(InputError, match=f"the setting {name} was removed and can only be {RETIRED[name]}, got other"):
        Config.from_dict({**data, name: "other"})


def test_the_page_on_training_shows_the_defaults() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "train.md").read_text(encoding="utf-8")
    table = page.split("## Change settings", 1)[1].split("\n## ", 1)[0]
    shown = parse_settings(["=".join(row) for row in re.findall(r"^\| `(\w+)` \| ([\w.-]+)", table, re.MULTILINE)])
    assert shown
    assert Config().to_dict().items() >= shown.items()
