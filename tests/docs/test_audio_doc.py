"""docs/audio.md is true: its commands print what it says, its code runs, its table names every stage."""

import json
import re

import pytest

from curator_core.cli import main
from curator_core.registry import default_registry
from tests.support.doc_page import DocPage, matches

PAGE = DocPage("audio.md")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PAGE.write_files(tmp_path)
    exec((tmp_path / "make_corpus.py").read_text(), {})
    return tmp_path


def test_the_commands_do_what_the_page_says(folder, capsys):
    for command, expected, status in PAGE.commands:
        assert main(command.split()[1:]) == status, command
        captured = capsys.readouterr()
        assert matches(expected, captured.err + captured.out), captured
    (manifest,) = (folder / "clean").glob("*.jsonl")
    (promised,) = [block for block in PAGE.code("json") if "audio_filepath" in block]
    assert re.sub(r"part-[^.]+\.", "part-….", manifest.read_text()) == promised
    (kept,) = (folder / "kept").glob("*.jsonl")
    assert [json.loads(line).get("offset") for line in kept.read_text().splitlines()] == [None, 0.5]


def test_the_code_runs(folder):
    for block in PAGE.blocks:
        if block["language"] == "python" and not block["title"]:
            exec(block["code"], {})


def test_every_stage_is_in_the_table():
    for name in default_registry().stages:
        if name.startswith("audio."):
            assert f"`{name}`" in PAGE.text
