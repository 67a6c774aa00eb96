"""Honest comparison of survey policies: protocols, paired statistics, run folders and reports."""

from claim.evaluation.compare import Comparison, Difference, Row, compare

__all__ = ["Comparison", "Difference", "Row", "compare"]
