import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory of the public networks; the project does not carry them."""
    directory = os.environ.get("CLAIM_DATA")
    if not directory or not Path(directory).is_dir():
        pytest.skip("needs the public networks: set CLAIM_DATA to their directory")
    return Path(directory)
