"""No file of the repository names a folder of the machine it was written on."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT_SUFFIXES = {".cfg", ".css", ".html", ".in", ".json", ".md", ".py", ".toml", ".tmpl", ".txt", ".yaml", ".yml", ""}
GENERATED = {"__pycache__", "build", "demo-output", "dist", "site"}
A_HOME = re.compile(r"(?<![\w.$}/-])/(?:home|root|Users)/\w")


def repository_files():
    for top in ROOT.iterdir():
        if top.is_file():
            yield top
        elif top.name == ".ci" or not top.name.startswith("."):
            yield from (path for path in top.rglob("*") if path.is_file())


def machine_paths(text):
    """Return the lines that name this checkout, or anybody's home folder."""
    here = f"{ROOT}/"
    return [line for line in text.splitlines() if here in line or A_HOME.search(line)]


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("open('" + "/home" + "/ann/data.jsonl')", True),
        (f"cd {ROOT}/core", True),
        ("see https://example.org/home/page", False),
        ("make venv PYTHON=/path/to/python3", False),
    ],
)
def test_a_machine_path_is_recognised(line, caught):
    assert bool(machine_paths(line)) == caught


def test_no_file_names_a_machine_path():
    offending = {
        path.relative_to(ROOT).as_posix(): lines
        for path in repository_files()
        if path.suffix in TEXT_SUFFIXES and GENERATED.isdisjoint(path.relative_to(ROOT).parts)
        if (lines := machine_paths(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert offending == {}
