import json
import subprocess
import sys

import pytest

import curator_core
from curator_core.cli.command_table import find_command
from curator_core.registry import Candidate, Registry, default_registry
from curator_core.values.errors import PluginError, UnknownNameError

HEAVY = ("ray", "torch", "polars", "pyarrow", "pydantic", "numpy", "rich", "transformers", "pandas")


def test_stages_list_json_has_exactly_the_promised_keys(cli):
    for arguments in (["stages"], ["stages", "list"]):
        listed = cli(*arguments, "--json").json
        by_name = {each["name"]: each for each in listed}
        assert all(set(each) == {"name", "plugin", "kind", "summary", "available", "missing"} for each in listed)
        assert by_name["toy.min_chars"] == {
            "name": "toy.min_chars",
            "plugin": "toy",
            "kind": "filter",
            "summary": "Drop short texts.",
            "available": True,
            "missing": [],
        }
        assert by_name["toy.moon"]["missing"] == ["no_such_rocket"]
        assert not by_name["toy.moon"]["available"]


def test_stages_list_as_text_and_its_filters(cli):
    text = cli("stages").out
    assert text.splitlines()[0].split() == ["NAME", "KIND", "SUMMARY"]
    assert 'needs no_such_rocket: pip install "curator-toy[moon]"' in text
    names = [each["name"] for each in cli("stages", "list", "--plugin", "toy", "--kind", "writer", "--json").json]
    assert names == ["toy.write"]


def test_stages_show_tells_parameters_columns_and_an_example_that_works(cli, write_pipeline):
    page = cli("stages", "show", "toy.rows", "--json").json
    count, words, _ = page["parameters"]
    assert count == {"name": "count", "type": "int", "required": False, "default": 4, "description": "How many."}
    assert words["type"] == "list[str]"
    assert words["description"] == "The texts, used in turn."
    assert page["adds"] == ["id", "text"]
    text = cli("stages", "show", "toy.min_chars").out
    assert "min_chars: int (default 3)" in text
    assert "reads: text" in text
    example = "\n".join(f"  {line}" for line in page["example"].splitlines())
    assert cli("validate", write_pipeline(f"version: 1\nstages:\n{example}\n")).status == 0


@pytest.mark.parametrize("name", ["toy.rows", "toy.shout", "toy.moon", "table.sample", "table.where"])
def test_stages_show_works_for_every_kind_of_stage(name, cli):
    outcome = cli("stages", "show", name)
    assert outcome.status == 0
    assert f"- {name}" in outcome.out


def test_stages_show_of_an_unknown_name_offers_the_nearest(cli):
    outcome = cli("stages", "show", "toy.row")
    assert outcome.status == 2
    assert "'toy.rows'" in outcome.err
    assert cli("stages", "show").status == 2


def test_plugins_json_has_exactly_the_promised_keys(cli):
    listed = {each["name"]: each for each in cli("plugins", "--json").json}
    toy = listed["toy"]
    assert set(toy) == {"name", "distribution", "version", "api", "status", "cause", "stages"}
    assert (toy["distribution"], toy["version"], toy["api"], toy["status"]) == ("curator-toy", "0.3", "1.0", "ok")
    assert "toy.min_chars" in toy["stages"]
    assert listed["core"]["status"] == "ok"


@pytest.fixture
def with_broken(site, cli):
    package = site / "curator_faulty"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "plugin.py").write_text("raise RuntimeError('wires crossed')\n")
    info = site / "curator_faulty-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: curator-faulty\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[curator.plugins]\nfaulty = curator_faulty.plugin\n")
    default_registry.cache_clear()
    return cli


@pytest.mark.parametrize(
    "arguments", [["stages"], ["stages", "--json"], ["plugins"], ["--help"], ["schema"], ["stages", "show", "toy.rows"]]
)
def test_with_one_broken_plugin_every_command_works_and_says_so_in_one_line(arguments, with_broken):
    outcome = with_broken(*arguments)
    assert outcome.status == 0
    warnings = outcome.err.splitlines()
    assert len(warnings) == 1
    assert warnings[0].startswith("warning: plugin 'faulty' is broken: ")
    assert "wires crossed" in warnings[0]
    assert "see curator plugins" in warnings[0]


def test_pipeline_that_needs_the_broken_plugin_fails_with_its_cause(with_broken, write_pipeline):
    good = with_broken("run", write_pipeline("version: 1\nstages: [toy.rows]\n"))
    assert good.status == 0
    bad = with_broken("run", write_pipeline("version: 1\nstages: [toy.rows, faulty.stage]\n"))
    assert bad.status == 2
    assert "stages[1]" in bad.err
    assert bad.err.count("wires crossed") == 2  # in the warning and as the cause
    assert "faulty" in with_broken("plugins").out


