"""``python -m claim``."""

from claim.cli import main

main()
