"""Nothing that comes from data, pipeline files, plugins or file names can speak to the terminal."""

import json
import os
import pty
import re
import subprocess
import sys
import textwrap
import unicodedata
from io import StringIO

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from curator_core.cli import main
from curator_core.cli.progress import show_progress
from curator_core.registry import default_registry
from curator_core.run.state import RunState
from curator_core.values.terminal_text import visible, visible_line

EVIL = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066\r\x9b31m\x7f[red]x[/red][link=http://x]y[/link]\udcff\u2028\t"
WHOLE_EVIL = EVIL.replace("\udcff", "")  # without half a character, which cannot be written down
# Tags, some of which are not assigned, and what Unicode calls letters, marks and symbols although nothing is seen.
UNSEEN = {*map(chr, [*range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0), *range(0xFE00, 0xFE0E)])}
UNSEEN |= set("\u034f\u115f\u1160\u2800\u3164\uffa0")
KEPT = "\u200c\u200d"  # join and separate letters in many scripts, and cannot hide or reorder anything
PLUGIN = """
    from curator_core.hookspecs import hookimpl
    from curator_core.specs import StageSpec

    CURATOR_API = (1, 0)
    EVIL = {evil!r}

    @hookimpl
    def curator_stages():
        home = "curator_loud.stages"
        return [
            StageSpec("rows", target=f"{{home}}:Rows", summary=f"Make {{EVIL}}.", kind="reader"),
            StageSpec("drop", target=f"{{home}}:Drop", summary="Drop.", kind="filter"),
            StageSpec("fail", target=f"{{home}}:Fail", summary="Fail.", kind="other"),
            StageSpec("gone", target=f"{{home}}:Gone", summary="Gone.", requires=("no_such" + EVIL,)),
        ]
"""
STAGES = """
    import logging
    import sys
    from dataclasses import dataclass
    from curator_core import EmptyTask, Filter, ProcessingStage, TableBatch, Verdict
    from curator_core.values.errors import DataError

    EVIL = {evil!r}

    @dataclass
    class Rows(ProcessingStage[EmptyTask, TableBatch]):
        '''Make rows.

        Args:
            text: What they hold.
        '''

        name = "loud.rows"
        text: str = EVIL

        def process(self, task):
            logging.getLogger("loud").warning("read %s", self.text)
            print(self.text, file=sys.stderr)
            column = self.text.encode("utf-8", "replace").decode()
            rows = {{column: ["a", "b"], "text": [column, "b"], "_source": [column, column], "_row": [0, 1]}}
            return TableBatch(data=rows)

    @dataclass
    class Drop(Filter):
        name = "loud.drop"
        text: str = EVIL

        def judge(self, batch):
            score = batch.series("_row")
            return Verdict(score, {{self.text: score > 0}})

    @dataclass
    class Fail(ProcessingStage[TableBatch, TableBatch]):
        name = "loud.fail"
        text: str = EVIL
        inform: bool = True

        def process(self, task):
            raise DataError(self.text, source=self.text)
"""
PIPELINE = """
version: 1
name: "${TEXT}"
description: "${TEXT}"
stages:
  - loud.rows: {text: "${TEXT}"}
  - loud.drop: {text: "${TEXT}"}
  - loud.fail: {text: "${TEXT}"}
    with: {name: "fail${TEXT}"}
"""


def spoken(text):
    """Return the characters in a text that a terminal or a reader would be misled by."""
    return {
        each
        for each in text
        if each in UNSEEN or (unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") and each not in "\n" + KEPT)
    }


@given(
    st.text()
    | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]))
    | st.text(st.sampled_from(sorted(UNSEEN)))
)
@example(EVIL)
@example("".join(sorted(UNSEEN)))
@example("\u2764\ufe0f \u2764\ufe0e")
def test_the_visible_form_is_printable_and_stable(text):
    assert spoken(visible(text)) == set()
    assert "\n" not in visible_line(text)
    assert visible(visible(text)) == visible(text)
    if spoken(text) == set():
        assert visible(text) == text


@pytest.fixture
def loud(tmp_path, monkeypatch):
    package = tmp_path / "site" / "curator_loud"
    package.mkdir(parents=True)
    for name, text in (("__init__", ""), ("plugin", PLUGIN), ("stages", STAGES)):
        (package / f"{name}.py").write_text(textwrap.dedent(text).format(evil=EVIL))
    info = tmp_path / "site" / "curator_loud-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: curator-loud\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[curator.plugins]\nloud = curator_loud.plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    default_registry.cache_clear()
    (tmp_path / "loud.yaml").write_text(PIPELINE)
    yield tmp_path
    default_registry.cache_clear()
    for name in [name for name in sys.modules if name.startswith("curator_loud")]:
        del sys.modules[name]


