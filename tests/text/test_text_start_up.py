"""What a run of text filters need not import, it does not: imports are most of the time that a short run takes."""

import json
import subprocess
import sys

_PIPELINE = """
version: 1
name: few
stages:
  - table.read_jsonl: {paths: "${INPUT}"}
  - text.word_count: {min_words: 2}
  - text.non_alpha_numeric: {ascii_only: true}
  - text.boiler_plate_string
  - text.repeated_lines
  - table.write_jsonl: {path: "${OUTPUT}"}
"""
_PROGRAM = """
import sys
from curator_core.cli import main
status = main(sys.argv[1:])
found = [each for each in ("pydantic", "pandas", "ray", "torch") if each in sys.modules]
print(status, found)
"""


def test_filters_run_without_packages_that_are_slow_to_import(tmp_path):
    lines = [{"text": "Three plain words."}, {"text": "short"}, {"text": "a\na\na\na"}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "few.yaml").write_text(_PIPELINE)
    settings = [f"INPUT={tmp_path / 'in.jsonl'}", f"OUTPUT={tmp_path / 'out'}"]
    options = ["--executor", "local", "--threads", "2", "-q", "--set", settings[0], "--set", settings[1]]

    def run():
        command = [sys.executable, "-c", _PROGRAM, "run", str(tmp_path / "few.yaml"), *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    run()  # which may compile the kernels
    assert run() == "0 []\n"
    (written,) = (tmp_path / "out").glob("*.jsonl")
    assert [json.loads(line) for line in written.read_text().splitlines()] == lines[:1]
