"""docs/quarantine.md is true: its commands, one after the other, print what it says."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from curator_core.cli import main
from curator_core.quarantine import QuarantineRecord
from curator_core.quarantine.folder import QuarantineFolder

PAGE = (Path(__file__).parents[2] / "docs" / "quarantine.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)
BLOCKS = list(BLOCK.finditer(PAGE))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    for block in BLOCKS:
        if block["title"]:
            path = tmp_path / block["title"]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block["code"], encoding="utf-8")
    return tmp_path


def matches(expected, printed):
    """Compare with ``…`` standing for anything, on its own for any lines; columns may be of any width."""
    expected, printed = (re.sub(r" {2,}", "  ", text).strip() for text in (expected, printed))
    lines = [".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") for line in expected.splitlines()]
    return re.fullmatch("\n".join(lines), printed, re.DOTALL) is not None


def commands():
    for block in BLOCKS:
        if block["language"] == "console":
            for part in re.split(r"^\$ ", block["code"], flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                status = re.search(r"^# exit status (\d+)\n?", output, re.MULTILINE)
                output = re.sub(r"^# exit status \d+\n?", "", output, flags=re.MULTILINE)
                yield command, output, int(status[1]) if status else 0


def test_every_command_prints_what_the_page_says(folder, capsys):
    for command, output, status in commands():
        program, *arguments = command.split()
        if "ID" in arguments:
            records = QuarantineFolder(folder / "run").records().values()
            (name,) = [record.record_id for record in records if record.stage == "core.where"]
            arguments[arguments.index("ID")] = name
        assert program == "curator"
        assert main(arguments) == status, capsys.readouterr()
        captured = capsys.readouterr()
        assert matches(output, captured.out + captured.err), f"{command}\n{captured.out}{captured.err}"
    titles = [line for path in (folder / "out").iterdir() for line in path.read_text().splitlines()]
    assert sorted(re.findall(r'"title":"(\w+)"', " ".join(titles))) == ["Bridges", "Gardens", "Rivers"]


def test_the_page_names_every_field_of_a_record():
    for field in fields(QuarantineRecord):
        assert f"`{field.name}`" in PAGE
