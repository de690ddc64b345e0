"""What reading does not do: import packages that it has no use for."""

import json
import subprocess
import sys

PROGRAM = """
import sys
from curator_table import read_jsonl
from curator_core.authoring.tasks import FileSlice
assert sum(table.num_rows for table in read_jsonl(FileSlice(sys.argv[1]))) == 3
print("pandas" in sys.modules)
"""


def test_reading_json_lines_leaves_pandas_alone(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": number, "text": "some"}) + "\n" for number in range(3)))
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
