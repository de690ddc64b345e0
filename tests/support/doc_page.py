"""A page of the documentation: its files, its commands with what they print, its code."""

import re
from pathlib import Path

_DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL
)
_STATUS = re.compile(r"^# exit status (\d+)\n?", re.MULTILINE)


class DocPage:
    """One file in ``docs``.

    Args:
        name: Its name.
    """

    def __init__(self, name):
        self.text = (_DOCS / name).read_text(encoding="utf-8")
        self.blocks = list(_BLOCK.finditer(self.text))

    def write_files(self, folder):
        """Write the blocks that have a title to files of that name."""
        for block in self.blocks:
            if block["title"]:
                path = folder / block["title"]
                path.parent.mkdir(exist_ok=True)
                path.write_text(block["code"], encoding="utf-8")

    def code(self, language):
        """Return the blocks in a language."""
        return [block["code"] for block in self.blocks if block["language"] == language]

    @property
    def commands(self):
        """Each command of the console blocks, with its output and exit status."""
        parts = [part for code in self.code("console") for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]]
        return [_command(part) for part in parts]


def matches(expected, printed):
    """Compare with ``…`` standing for the rest of a line, or for any lines when it is on its own."""
    lines = [".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") for line in expected.splitlines()]
    return re.fullmatch("\n".join(lines), printed.rstrip("\n"), re.DOTALL) is not None


def _command(part):
    command, _, output = part.partition("\n")
    status = _STATUS.search(output)
    return command, _STATUS.sub("", output), int(status[1]) if status else 0
