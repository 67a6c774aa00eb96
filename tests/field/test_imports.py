"""The field assistant is built on the rest, and the rest knows nothing of it; its parts follow one path."""

import ast
from pathlib import Path

import pytest

import claim

ROOT = Path(claim.__file__).parent
VERBS = {"cli/study.py", "cli/study_file.py", "cli/app.py"}
OUTSIDE = [path for path in sorted(ROOT.rglob("*.py")) if "field" not in path.relative_to(ROOT).parts[:1]]
# Each part may use itself and those before it: request -> command -> events -> store -> view -> page, from the inside.
ORDER = ("study", "view", "store", "advice", "exchange", "web")
EARLY = {("study/commands.py", "advice")}  # a command checks that the rule of a study can be used


def imported(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            found |= {f"{node.module}.{each.name}" for each in node.names}
    return found


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def only_for_types(tree: ast.AST) -> set[str]:
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    return {name for each in blocks if ast.unparse(each.test) == "TYPE_CHECKING" for name in imported(each)}


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_but_its_verbs_imports_the_field_assistant(path):
    uses = {name for name in imported(parsed(path)) if f"{name}.".startswith("claim.field.")}
    assert not uses or path.relative_to(ROOT).as_posix() in VERBS


@pytest.mark.parametrize("part", ORDER)
def test_the_parts_follow_one_path(part):
    folder = ROOT / "field" / part
    later = ORDER[ORDER.index(part) + 1 :]
    for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]:
        name = path.relative_to(ROOT / "field").as_posix()
        names = imported(parsed(path)) - only_for_types(parsed(path))
        used = {each.split(".")[2] for each in names if each.startswith("claim.field.")}
        assert not {each for each in used if each in later and (name, each) not in EARLY}, name
