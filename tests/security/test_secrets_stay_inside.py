"""Passwords, tokens and signatures that a user gives do not turn up in anything that a run leaves or says."""

import io
import json
import logging
import os
import re
import subprocess
import sys
import textwrap

import pytest

from curator_core import FileGroupTask, LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task
from curator_core.authoring.recording import BadRecord, report
from curator_core.cli import main
from curator_core.cli.preview_rows import preview_plan
from curator_core.parameters.references import identity_of_values
from curator_core.pipelines.pipeline_file import load_pipeline
from curator_core.plan.dump import dump_pipeline
from curator_core.registry import default_registry
from curator_core.run.ledger.ledger_file import LedgerFile, header, line_of, read_ledger
from curator_core.run.ledger.run_ledger import RunLedger, SourceReport
from curator_core.values.redaction import hide, redact
from curator_text import ReadJsonl

PASSWORD, SIGNATURE, TOKEN = "hunter2", "Zm9vYmFyYmF6", "tok-5f3c9a"
URL = f"https://me:{PASSWORD}@host/data.jsonl?part=1&X-Amz-Signature={SIGNATURE}"
STAGES = """
    import logging
    from dataclasses import dataclass
    from curator_core import EmptyTask, ProcessingStage, TableBatch

    @dataclass
    class Fetch(ProcessingStage[EmptyTask, TableBatch]):
        name = "vault.fetch"
        url: str
        api_key: str = ""
        fatal: bool = False

        def process(self, task):
            logging.getLogger("ray").warning("fetching %s", self.url)
            raise ConnectionRefusedError(f"cannot fetch {self.url} with api_key={self.api_key}")

        def setup(self, worker):
            if self.fatal:
                raise RuntimeError(f"no way to {self.url}")
"""
PLUGIN = """
    from curator_core.hookspecs import hookimpl
    from curator_core.specs import StageSpec

    CURATOR_API = (1, 0)

    @hookimpl
    def curator_stages():
        return [StageSpec("fetch", target="curator_vault.stages:Fetch", summary="Fetch.", kind="reader")]
"""
PIPELINE = """
version: 1
name: vault
stages:
  - vault.fetch: {url: "${URL}", api_key: "${API_KEY}", fatal: "${FATAL:-false}"}
"""


@pytest.fixture
def vault(tmp_path, monkeypatch):
    """A plugin whose stage says more than it should, and a pipeline file with variables."""
    package = tmp_path / "site" / "curator_vault"
    package.mkdir(parents=True)
    for name, text in (("__init__", ""), ("plugin", PLUGIN), ("stages", STAGES)):
        (package / f"{name}.py").write_text(textwrap.dedent(text))
    info = tmp_path / "site" / "curator_vault-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: curator-vault\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[curator.plugins]\nvault = curator_vault.plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("URL", URL)
    monkeypatch.setenv("API_KEY", TOKEN)
    default_registry.cache_clear()
    (tmp_path / "vault.yaml").write_text(PIPELINE)
    yield tmp_path
    default_registry.cache_clear()
    for name in [name for name in sys.modules if name.startswith("curator_vault")]:
        del sys.modules[name]


def leaked(text):
    return [secret for secret in (PASSWORD, SIGNATURE, TOKEN) if secret in text]


def everything_in(folder):
    return {path: path.read_bytes().decode(errors="replace") for path in folder.rglob("*") if path.is_file()}


def run(folder, capsys, *arguments):
    run_dir = folder / "run"
    status = main(["run", str(folder / "vault.yaml"), "--run-dir", str(run_dir), *arguments])
    said = capsys.readouterr()
    return status, said.out + said.err, everything_in(run_dir)


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--on-error", "raise", "--traceback")], ids=" ".join)
def test_a_run_that_fails_on_a_signed_url_leaks_nothing(vault, capsys, arguments):
    status, said, files = run(vault, capsys, *arguments)
    assert status in (1, 3)
    assert leaked(said) == []
    assert "host/data.jsonl?part=1" in said or "--json" in arguments
    assert {path.name for path in files} >= {"plan.yaml", "result.json"}
    for path, text in files.items():
        assert leaked(text) == [], path


def test_what_goes_through_the_handler_of_a_library_is_redacted(vault, capsys):
    logger, stream = logging.getLogger("ray"), io.StringIO()
    handler = logging.StreamHandler(stream)
    logger.addHandler(handler)  # as Ray does when it is imported
    try:
        run(vault, capsys)
    finally:
        logger.removeHandler(handler)
    assert "fetching https://***@host/data.jsonl" in stream.getvalue()
    assert leaked(stream.getvalue()) == []


