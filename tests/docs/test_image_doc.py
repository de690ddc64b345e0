"""docs/image.md is true: its pictures are made, its pipelines run, its code holds, its table has every stage."""

import tarfile
from pathlib import Path

import pytest

from curator_core.cli import main
from curator_core.registry import default_registry
from tests.support.doc_page import DocPage, matches

PAGE = DocPage("image.md")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PAGE.write_files(tmp_path)
    return tmp_path


def members(folder):
    found = {}
    for path in Path(folder).glob("*.tar"):
        with tarfile.open(path) as tar:
            found |= {info.name: tar.extractfile(info).read() for info in tar}
    return found


def test_the_commands_and_the_code_do_what_the_page_says(folder, capsys):
    for code in PAGE.code("python"):
        exec(code, {})
    for command, expected, status in PAGE.commands:
        assert main(command.split()[1:]) == status, command
        captured = capsys.readouterr()
        assert matches(expected, captured.err + captured.out), captured
    made, clean = members("."), members("clean")
    images = ["cats/0001.png", "cats/0002.webp", "cats/0003.jpg"]
    assert [name for name in clean if name.endswith((".png", ".webp", ".jpg"))] == images
    assert all(clean[name] == made[name] for name in [*images, "cats/0001.txt"])
    assert {"cats/0001.png", "cats/0002.webp"} < set(members("unique-shards"))
    assert "cats/0003.jpg" not in members("unique-shards")


def test_every_stage_is_listed():
    for name in default_registry().stages:
        if name.startswith("image."):
            assert f"`{name}`" in PAGE.text, name
