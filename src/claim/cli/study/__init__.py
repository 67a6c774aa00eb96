"""``claim study``: a study without the web page, one step a command; names stay in the encrypted file."""

from claim.cli.study import begin, exchange, file, leading, log, same, surveys
from claim.cli.study.shared import app

__all__ = ["app", "begin", "exchange", "file", "leading", "log", "same", "surveys"]
