"""``python -m claim.cli``."""

from claim.cli import main

main()