def test_a_setup_that_fails_leaks_nothing(vault, capsys):
    status, said, _ = run(vault, capsys, "--set", "FATAL=true", "--traceback")
    assert (status, leaked(said)) == (1, [])
    assert "no way to https://***@host/data.jsonl" in said


def test_what_stages_log_is_redacted_on_the_terminal(vault):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(vault / "site"), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-m", "curator_core", "run", str(vault / "vault.yaml")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment,
    )
    assert "fetching https://***@host/data.jsonl" in done.stderr
    assert leaked(done.stdout + done.stderr) == []


def test_the_plan_names_the_variables_and_still_runs(vault, capsys, monkeypatch):
    run(vault, capsys)
    plan = vault / "run" / "plan.yaml"
    assert "url: ${URL}" in plan.read_text()
    assert "api_key: ${API_KEY}" in plan.read_text()
    (stage,) = load_pipeline(plan).pipeline.stages
    assert (stage.url, stage.api_key) == (URL, TOKEN)


def test_the_commands_on_the_quarantine_leak_nothing(vault, capsys):
    run(vault, capsys)
    for action in (["ls"], ["ls", "--json"], ["retry"]):
        main(["quarantine", *action, str(vault / "run")])
        said = capsys.readouterr()
        assert leaked(said.out + said.err) == []
    record = json.loads((vault / "run" / "quarantine" / "records.jsonl").read_text().splitlines()[0])
    main(["quarantine", "show", str(vault / "run"), record["record_id"]])
    assert leaked(capsys.readouterr().out) == []


class Unreachable(ProcessingStage[TableBatch, TableBatch]):
    def process(self, task):
        report().bad_record(BadRecord(f"no row of {URL}"))
        raise ConnectionRefusedError(f"cannot fetch {URL}")


def test_a_preview_of_a_stage_that_fails_leaks_nothing(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "one"}\n')
    plan = Pipeline("p", stages=[ReadJsonl(str(tmp_path / "in.jsonl")), Unreachable()]).build()
    (step,) = preview_plan(plan, rows=1).stages
    assert len(step.problems) == 2
    assert leaked(str(step)) == []


def test_secrets_that_came_from_nowhere_are_masked_in_the_plan_and_kept_in_the_pipeline(vault):
    text = PIPELINE.replace("${URL}", URL).replace("${API_KEY}", TOKEN)
    pipeline = load_pipeline(text).pipeline
    assert leaked(dump_pipeline(pipeline, registry=default_registry(), hide_secrets=True)) == []
    assert leaked(pipeline.to_yaml()) == [PASSWORD, SIGNATURE, TOKEN], "the user asked for the pipeline itself"


def test_values_of_variables_are_written_as_variables_and_read_back(monkeypatch):
    monkeypatch.setenv("COLUMN", "body")
    text = 'version: 1\nstages:\n  - table.select: {keep: ["${COLUMN}", "$$x", "body2", "${OTHER:-id}"]}\n'
    pipeline = load_pipeline(text).pipeline
    for dumped in (dump_pipeline(pipeline, registry=default_registry(), hide_secrets=True), pipeline.to_yaml()):
        assert "${COLUMN}" in dumped
        assert "$$x" in dumped
        assert "- id" in dumped, "the default stands in the file"
        assert load_pipeline(dumped).pipeline.stages[0].keep == ["body", "$x", "body2", "id"]


def test_paths_and_numbers_from_variables_are_written_out(monkeypatch):
    monkeypatch.setenv("ROOT", "/data/corpus-7")
    monkeypatch.setenv("SHARE", "0.4321")
    text = 'version: 1\nstages:\n  - table.read_jsonl: {paths: "${ROOT}/x"}\n  - table.sample: {fraction: "${SHARE}"}\n'
    dumped = dump_pipeline(load_pipeline(text).pipeline, registry=default_registry(), hide_secrets=True)
    assert "/data/corpus-7/x" in dumped
    assert "0.4321" in dumped


