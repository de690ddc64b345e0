"""A pipeline file cannot run code, read files, or exhaust the machine: what would is refused with its line."""

import tracemalloc

import pytest

from curator_core.cli import main

LAUGHS = "a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
)


@pytest.fixture
def validate(tmp_path, capsys):
    def call(text):
        path = tmp_path / "p.yaml"
        path.write_text(text)
        status = main(["validate", str(path)])
        return status, capsys.readouterr().err

    return call


@pytest.mark.parametrize(
    "value",
    [
        "!!python/object/apply:os.system ['touch MARK']",
        "!!python/object/new:subprocess.Popen [['touch', 'MARK']]",
        "!!python/name:os.system ''",
        "!!python/module:antigravity ''",
        "!include /etc/passwd",
        "!ENV PATH",
        "!!binary aGVsbG8=",
    ],
)
def test_tags_never_construct_anything(validate, tmp_path, value):
    mark = tmp_path / "mark"
    text = f"version: 1\nstages:\n  - table.sample: {{fraction: {value.replace('MARK', str(mark))}}}\n"
    status, said = validate(text)
    assert status == 2
    assert "p.yaml:3" in said
    assert "the tag" in said
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, "more than 100000 values"),
        ("a: &a [*a]\n", "more than 100 levels"),
        ("a: &a {b: *a}\n", "more than 100 levels"),
        ("[" * 100_000, "more than 100 levels"),
        ("{a: " * 100_000, "more than 100 levels"),
        ("- " * 100_000 + "x\n", "more than 100 levels"),
        ("a: " + "x" * 5_000_000, "more than a pipeline file may have"),
        ("a: " + "9" * 10_000 + "\n", "is not allowed here"),
    ],
    ids=["laughs", "cycle", "cycle in a mapping", "deep", "deep mappings", "deep block", "long", "long number"],
)
def test_bombs_are_refused_within_bounds(validate, text, message):
    tracemalloc.start()
    try:
        status, said = validate(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert status == 2
    assert message in said
    assert len(said) < 10_000
    assert peak < 128 * 2**20


@pytest.mark.parametrize(
    "name", ["os.system", "curator_core.authoring.list_files:ListFiles", "subprocess:run", "core.__class__"]
)
def test_stages_are_names_in_the_registry_and_never_import_paths(validate, name):
    status, said = validate(f"version: 1\nstages:\n  - {name!r}\n")
    assert status == 2
    assert "unknown" in said


def test_a_variable_cannot_smuggle_in_structure_or_tags(validate, monkeypatch, tmp_path):
    monkeypatch.setenv("EVIL", f"!!python/object/apply:os.system ['touch {tmp_path}/mark']")
    status, said = validate('version: 1\nstages:\n  - table.sample: {fraction: "${EVIL}"}\n')
    assert status == 2
    assert "expected" in said
    assert not (tmp_path / "mark").exists()