def test_blocked_plugin_is_no_warning_but_its_stages_are_refused(cli, write_pipeline, monkeypatch):
    monkeypatch.setenv("CURATOR_DISABLE_PLUGINS", "toy")
    default_registry.cache_clear()
    assert cli("stages").err == ""
    outcome = cli("validate", write_pipeline("version: 1\nstages: [toy.rows]\n"))
    assert outcome.status == 2
    assert "CURATOR_DISABLE_PLUGINS" in outcome.err


def test_list_entry_that_matches_nothing_is_a_warning(cli, monkeypatch):
    monkeypatch.setenv("CURATOR_DISABLE_PLUGINS", "toi")
    default_registry.cache_clear()
    assert "warning: CURATOR_DISABLE_PLUGINS names 'toi'" in cli("stages").err


def test_commands_of_plugins_appear_and_run(cli):
    help_text = cli("--help").out
    assert "hello" in help_text
    assert "Greet." in help_text
    assert cli("hello", "world").out == "hello world\n"
    assert cli("toy.hello", "you").out == "hello you\n"
    assert cli("toy.run", "me").out == "hello me\n"  # the short name belongs to the built-in command
    assert cli("hello").status == 2


def test_object_that_is_no_command_is_a_plugin_error(cli):
    outcome = cli("half")
    assert outcome.status == 2
    assert "has no add_arguments(parser) and run(args)" in outcome.err


def test_mistyped_command_offers_the_nearest(cli):
    outcome = cli("stagse")
    assert outcome.status == 2
    assert "unknown command 'stagse'; did you mean 'stages'?" in outcome.err


def test_command_of_a_known_plugin_that_is_missing_names_its_pip_line():
    with pytest.raises(
        PluginError, match="command 'plugin' needs the plugin 'devkit', which is not installed"
    ) as caught:
        find_command("plugin", Registry(candidates=[]))
    assert caught.value.fix == "pip install curator-devkit"


def test_command_of_a_known_plugin_that_is_broken_says_why():
    registry = Registry(candidates=[Candidate("devkit", "no_such_module_at_all", "curator-devkit")])
    with pytest.raises(PluginError, match="command 'plugin' needs the plugin 'devkit', which is broken: importing"):
        find_command("plugin", registry)


def test_command_that_a_known_plugin_does_not_offer_is_unknown():
    registry = Registry(candidates=[Candidate("devkit", "curator_core.plugin", "curator-devkit")])
    with pytest.raises(UnknownNameError, match="unknown command 'plugin'; did you mean 'plugins'"):
        find_command("plugin", registry)


def test_version_and_help_of_each_command(cli):
    assert cli("--version").out == f"curator {curator_core.__version__}\n"
    for command in ("run", "validate", "explain", "preview", "stages", "plugins", "schema"):
        outcome = cli(command, "--help")
        assert outcome.status == 0
        assert f"usage: curator {command}" in outcome.out


@pytest.mark.parametrize("arguments", [["--help"], ["stages", "list"], ["plugins"]])
def test_listings_import_nothing_heavy(arguments, environment):
    code = (
        "import sys; from curator_core.cli import main; status = main(sys.argv[1:]); "
        f"print(status, sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stderr.strip() == "0 []"


def test_module_form_runs_the_same_command(environment):
    command = [sys.executable, "-m", "curator_core", "stages", "list", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0
    assert "toy.rows" in {each["name"] for each in json.loads(done.stdout)}


def test_colour_only_on_a_terminal_and_not_with_no_color(monkeypatch):
    from io import StringIO

    from curator_core.cli.terminal import TerminalWriter, paint

    class Terminal(StringIO):
        def isatty(self):
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    TerminalWriter(terminal).write(paint("x", "red", stream=terminal))
    assert terminal.getvalue() == "\x1b[31mx\x1b[0m"
    assert paint("x", "red", stream=StringIO()) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("x", "red", stream=Terminal()) == "x"


def test_schema_goes_to_a_file(cli, tmp_path):
    outcome = cli("schema", "-o", tmp_path / "schema.json")
    assert outcome.out == ""
    assert "toy.rows" in (tmp_path / "schema.json").read_text()


def test_aliases_are_listed_only_when_all_is_asked_for(cli):
    assert "core.where" not in cli("stages").out
    listed = {each["name"]: each for each in cli("stages", "--all", "--json").json}
    assert listed["core.where"]["alias_of"] == "table.where"
    assert "alias_of" not in listed["table.where"]
    (line,) = [line for line in cli("stages", "--all").out.splitlines() if line.startswith("core.where")]
    assert line.split(maxsplit=2)[1:] == ["filter", "Another name of table.where."]
    assert [
        each["name"] for each in cli("stages", "--all", "--plugin", "toy", "--json").json if "alias_of" in each
    ] == []


def test_stages_show_of_an_alias_shows_the_stage_that_it_stands_for(cli):
    page = cli("stages", "show", "core.where")
    assert page.out.startswith("table.where")
    assert "- table.where" in page.out
    assert "aliases: core.where" in page.out
