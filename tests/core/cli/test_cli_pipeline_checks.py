"""What is wrong with a pipeline is found before anything runs: the place, the fix, status 2, no traceback."""

import pytest

from curator_core.cli import main

HEAD = "version: 1\nstages:\n  - toy.rows\n"


@pytest.mark.parametrize("command", ["run", "validate", "explain", "preview"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + "  - toy.min_chars: {min_char: 3}\n", ":4: stages[1] toy.min_chars.min_char: unknown parameter, did"),
        (HEAD + "  - toy.min_chars: {min_chars: many}\n", ".min_chars: expected a valid integer, got 'many'"),
        (HEAD + "  - toy.min_chras\n", ":4: stages[1]: unknown stage 'toy.min_chras'; did you mean 'toy.min_chars'?"),
        (HEAD + "  - toy.write\n", ":4: stages[1] toy.write: parameter 'path' is required"),
        (HEAD + '  - toy.min_chars: {min_chars: "${LEN}"}\n', ":4: stages[1] toy.min_chars.min_chars: variable"),
        (HEAD + "  - toy.moon\n", 'pip install "curator-toy[moon]"'),
        (HEAD + "  - acme.anything\n", "install the distribution that provides the plugin 'acme'"),
        (HEAD + "  - toy.min_chars: {text_column: body}\n", "p.yaml:4: pipeline 'p': stage 'toy.min_chars' reads"),
        (HEAD + "  - toy.rows: {}\n    with: {name: again}\n", "p.yaml:4: pipeline 'p': stage 'again' takes"),
        (HEAD + "  - toy.shout\n  - toy.shout\n", "p.yaml:4: pipeline 'p' has more than one stage called 'toy.shout'"),
        ("stages:\n  - toy.rows\n", ":1: the key 'version' is missing: begin with version: 1"),
        ("version: 1\nstage:\n  - toy.rows\n", ":2: stage: unknown key, did you mean 'stages' or 'steps'?"),
        ("version: 1\nstages: [toy.rows\n", "not YAML"),
        (HEAD + "  - toy.shout\n    with: {batch_size: 2}\n", "needs a colon: '- toy.shout:'"),
        (HEAD + "  - toy.min_chars: {min_chars: ${N}}\n", 'a variable needs quotes: "${NAME}"'),
    ],
)  # fmt: skip
def test_wrong_pipeline_is_status_2_with_place_and_fix(command, text, expected, cli, write_pipeline):
    outcome = cli(command, write_pipeline(text))
    assert outcome.status == 2
    assert expected in outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err


def test_all_problems_of_a_file_are_listed_with_their_lines(cli, write_pipeline):
    path = write_pipeline(
        HEAD + "  - toy.min_chars: {min_chars: x}\n  - toy.nothing\nexecutor: {name: local, thread: 2}\n"
    )
    error = cli("validate", path).err
    assert f"{path}:4: stages[1] toy.min_chars.min_chars: expected a valid integer" in error
    assert f"{path}:5: stages[2]: unknown stage 'toy.nothing'" in error
    assert f"{path}:6: executor local.thread: unknown parameter, did you mean 'threads'?" in error


def test_missing_file_names_the_nearest(cli, write_pipeline, tmp_path):
    write_pipeline(name="clean.yaml")
    outcome = cli("run", tmp_path / "claen.yaml")
    assert outcome.status == 2
    assert f"did you mean '{tmp_path / 'clean.yaml'}'?" in outcome.err


def test_validate_says_ok_for_each_good_file_and_goes_on_after_a_bad_one(cli, write_pipeline):
    good = write_pipeline(HEAD, "good.yaml")
    bad = write_pipeline(HEAD + "  - nope\n", "bad.yaml")
    outcome = cli("validate", bad, good)
    assert outcome.status == 2
    assert outcome.out == f"{good}: ok, 1 stages\n"
    assert cli("validate", good).status == 0
    as_json = cli("validate", bad, good, "--json").json
    assert [each["valid"] for each in as_json] == [False, True]
    assert as_json[1]["stages"] == ["toy.rows"]


@pytest.mark.parametrize("assignment", ["nonsense", "=x", "1a=2", "a b=2"])
def test_malformed_set_is_refused(assignment, cli, write_pipeline):
    outcome = cli("validate", write_pipeline(HEAD), "--set", assignment)
    assert outcome.status == 2
    assert "expected NAME=VALUE" in outcome.err


def test_a_set_variable_that_the_file_does_not_use_is_refused(cli, write_pipeline):
    outcome = cli("validate", write_pipeline(), "--set", "OUT=x", "--set", "MNI=3")
    assert outcome.status == 2
    assert "variable 'MNI' was given a value, but the file does not use it, did you mean 'MIN'?" in outcome.err


def test_set_wins_over_the_environment_which_wins_over_the_default(cli, write_pipeline, monkeypatch, tmp_path):
    path = write_pipeline()
    monkeypatch.setenv("OUT", str(tmp_path / "env"))
    monkeypatch.setenv("MIN", "1")
    assert cli("run", path, "--json").json["rows_out"] == 6
    assert cli("run", path, "--json", "--set", "MIN=6").json["rows_out"] == 2
    monkeypatch.delenv("MIN")
    assert cli("run", path, "--json").json["rows_out"] == 4


def test_explain_shows_types_resources_columns_and_executor(cli, write_pipeline):
    text = HEAD + "  - toy.shout:\n    with: {resources: {cpus: 2, gpus: 0.25}}\nexecutor: {name: local, threads: 2}\n"
    path = write_pipeline(text)
    outcome = cli("explain", path)
    assert outcome.status == 0
    assert "toy.rows  [EmptyTask -> TableBatch]" in outcome.out
    assert "cpus=2 gpus=0.25" in outcome.out
    assert "columns id, text" in outcome.out
    assert "executor local threads=2" in outcome.out
    shout = cli("explain", path, "--json").json["stages"][1]
    assert shout["resources"]["gpus"] == 0.25
    assert shout["reads"] == ["text"]
    assert shout["columns"] == ["id", "text"]
    assert shout["input_type"] == "TableBatch"


def test_no_inputs_skips_looking_at_the_inputs(cli, write_pipeline):
    path = write_pipeline(HEAD + "  - toy.min_chars: {text_column: body}\n")
    assert cli("validate", path).status == 2
    assert cli("explain", path, "--no-inputs").status == 0
    plain = cli("explain", write_pipeline(HEAD, "q.yaml"), "--no-inputs", "--json").json
    assert plain["stages"][0]["name"] == "toy.rows"


def test_usage_errors_are_status_2(capsys):
    assert main([]) == 2
    assert "usage: curator COMMAND" in capsys.readouterr().err
    assert main(["run"]) == 2
    assert main(["--nonsense"]) == 2
    assert main(["run", "x.yaml", "--limit", "0"]) == 2
