"""docs/pipelines.md is true: its files load, its commands print what it says, its code runs."""

import re
from pathlib import Path

import pytest

from curator_core.cli import main
from curator_core.cli.command_table import BUILT_IN
from curator_core.config import load_pipeline
from curator_core.stage import ProcessingStage

PAGE = (Path(__file__).parents[2] / "docs" / "pipelines.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)
BLOCKS = list(BLOCK.finditer(PAGE))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    for variable in ("INPUT", "OUTPUT", "MIN_WORDS"):
        monkeypatch.delenv(variable, raising=False)
    for block in BLOCKS:
        if block["title"]:
            path = tmp_path / block["title"]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block["code"], encoding="utf-8")
    return tmp_path


def matches(expected: str, printed: str) -> bool:
    """Compare with ``…`` standing for anything, at the end of a line for the rest of it, on its own for any lines."""
    lines = [".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") for line in expected.splitlines()]
    return re.fullmatch("\n".join(lines), printed.rstrip("\n"), re.DOTALL) is not None


def commands_of(code: str):
    """Yield each command of a console block with its output and exit status."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        status = re.search(r"^# exit status (\d+)\n?", output, re.MULTILINE)
        yield command, re.sub(r"^# exit status \d+\n?", "", output, flags=re.MULTILINE), int(status[1]) if status else 0


CONSOLE = [each for block in BLOCKS if block["language"] == "console" for each in commands_of(block["code"])]


@pytest.mark.parametrize(("command", "output", "status"), CONSOLE, ids=[each[0] for each in CONSOLE])
def test_every_command_prints_what_the_page_says(command, output, status, folder, capsys):
    program, *arguments = command.split()
    assert program == "curator"
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert matches(output, captured.out + captured.err), captured.out + captured.err


def test_the_python_example_runs_and_prints_the_file_below_it(folder, capsys):
    (code,) = (block["code"] for block in BLOCKS if block["language"] == "python")
    exec(code, {})
    assert capsys.readouterr().out.strip() == (folder / "small.yaml").read_text().strip()


def test_every_correct_file_loads(folder):
    names = [block["title"] for block in BLOCKS if block["language"] == "yaml" and block["title"] != "wrong.yaml"]
    assert {"clean.yaml", "forms.yaml", "small.yaml"} <= set(names)
    for name in names:
        variables = {"INPUT": "raw"} if name == "clean.yaml" else {}
        assert load_pipeline(folder / name, variables).build().stages


def test_the_page_mentions_every_command_and_option(capsys):
    for command in BUILT_IN:
        assert re.search(rf"curator {command.name}\b", PAGE), command.name
    for option in ProcessingStage.options:
        assert f"`{option}`" in PAGE
    assert main(["run", "--help"]) == 0
    for option in re.findall(r"--[a-z-]+", capsys.readouterr().out):
        assert option == "--help" or option in PAGE, option
