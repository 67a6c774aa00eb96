"""The package is light to import, and its names lead where they should."""

import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

import claim
from claim.errors import DISTRIBUTION

ROOT = Path(__file__).parent.parent
HEAVY = ("torch", "numba", "matplotlib", "scipy", "networkx")


def heavy_modules_after(code: str) -> list[str]:
    program = f"import sys\n{code}\nprint('loaded:', *[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize(
    "code",
    [
        "import claim",
        "import claim.cli",
        "import claim, gymnasium; gymnasium.spec('claim/NetworkDiscovery-v0')",
        "import claim.cli\ntry:\n    claim.cli.main(['--help'])\nexcept SystemExit:\n    pass",
        "import claim.cli\ntry:\n    claim.cli.main(['evaluate', '--help'])\nexcept SystemExit:\n    pass",
    ],
)
def test_importing_and_helping_load_nothing_heavy(code):
    assert heavy_modules_after(code) == []


def test_every_name_of_the_package_is_there():
    for name in claim.__all__:
        assert getattr(claim, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = claim.nothing


def test_the_readme_lines_work_from_python():
    network = claim.load("zone2")
    chosen = claim.select(network, k=3, samples=100)
    reach = claim.influence(network, chosen.leaders, samples=1000)
    assert len(chosen.leaders) == 3
    assert reach.mean == pytest.approx(chosen.influence, abs=5 * (reach.stderr + chosen.stderr))


@pytest.mark.parametrize("order", ["import claim, gymnasium", "import gymnasium, claim"])
def test_the_environment_is_registered_by_importing_the_package(order):
    code = f"{order}\nprint(gymnasium.spec('claim/NetworkDiscovery-v0').id)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "claim/NetworkDiscovery-v0"


def test_python_m_claim_is_the_command_line():
    done = subprocess.run([sys.executable, "-m", "claim", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"claim {claim.__version__}\n"


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_demo_trains_anew_and_reports_what_it_trained_beside_chance():
    command = ["make", "-n", "--no-print-directory", "demo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    commands = [shlex.split(line) for line in done.stdout.replace("\\\n", " ").splitlines()]
    removal = commands.index(["rm", "-rf", "runs/demo-claim"])
    train, evaluate = commands[removal + 1 :]
    assert train[1] == "train"
    assert "--resume" not in train
    assert train[train.index("--out") + 1] == "runs/demo-claim"
    policies = evaluate[evaluate.index("--policies") + 1].split(",")
    assert {"random", "claim", "runs/demo-claim/policy.json"} <= set(policies)
    assert evaluate[evaluate.index("--out") + 1] == "runs/demo"  # the report's path is the last thing the demo prints


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(("target", "extras"), [("demo", "learning"), ("setup", "learning,app,ray,dev")])
def test_the_demo_installs_no_more_than_it_needs(target, extras):
    command = ["make", "-n", "--no-print-directory", "VENV=nowhere", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.findall(r"--editable (\S+)", done.stdout) == [f'".[{extras}]"']


def test_the_checks_on_other_machines_call_what_is_there():
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    workflows = [yaml.safe_load(path.read_bytes()) for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    jobs = [job for workflow in workflows for job in workflow["jobs"].values()]
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    commands.append((ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    words = [word for command in commands for word in shlex.split(command, comments=True)]
    targets = {after for word, after in pairwise(words) if word == "make"}
    rules = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert targets
    assert targets <= set(rules)
    files = {word for word in words if word.startswith(("tests/", "tools/"))}
    assert files
    assert not [name for name in files if not list(ROOT.glob(name))]


def test_every_shipped_file_can_be_made_again_by_one_tool():
    tool = runpy.run_path(str(ROOT / "tools" / "make_shipped.py"))
    files = {path.stem for path in tool["POLICIES"].glob("*.json")}
    files |= {f"foresight.{path.stem}" for path in tool["FORESIGHT"].glob("*.json")}
    first = {
        f"foresight.{name}" for name in ("all", "animal", "retweet", "zones", "free")
    }  # models of the first version
    made = {name for name in files - first if not name.startswith("shaped-dqn.")}  # whose training is gone, too
    assert made <= set(tool["NAMES"])
    assert tool["SCOUT"].exists()


def test_hints_to_install_name_this_distribution_and_an_extra_it_has():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    required = [each for extra in project["optional-dependencies"].values() for each in extra]
    assert not [each for each in required if re.match(r"claim\b(?!-)", each)]  # another project
    extras, found = set(project["optional-dependencies"]), set()
    pages = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"pip install ['\"]?claim(\[|\b(?!-))", text), page
        found |= set(re.findall(r"install_command\(['\"](\w+)['\"]\)", text))
        for group in re.findall(rf"{DISTRIBUTION}\[([\w,]+)\]", text):
            found |= set(group.split(","))
    assert {"learning", "app", "ray"} <= found <= extras
