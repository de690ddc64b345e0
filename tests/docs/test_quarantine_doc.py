"""docs/quarantine.md is true: its commands, one after the other, print what it says."""

import re
from dataclasses import fields

import pytest

from curator_core.call.quarantine_record import QuarantineRecord
from curator_core.cli import main
from curator_core.run.quarantine.folder import QuarantineFolder
from tests.support.doc_page import DocPage, matches

PAGE = DocPage("quarantine.md")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    PAGE.write_files(tmp_path)
    return tmp_path


def narrow(text):
    """Make columns of any width comparable: those of a table depend on the time that it shows."""
    return re.sub(r" {2,}", "  ", text).strip()


def test_every_command_prints_what_the_page_says(folder, capsys):
    for command, output, status in PAGE.commands:
        program, *arguments = command.split()
        if "ID" in arguments:
            records = QuarantineFolder(folder / "run").records().values()
            (name,) = [record.record_id for record in records if record.stage == "table.where"]
            arguments[arguments.index("ID")] = name
        assert program == "curator"
        assert main(arguments) == status, capsys.readouterr()
        captured = capsys.readouterr()
        assert matches(narrow(output), narrow(captured.out + captured.err)), f"{command}\n{captured.out}{captured.err}"
    titles = [line for path in (folder / "out").iterdir() for line in path.read_text().splitlines()]
    assert sorted(re.findall(r'"title":"(\w+)"', " ".join(titles))) == ["Bridges", "Gardens", "Rivers"]


def test_the_page_names_every_field_of_a_record():
    for field in fields(QuarantineRecord):
        assert f"`{field.name}`" in PAGE.text
