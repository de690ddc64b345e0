"""docs/video.md is true: its code and its pipeline run, its table is complete."""

from curator_core.cli import main
from curator_core.registry import default_registry
from tests.support.doc_page import DocPage

PAGE = DocPage("video.md")


def test_the_code_and_the_command_do_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    PAGE.write_files(tmp_path)
    make, look, python = PAGE.code("python")
    names = {}
    exec(make, names)
    for command, _, status in PAGE.commands:
        assert main(command.split()[1:]) == status, command
    capsys.readouterr()
    exec(look, names)
    assert capsys.readouterr().out == "0.0 2.0 24 True\n2.0 4.0 24 True\n"
    exec(python, names)
    assert capsys.readouterr().out.count("frame_time_s") == 3


def test_every_stage_is_listed():
    stages = default_registry().stages
    for name in (each for each in stages if each.startswith("video.")):
        assert f"| `{name}` |" in PAGE.text