KINDS = {
    "header": "X-Api-Key: d41d8cd98f00b204",
    "connection string": "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1==",
    "cookie": "session=9f86d081884c7d65; csrf=2c26b46b68ffc68f",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "aws secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "github": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "hugging face": "hf_abcdefghijklmnopqrstuvwxyz0123456789",
    "openai": "sk-proj-abcdefghijklmnopqrstuvwxyz012345",
    "google": "AIzaSyA-1234567890abcdefghijklmnopqrstu",
    "slack": "xoxb-123456789012-abcdefghijklmnop",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "pem": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----",
    "sas": "sv=2022-11-02&sr=c&sig=8f%2BZk3nXq1vL0a7cW2dE5gH9jK4mN6pR%3D",
    "key with a slash": "s3://AKEY1234:se/cr3t/w1th@my-bucket/data",
    "nothing known": 'pl4in but s3cret: "quoted" \u00e9t\u00e9',
}
SHOWN = {"X-Api-Key", "DefaultEndpointsProtocol=https", "AccountName=me", "sv=2022-11-02", "sr=c", "csrf", "session"}
LOOSE_STAGES = """
    import logging
    import os
    from dataclasses import dataclass, field
    from curator_core import EmptyTask, FileGroupTask, ProcessingStage, Task

    @dataclass
    class Make(ProcessingStage[EmptyTask, Task]):
        name = "vault.make"

        def process(self, task):
            return [Task(data=number) for number in range(2)]

    @dataclass
    class Say(ProcessingStage[Task, Task]):
        name = "vault.say"
        greeting: str
        others: dict[str, list[str]] = field(default_factory=dict)

        def process(self, task):
            logging.getLogger("vault").warning("greeting %s", self.greeting)
            if task.data and "ANSWERS" in os.environ:
                return FileGroupTask(data=[os.environ["URL"]])
            if task.data:
                raise ValueError(f"nobody answers to {self.greeting!r}, {self.greeting}, {self.others}")
            return task
"""
LOOSE_PIPELINE = """
version: 1
name: loose
stages:
  - vault.make
  - vault.say: {greeting: "${GREETING}", others: {more: ["${GREETING}"]}}
"""


@pytest.fixture
def loose(vault):
    plugin = PLUGIN.replace(
        'return [StageSpec("fetch", target="curator_vault.stages:Fetch", summary="Fetch.", kind="reader")]',
        'home = "curator_vault.stages"; '
        'return [StageSpec(each.lower(), target=f"{home}:{each}", summary="Do.") for each in ("Make", "Say")]',
    )
    (vault / "site" / "curator_vault" / "plugin.py").write_text(textwrap.dedent(plugin))
    (vault / "site" / "curator_vault" / "stages.py").write_text(textwrap.dedent(LOOSE_STAGES))
    default_registry.cache_clear()
    for name in [name for name in sys.modules if name.startswith("curator_vault")]:
        del sys.modules[name]
    (vault / "vault.yaml").write_text(LOOSE_PIPELINE)
    return vault


def parts_of(secret):
    """Return the pieces of a secret that must not turn up, neither as they are nor as they are quoted."""
    pieces = [piece for piece in re.split(r"[\s;:&\"]+|(?<=[a-z])=(?=\S)", secret) if len(piece) > 5]
    return [
        piece for piece in pieces if piece not in SHOWN and not piece.startswith(("-----", "PRIVATE", "AccountName"))
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_from_the_environment_of_any_kind_stays_inside(loose, capsys, monkeypatch, kind):
    secret = KINDS[kind]
    monkeypatch.setenv("GREETING", secret)
    status, said, files = run(loose, capsys)
    assert status == 3
    status, raised, _ = run(loose, capsys, "--on-error", "raise", "--traceback")
    assert status == 1
    said += raised
    for arguments in (["explain", "vault.yaml"], ["validate", "vault.yaml"], ["preview", "vault.yaml", "--json"]):
        main([arguments[0], str(loose / arguments[1]), *arguments[2:]])
    for action in (["ls"], ["ls", "--json"], ["retry"]):
        main(["quarantine", *action, str(loose / "run")])
    rest = capsys.readouterr()
    said += rest.out + rest.err
    assert "nobody answers to" in said
    pieces = parts_of(secret)
    assert pieces
    for piece in pieces:
        assert piece not in said, piece
        for path, text in files.items():
            assert piece not in text, path
    assert "${GREETING}" in files[loose / "run" / "plan.yaml"]


@pytest.mark.parametrize("arguments", [(), ("--json",)], ids=" ".join)
def test_a_retry_that_succeeds_shows_its_outputs_without_secrets(loose, capsys, monkeypatch, arguments):
    monkeypatch.setenv("GREETING", "good day")
    run(loose, capsys)
    monkeypatch.setenv("ANSWERS", "1")
    main(["quarantine", "retry", str(loose / "run"), *arguments])
    said = capsys.readouterr().out
    assert "https://***@host/data.jsonl?part=1" in said
    assert leaked(said) == []


def test_a_value_of_the_wrong_type_is_hidden_although_it_is_cut_off(loose, capsys, monkeypatch):
    secret = KINDS["nothing known"] * 3
    monkeypatch.setenv("GREETING", secret)
    (loose / "vault.yaml").write_text(
        LOOSE_PIPELINE.replace('others: {more: ["${GREETING}"]}', 'others: "${GREETING}"')
    )
    assert main(["validate", str(loose / "vault.yaml")]) == 2
    assert "pl4in" not in capsys.readouterr().err


def test_a_changed_value_of_a_variable_is_noticed_by_a_resume(loose, capsys, monkeypatch):
    monkeypatch.setenv("GREETING", "good day, 1")
    run(loose, capsys)
    ledger = (loose / "run" / "ledger.jsonl").read_text()
    assert "good day" not in ledger
    status, said, _ = run(loose, capsys, "--resume")
    assert status == 3, "the same value is the same pipeline"
    monkeypatch.setenv("GREETING", "good day, 2")
    status, said, _ = run(loose, capsys, "--resume")
    assert status == 2
    assert "stage 'vault.say': greeting *** " in said
    assert "good day" not in said


def test_what_a_resume_compares_does_not_depend_on_other_pipelines_in_the_process():
    values = {"id_prefix": "label-2025-c", "path": "/data/label-2025-c/out", "paths": ["/data/label-2025-c/in"]}
    references = {("paths", "/data/label-2025-c/in"): "${IN}"}
    before = identity_of_values(values, references)
    hide("label-2025-c", is_credential=False)  # as the file of another pipeline would
    assert identity_of_values(values, references) == before == values


def test_a_value_of_a_variable_that_a_stage_passes_on_under_another_name_is_not_in_the_ledger():
    def identity(greeting, key):
        hide(key, is_credential=True)
        return identity_of_values({"template": f"{greeting} ({key})"}, {("greeting", greeting): "${GREETING}"})

    first = identity("good day, 1", "tok-11aa22bb")
    assert "good day" not in str(first)
    assert first != identity("good day, 2", "tok-11aa22bb")
    assert first == identity("good day, 1", "tok-33cc44dd"), "credentials change without changing the output"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("token = 'the'", "token = 'of'"),
        (r"password=\w+ x", r"password=\d+ x"),
        ("sk-learn-compatible-model-a", "sk-learn-compatible-model-b"),
        (
            "url LIKE 'https://me:hunter2@host/%' AND token = 'the'",
            "url LIKE 'https://me:hunter2@host/%' AND token = 'of'",
        ),
    ],
)
def test_a_change_of_a_value_that_only_looks_like_a_secret_is_noticed(before, after):
    identity = identity_of_values({"expression": before}, {})
    assert identity != identity_of_values({"expression": after}, {})
    assert identity["expression"].startswith(redact(before)), "what can be shown is"


