"""A setting that makes no sense is told by name before anything is trained."""

import pytest
from learning_cases import quick

from claim.errors import InputError
from claim.learning.config import VARIANTS, checked, parse_settings, variant_named

WRONG = (
    "hidden=0 hidden=-3 hidden=none batch_size=0 returns=foo returns=none goal=foo curriculum=foo features=xx loss=x "
    "hindsight=past learning_rate=nan learning_rate=-1 learning_rate=0 gamma=7 layers=8 layers=8,0 layers=8,4,2 "
    "validate_every=0 validation_starts=0 dimensions=0 budget=0 start=0 leaders=0 p=2 p=inf buffer_size=0 clusters=0 "
    "goal=none tau=none tau=1.5 seed=-1 learning_starts=-1 exploration_decay=2 curriculum_weight=-1 variant=klaim"
)
RIGHT = "goal=input hindsight=none curriculum=literal returns=bootstrap learning_starts=0 layers=8,4 p=0 double=true"


@pytest.mark.parametrize("setting", WRONG.split())
def test_wrong_values_are_told_by_name(setting: str) -> None:
    name = setting.partition("=")[0]
    with pytest.raises(InputError, match=name) as told:
        checked(variant_named("claim", **parse_settings([setting])))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("setting", RIGHT.split())
def test_right_values_pass(setting: str) -> None:
    config = variant_named("claim", **parse_settings([setting]))
    assert checked(config) is config


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_passes(variant: str) -> None:
    checked(VARIANTS[variant])
    checked(quick(variant))
