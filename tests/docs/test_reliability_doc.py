"""docs/reliability.md is true: its commands do and print what it says, and its tables are complete."""

import re

import pytest

from curator_core.cli import main
from curator_core.files.faults import FAULT_POINTS
from tests.support.doc_page import DocPage, matches

PAGE = DocPage("reliability.md")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MIN_WORDS", raising=False)
    PAGE.write_files(tmp_path)
    return tmp_path


def test_the_commands_do_what_the_page_says_one_after_the_other(folder, capsys):
    commands = [each for each in PAGE.commands if each[0].startswith("curator ")]
    assert len(commands) == 5
    for command, expected, status in commands:
        assert main(command.split()[1:]) == status, command
        captured = capsys.readouterr()
        if "--resume=changed" not in command:  # which warns about what it redoes
            assert matches(expected, captured.err + captured.out), captured
    (code,) = PAGE.code("python")
    exec(code, {})
    printed = capsys.readouterr().out.split()
    assert printed[1] == f"['clean/part-{printed[0]}-0.jsonl']"


def test_the_run_directory_holds_what_the_page_lists(folder):
    main(["run", "clean.yaml", "--run-dir", "run", "--save-dropped", "--quiet"])
    rows = PAGE.text[PAGE.text.index("| file |") :].split("\n\n")[0].splitlines()[2:]
    listed = {name.partition("/")[0] for row in rows for name in re.findall(r"`([\w./…-]+)`", row.split("|")[1])}
    left = {path.name for path in (folder / "run").iterdir()}
    assert left <= listed
    assert listed - left == {"quarantine", "events.jsonl", "run.log"}


def test_every_step_of_a_commit_is_named():
    for point in FAULT_POINTS:
        assert f"`{point}`" in PAGE.text