@pytest.mark.parametrize("name", ["url", "expression"])
def test_an_address_that_was_signed_anew_is_the_same(name):
    other = URL.replace(PASSWORD, "hunter3").replace(SIGNATURE, "9c0d11e4b7a6")
    assert identity_of_values({name: URL}, {}) == identity_of_values({name: other}, {}) == {name: redact(URL)}


class Loose(ProcessingStage[Task, Task]):
    def process(self, task):
        raise ValueError(f"bad answer from {URL}")


def test_results_and_reports_in_python_are_redacted(tmp_path):
    result = Pipeline("p", stages=[Loose()]).run(LocalExecutor(), initial_tasks=[Task(data=URL)], run_dir=tmp_path)
    (record,) = result.quarantined
    assert leaked(str(record)) == []
    assert leaked(result.report()) == []
    assert "https://***@host/data.jsonl" in result.report()


def test_the_ledger_has_no_credentials_that_a_worker_knew_nothing_of(tmp_path):
    tasks = [FileGroupTask(data=[f"https://host/{TOKEN}/a.jsonl"], task_id="a")]
    report = SourceReport.of(0, used=[], made=tasks, counts={}, makes_sources=True)
    assert leaked(str(report)) == [TOKEN], "values are hidden where the pipeline was loaded, which is not in workers"
    hide(TOKEN, is_credential=True)
    path = tmp_path / "ledger.jsonl"
    ledger = RunLedger(LedgerFile(path, [line_of(header({"stages": []}))]))
    ledger.take_in(report)
    ledger.close()
    assert leaked(path.read_text()) == []
    assert list(read_ledger(path).begun_files({"a"})) == [("a", [{"path": "https://host/***/a.jsonl"}])]


def test_events_and_logs_are_redacted(tmp_path):
    from curator_core.executors.ray.output import quiet_ray
    from curator_core.executors.streaming.observe.events import EventLog

    log = EventLog(tmp_path / "events.jsonl")
    log.run_finished(1.0, "failed", f"OSError: {URL}")
    assert leaked((tmp_path / "events.jsonl").read_text()) == []
    import logging

    with quiet_ray(tmp_path / "run.log"):
        logging.getLogger("ray").warning("lost %s", URL)
    text = (tmp_path / "run.log").read_text()
    assert "lost https://***@host" in text
    assert leaked(text) == []
