"""docs/reliability.md is true: its commands do and print what it says, and its tables are complete."""

import re
from pathlib import Path

import pytest

from curator_core.cli import main
from curator_core.faults import FAULT_POINTS

PAGE = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)
BLOCKS = list(BLOCK.finditer(PAGE))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MIN_WORDS", raising=False)
    for block in BLOCKS:
        if block["title"]:
            path = tmp_path / block["title"]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block["code"], encoding="utf-8")
    return tmp_path


def matches(expected, printed):
    """Compare with ``…`` standing for the rest of a line, or for any lines when it is on its own."""
    lines = [".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") for line in expected.splitlines()]
    return re.fullmatch("\n".join(lines), printed.rstrip("\n"), re.DOTALL) is not None


def test_the_commands_do_what_the_page_says_one_after_the_other(folder, capsys):
    commands = [
        part
        for block in BLOCKS
        if block["language"] == "console"
        for part in re.split(r"^\$ ", block["code"], flags=re.MULTILINE)[1:]
        if part.startswith("curator ")
    ]
    assert len(commands) == 5
    for part in commands:
        command, _, expected = part.partition("\n")
        status = re.search(r"^# exit status (\d+)\n?", expected, re.MULTILINE)
        expected = re.sub(r"^# exit status \d+\n?", "", expected, flags=re.MULTILINE)
        assert main(command.split()[1:]) == (int(status[1]) if status else 0), command
        captured = capsys.readouterr()
        if "--resume=changed" not in command:  # which warns about what it redoes
            assert matches(expected, captured.err + captured.out), captured
    (code,) = (block["code"] for block in BLOCKS if block["language"] == "python")
    exec(code, {})
    printed = capsys.readouterr().out.split()
    assert printed[1] == f"['clean/part-{printed[0]}-0.jsonl']"


def test_the_run_directory_holds_what_the_page_lists(folder):
    main(["run", "clean.yaml", "--run-dir", "run", "--save-dropped", "--quiet"])
    rows = PAGE[PAGE.index("| file |") :].split("\n\n")[0].splitlines()[2:]
    listed = {name.partition("/")[0] for row in rows for name in re.findall(r"`([\w./…-]+)`", row.split("|")[1])}
    left = {path.name for path in (folder / "run").iterdir()}
    assert left <= listed
    assert listed - left == {"quarantine", "events.jsonl", "run.log"}


def test_every_step_of_a_commit_is_named():
    for point in FAULT_POINTS:
        assert f"`{point}`" in PAGE
