"""``--no-inputs`` makes no request and touches no file that a pipeline names: a stranger's file can be checked so."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from curator_core.registry import default_registry
from tests.support.web_server import web_server

SECRET = "s3cr3t-of-this-process"
WATCH = """
    import json, os, sys

    place, command_lines = sys.argv[1], json.loads(sys.argv[2])
    touched = []

    def note(what, path):
        if isinstance(path, (str, bytes, os.PathLike)) and os.fsdecode(path).startswith(place):
            touched.append(f"{what} {os.fsdecode(path)}")

    def watch(event, values):  # what the interpreter itself tells: opened files, listed folders, connections
        if event in ("open", "os.listdir", "os.scandir"):
            note(event, values[0])
        elif event in ("socket.connect", "socket.getaddrinfo"):
            touched.append(f"{event} {values[1:] if event.endswith('connect') else values[:2]}")

    sys.addaudithook(watch)
    for name in ("stat", "lstat", "access"):  # of which it tells nothing
        def watched(path, *more, _real=getattr(os, name), _name=name, **named):
            note(_name, path)
            return _real(path, *more, **named)
        setattr(os, name, watched)

    from curator_core.cli import main

    status = max([main(each) for each in command_lines])
    for each in touched:
        print("touched", each, file=sys.stderr)
    sys.exit(status)
"""
READERS = {name for name, stage in default_registry().stages.items() if stage.spec.kind == "reader"}
STAGES = {
    **{name: {"paths": "PLACE/a.jsonl"} for name in sorted(READERS)},
    "table.read_parquet": {"paths": "PLACE/*.parquet"},
    "table.read_hf": {"paths": "PLACE/dataset"},
    "text.read_warc": {"paths": ["PLACE/a.warc"]},
    "table.blend": {"sources": {"a": {"paths": "PLACE/a.jsonl"}}},
    "image.read_folder": {"paths": "PLACE/"},
    "audio.read_manifest": {"paths": "PLACE/m.jsonl", "allowed_locations": ["PLACE/"]},
    "audio.read_folder": {"paths": "PLACE/"},
    "text.url_blocklist": {"domain_files": "PLACE/domains.txt"},
    "text.word_blocklist": {"word_files": "PLACE/words.txt"},
    "text.histogram": {"path": "PLACE/characters.txt"},
    "text.per_extension": {"metadata_file": "PLACE/x.csv", "language": "python", "extension": "py"},
    "text.decontaminate": {"references": "PLACE/benchmark.jsonl"},
    "text.classify": {"model": "PLACE/model"},
    "table.write_jsonl": {"path": "PLACE/out"},
}
ONLY_LOCAL = {"video.read"}


@pytest.fixture
def watcher(tmp_path):
    path = tmp_path / "watch.py"
    path.write_text(textwrap.dedent(WATCH))
    return path


def check(watcher, place, *command_lines):
    """Run commands of curator in a process that tells what it touches below a place, and whom it connects to."""
    return subprocess.run(
        [sys.executable, str(watcher), place, json.dumps(command_lines)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SECRET": SECRET},
    )


def write(path, stages):
    path.write_text(f"version: 1\nname: strange\nstages: {json.dumps(stages)}\n")
    return str(path)


def pipelines(folder, place):
    """One pipeline for each stage that names files, and those that are not readers behind one that is."""
    for name, parameters in STAGES.items():
        if name in ONLY_LOCAL and "://" in place:
            continue
        own = json.loads(json.dumps(parameters).replace("PLACE", place))
        first = [] if name in READERS else [{"table.read_jsonl": {"paths": f"{place}/a.jsonl"}}]
        yield write(folder / f"{name}.yaml", [*first, {name: own}])


@pytest.mark.parametrize("command", ["validate", "explain"])
def test_no_request_is_made_and_no_file_touched(watcher, tmp_path, command):
    data = tmp_path / "data"
    data.mkdir()
    os.mkfifo(data / "a.jsonl")  # to open it is to wait for ever
    with web_server() as server:
        files = [*pipelines(tmp_path, str(data))]
        remote = tmp_path / "remote"
        remote.mkdir()
        files += [*pipelines(remote, f"{server.url}/${{SECRET}}")]
        done = check(watcher, str(data), *[[command, file, "--no-inputs"] for file in files])
        assert "touched" not in done.stderr, done.stderr
        assert done.returncode == 0, done.stderr
        assert server.requests == []


def test_a_check_of_the_inputs_asks_where_they_are(watcher, tmp_path):
    """What the flag is for: without it, the address is asked for, with what the file takes from the environment."""
    with web_server() as server:
        file = write(tmp_path / "p.yaml", [{"table.read_jsonl": {"paths": f"{server.url}/${{SECRET}}.jsonl"}}])
        done = check(watcher, str(tmp_path / "none"), ["validate", file])
        assert "touched socket.connect" in done.stderr
        assert f"/{SECRET}.jsonl" in server.requests


def test_a_workflow_is_checked_without_its_inputs(watcher, tmp_path):
    data = tmp_path / "data"
    with web_server() as server:
        for place in (str(data), f"{server.url}/${{SECRET}}"):
            names = {"input_path": f"{place}/in", "output_path": f"{place}/out", "cache_path": f"{place}/cache"}
            path = tmp_path / "w.yaml"
            path.write_text(f"version: 1\nname: strange\nworkflow: {json.dumps({'dedup.exact': names})}\n")
            done = check(watcher, str(data), ["validate", str(path), "--no-inputs"])
            assert "touched" not in done.stderr, done.stderr
            assert done.returncode == 0, done.stderr
        assert server.requests == []
