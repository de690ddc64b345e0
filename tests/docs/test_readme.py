"""Every example of the README works as it stands."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curator_core.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["a document of quite enough words", "short", "another  document with five words"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "corpus"
    folder.mkdir()
    lines = [json.dumps({"id": n, "text": text}) for n, text in enumerate(DOCUMENTS)]
    (folder / "a.jsonl").write_text("\n".join([*lines, "not json"]) + "\n")
    return tmp_path


def kept(folder: Path) -> list[str]:
    return pq.read_table(folder)["text"].to_pylist()


def test_the_python_example(corpus, capsys):
    exec(blocks("python")[0], {})
    assert kept(corpus / "clean") == ["a document of quite enough words", "another document with five words"]
    printed = capsys.readouterr().out
    assert "too_few_words: 1" in printed
    assert "a.jsonl" in printed


def test_the_yaml_example_through_the_commands_shown(corpus, capsys, ray_session):
    Path("web-clean.yaml").write_text(blocks("yaml")[0])
    commands = re.findall(r"^\$ curator (validate|preview|run|simulate) +(.*?)(?: +#.*)?$", README, flags=re.MULTILINE)
    assert [name for name, _ in commands] == ["validate", "preview", "run", "run", "simulate"]
    codes = [main([name, *arguments.split()]) for name, arguments in commands]
    assert codes == [0, 0, 3, 3, 0]  # one line of the corpus is not JSON
    assert kept(corpus / "clean") == ["a document of quite enough words", "another document with five words"]
    (record,) = [json.loads(line) for line in Path("run/quarantine/records.jsonl").read_text().splitlines()]
    assert record["source"].endswith("a.jsonl")


def test_the_plugin_on_one_screen(tmp_path):
    package = tmp_path / "curator_shouting"
    package.mkdir()
    (package / "__init__.py").touch()
    for block in blocks("python")[1:]:
        name = re.match(r"# src/curator_shouting/(\w+\.py)\n", block)
        (package / name[1]).write_text(block)
    info = tmp_path / "curator_shouting-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: curator-shouting\nVersion: 0.1.0\n")
    entry_points = re.search(r'\[project.entry-points."(.*?)"\]\n(.*)', blocks("toml")[0], flags=re.DOTALL)
    (info / "entry_points.txt").write_text(f"[{entry_points[1]}]\n{entry_points[2]}".replace('"', ""))
    code = (
        "from curator_core import TableBatch, make_stage\n"
        "stage = make_stage('shouting.loudness', max_fraction=0.4)\n"
        "print(stage.process(TableBatch(data={'text': ['LOUD', 'quiet']})).data['text'].to_pylist())"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert (run.stdout, run.stderr) == ("['quiet']\n", "")
    assert sum(len(block.splitlines()) for block in [*blocks("python")[1:], *blocks("toml")]) <= 50


def test_the_list_of_stages_is_up_to_date():
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "make_stage_list.py"), "--check"], check=False)
    assert done.returncode == 0, "run python scripts/make_stage_list.py"


def test_files_named_in_the_documents_exist():
    for document in ("README.md", "docs/architecture.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert ((ROOT / document).parent / target).exists(), f"{document} links to {target}"
    architecture = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:\w+/)*\w+\.py)`", architecture):
        packages = (ROOT / "core/src/curator_core", ROOT / "plugins/table/src/curator_table")
        found = any(list(package.rglob(name)) for package in packages) or name == "plugin.py"
        assert found, f"docs/architecture.md names {name}"


def test_a_filter_written_as_shown_needs_twelve_lines_at_most():
    body = re.search(r"@dataclass\nclass Loudness.*", blocks("python")[1], flags=re.DOTALL)[0]
    assert len([line for line in body.splitlines() if line.strip()]) <= 12
