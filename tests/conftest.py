import os
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

# One thread each: the workers of pytest-xdist and the programs that tests start have the cores to themselves already,
# and threads that wait for each other spin, which makes everything several times slower on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell that runs the tests in the background has them ignore Ctrl-C, and the programs they start would ignore it too.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Where only the core is installed, files that import more than it are left out, and tests with the mark `needs` skipped
FILES = {
    "torch": [
        "cli/test_explain_verb.py",
        "evaluation/test_policy_names.py",
        "experiments/test_command.py",
        "experiments/test_paper.py",
        "learning",
    ],
    "lightgbm": ["selection/test_foresight_trees.py"],
    "psutil": ["experiments/test_cluster.py", "experiments/test_command.py", "experiments/test_sweep.py"],
    "rapidfuzz": ["field"],
}
collect_ignore = [path for module, paths in FILES.items() if find_spec(module) is None for path in paths]


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        pytest.importorskip(marker.args[0])


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory of the public networks; the project does not carry them."""
    directory = os.environ.get("CLAIM_DATA")
    if not directory or not Path(directory).is_dir():
        pytest.skip("needs the public networks: set CLAIM_DATA to their directory")
    return Path(directory)
