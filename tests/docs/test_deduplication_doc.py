"""docs/deduplication.md is true: its files run, its commands print what it says, its table is complete."""

import pytest

from curator_core.cli import main
from curator_core.registry import default_registry
from tests.support.doc_page import DocPage, matches

PAGE = DocPage("deduplication.md")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PAGE.write_files(tmp_path)
    return tmp_path


def test_the_commands_and_the_code_do_what_the_page_says(folder, capsys):
    for command, expected, status in PAGE.commands:
        assert main(command.split()[1:]) == status, command
        captured = capsys.readouterr()
        assert matches(expected, captured.err + captured.out), captured
    for code in PAGE.code("python"):
        exec(code, {})
    printed = capsys.readouterr().out
    assert "[('c', 'a'), ('d', 'a')]" in printed
    assert "3 1 ['exact/part-" in printed
    assert main(["run", "new.yaml", "--quiet", "--json"]) == 0
    assert '"removed": 4' in capsys.readouterr().out


def test_every_workflow_is_listed():
    for name in default_registry().workflows:
        assert f"| `{name}` |" in PAGE.text
