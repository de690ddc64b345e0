"""docs/pipelines.md is true: its files load, its commands print what it says, its code runs."""

import re

import pytest

from curator_core.authoring.stage import ProcessingStage
from curator_core.cli import main
from curator_core.cli.command_table import BUILT_IN
from curator_core.pipelines.pipeline_file import load_pipeline
from tests.support.doc_page import DocPage, matches

PAGE = DocPage("pipelines.md")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    for variable in ("INPUT", "OUTPUT", "MIN_WORDS"):
        monkeypatch.delenv(variable, raising=False)
    PAGE.write_files(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "output", "status"), PAGE.commands, ids=[each[0] for each in PAGE.commands])
def test_every_command_prints_what_the_page_says(command, output, status, folder, capsys):
    program, *arguments = command.split()
    assert program == "curator"
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert matches(output, captured.out + captured.err), captured.out + captured.err


def test_the_python_example_runs_and_prints_the_file_below_it(folder, capsys):
    (code,) = PAGE.code("python")
    exec(code, {})
    assert capsys.readouterr().out.strip() == (folder / "small.yaml").read_text().strip()


def test_every_correct_file_loads(folder):
    names = [block["title"] for block in PAGE.blocks if block["language"] == "yaml" and block["title"] != "wrong.yaml"]
    assert {"clean.yaml", "forms.yaml", "small.yaml"} <= set(names)
    for name in names:
        variables = {"INPUT": "raw"} if name == "clean.yaml" else {}
        loaded = load_pipeline(folder / name, variables)
        assert loaded.check_steps() if loaded.workflow else loaded.build().stages


def test_the_page_mentions_every_command_and_option(capsys):
    for command in BUILT_IN:
        assert re.search(rf"curator {command.name}\b", PAGE.text), command.name
    for option in ProcessingStage.options:
        assert f"`{option}`" in PAGE.text
    assert main(["run", "--help"]) == 0
    for option in re.findall(r"--[a-z-]+", capsys.readouterr().out):
        assert option == "--help" or option in PAGE.text, option
