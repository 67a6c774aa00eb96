"""Which signals speak for a class, and how the answers so far change that: one small table of weights."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from claim.discovery.policies.scout.signals import CLASS, STUDY
from claim.networks.network import FloatArray

WEIGHTS = "weights.json"


@dataclass(frozen=True)
class Weights:
    """``table`` has a row for each class signal: its weight in a middling study, and what each study signal adds."""

    class_centre: FloatArray
    class_scale: FloatArray
    study_centre: FloatArray
    study_scale: FloatArray
    table: FloatArray

    def learnt(self, study: FloatArray) -> FloatArray:
        """The weight of each class signal in a study whose answers look like this."""
        around = (study - self.study_centre) / self.study_scale
        learnt: FloatArray = self.table @ np.concatenate([[1.0], around])
        return learnt

    def parts(self, study: FloatArray, classes: FloatArray) -> FloatArray:
        """What each signal adds to the score of each class: the logarithm of what a survey should bring."""
        around = (classes - self.class_centre) / self.class_scale
        parts: FloatArray = around * self.learnt(study)
        return parts

    def to_json(self) -> str:
        """The text of the file that is shipped."""
        fields = {name: np.round(values, 5).tolist() for name, values in vars(self).items()}
        return json.dumps({"signals of classes": CLASS, "signals of studies": STUDY, **fields}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Weights":
        """The weights of such a file."""
        data = json.loads(text)
        if tuple(data.pop("signals of classes")) != CLASS or tuple(data.pop("signals of studies")) != STUDY:
            raise ValueError("these weights were fitted to other signals")
        return cls(**{name: np.array(values) for name, values in data.items()})


@cache
def shipped_weights() -> Weights:
    """The weights that come with the package; ``python -m claim.evaluation.scout_training`` makes them again."""
    return Weights.from_json(files(__package__).joinpath(WEIGHTS).read_text())