def call(capsys, *arguments):
    capsys.readouterr()
    status = main([str(each) for each in arguments])
    said = capsys.readouterr()
    assert spoken(said.out + said.err) == set(), arguments
    return status, said.out, said.err


def record_ids(capsys, run_dir):
    listed = call(capsys, "quarantine", "ls", run_dir, "--json")[1]
    return [each["record_id"] for each in json.loads(listed)["records"]] if listed else []


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=1) | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), min_size=1))
@example(text=EVIL)
@example(text=WHOLE_EVIL)
def test_no_command_lets_text_speak_to_the_terminal(loud, capsys, tmp_path_factory, text):
    file, given_text = loud / "loud.yaml", ("--set", f"TEXT={text}")
    run_dir = tmp_path_factory.mktemp("run")
    call(capsys, "run", file, *given_text, "--run-dir", run_dir)
    call(capsys, "run", file, *given_text, "--on-error", "raise", "--traceback")
    call(capsys, "explain", file, *given_text)
    call(capsys, "validate", file, *given_text)
    call(capsys, "validate", file, *given_text, "--set", f"{text}=1")
    call(capsys, "preview", file, *given_text)
    call(capsys, "quarantine", "ls", run_dir)
    for record_id in record_ids(capsys, run_dir):
        call(capsys, "quarantine", "show", run_dir, record_id)
    call(capsys, "quarantine", "retry", run_dir, *given_text)
    call(capsys, text)
    call(capsys, "run", text)
    call(capsys, "stages", "show", text)
    call(capsys, "quarantine", "show", run_dir, text)
    call(capsys, "preview", file, "--rows", text)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=1) | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), min_size=1))
@example(text=EVIL)
def test_json_stays_json(loud, capsys, text):
    file, given_text = loud / "loud.yaml", ("--set", f"TEXT={text}")
    for command in ("run", "explain", "preview", "validate"):
        status, out, _ = call(capsys, command, file, *given_text, "--json")
        assert out.isascii()
        if status in (0, 3) or command == "validate":  # else there is only an error: half of a character, say
            json.loads(out)


def test_json_gives_texts_back(loud, capsys):
    text = WHOLE_EVIL[::-1]  # the value of a variable, which other tests have had hidden in this process
    _, out, _ = call(capsys, "preview", loud / "loud.yaml", "--set", f"TEXT={text}", "--json")
    assert json.loads(out)["rows"][0]["text"] == text


def test_what_plugins_declare_and_file_names(loud, capsys):
    status, out, _ = call(capsys, "stages")
    assert status == 0
    assert r"Make \x1b]0;owned\x07" in out
    assert r"no_such\x1b]0" in call(capsys, "stages", "show", "loud.gone")[1]
    call(capsys, "plugins")
    named = loud / "a\x1b[31m\u202eb.yaml"
    named.write_text("version: 2\n")
    assert r"a\x1b[31m\u202eb.yaml" in call(capsys, "validate", named)[2]


def test_a_line_break_in_data_does_not_make_a_line(loud, capsys):
    forged = "x\nerror: your disk is on fire\nx"
    for command in ("run", "preview"):
        _, out, _ = call(capsys, command, loud / "loud.yaml", "--set", f"TEXT={forged}")
        assert "error: your disk is on fire" not in out.splitlines()


class Terminal(StringIO):
    def isatty(self):
        return True


def test_the_live_table_shows_names_as_they_are():
    state, terminal = RunState(), Terminal()
    for name in ("[red]a[/red]", "[link=http://x]b[/link]", "c\x1b]0;owned\x07\u202e\r"):
        state.stats_of(name).add(rows_in=1, rows_out=1, process_time_s=0.5)
    with show_progress(state, quiet=False, stream=terminal):
        pass
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    assert "[red]a[/red]" in shown
    assert "[link=http://x]b" in shown
    assert r"c\x1b]0;owned\x07\u202e\r" in shown
    assert "\x1b]" not in terminal.getvalue()
    assert "\u202e" not in terminal.getvalue()


def test_on_a_terminal_only_our_own_styles_are_left(loud):
    """In a process of its own on a pseudo-terminal, with the live table and messages above it."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(loud / "site"), *sys.path]), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "curator_core", "run", str(loud / "loud.yaml"), "--set", f"TEXT={EVIL[:-3]}"]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, env=environment)
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side was closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert process.wait() == 3
    text = said.decode()
    assert r"\x1b]0;owned\x07" in text
    assert "\x1b]" not in text
    assert "\x1b[2J" not in text
    assert "\u202e" not in text
    assert "\x1b[1m" in text, "the heading of the live table is bold"
