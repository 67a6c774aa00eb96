"""The field assistant: a study as a fold over an event log, kept in an encrypted file on the team's own machine."""

from claim.field.study.setup import DEFAULT_POLICY, Setup
from claim.field.study.study import Person, Study, Tie

__all__ = ["DEFAULT_POLICY", "Person", "Setup", "Study", "Tie"]
