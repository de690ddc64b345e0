"""The page of the sdk: up to date, an example for every name, and examples that run with the sdk's names alone."""

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import curator_core
from curator_core import sdk

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sdk.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^### `(\w+)`\n(?:(?!^###).)*?^```pycon\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_is_up_to_date():
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "make_sdk_page.py"), "--check"], check=False)
    assert done.returncode == 0, "run python scripts/make_sdk_page.py"


@pytest.mark.parametrize("module", [curator_core, sdk], ids=lambda module: module.__name__)
def test_every_class_and_function_has_an_example(module):
    public = {name: getattr(module, name) for name in module.__all__}
    documented = {name: each for name, each in public.items() if inspect.isclass(each) or inspect.isfunction(each)}
    assert [name for name, each in documented.items() if ">>> " not in (each.__doc__ or "")] == []


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_an_example_needs_nothing_but_the_sdk(name, example):
    names = {each: getattr(sdk, each) for each in sdk.__all__}
    test = doctest.DocTestParser().get_doctest(example, {**names, "__name__": __name__}, name, "docs/sdk.md", 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted > 0
    assert results.failed == 0
