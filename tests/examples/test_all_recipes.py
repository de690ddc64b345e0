"""Every recipe is listed, passes all checks that need no input, and is run by some test."""

import re
from pathlib import Path

import pytest

from curator_core.cli import main

ROOT = Path(__file__).resolve().parents[2]
RECIPES = sorted(path.relative_to(ROOT / "examples") for path in (ROOT / "examples").glob("*/*.yaml"))


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_a_recipe_is_listed_and_valid(recipe, tmp_path, capsys):
    assert f"]({recipe.as_posix()})" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    text = (ROOT / "examples" / recipe).read_text(encoding="utf-8")
    names = sorted(set(re.findall(r"\$\{(\w+)\}", text)))  # those with a default, ${NAME:-3}, need none
    settings = [f"--set={name}={'http://localhost/v1' if name == 'ENDPOINT' else tmp_path}" for name in names]
    status = main(["validate", "--no-inputs", str(ROOT / "examples" / recipe), *settings])
    assert status == 0, capsys.readouterr().err


def test_every_recipe_is_run_by_a_test():
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert [str(recipe) for recipe in RECIPES if recipe.parent.name not in tests] == []
