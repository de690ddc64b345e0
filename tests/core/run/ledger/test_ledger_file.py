"""The ledger's file survives being torn anywhere, and says so when it is damaged."""

import json

import pytest

from curator_core.run.ledger.ledger_file import LedgerFile, header, line_of, read_ledger
from curator_core.values.errors import LedgerError

FACTS = [
    header({"stages": []}),
    {"begun": "a", "files": [{"path": "x.jsonl"}]},
    {"done": "a", "outputs": [], "stats": {"s": {"rows_in": 3}}},
    {"begun": "b"},
    {"finished": True, "is_complete": True, "stats": {}},
]


def write(path, facts=FACTS):
    file = LedgerFile(path, map(line_of, facts[:1]))
    for fact in facts[1:]:
        file.append([fact], is_durable="done" in fact)
    file.close()
    return path.read_bytes()


def test_what_is_written_is_read(tmp_path):
    write(tmp_path / "ledger.jsonl")
    content = read_ledger(tmp_path / "ledger.jsonl")
    assert content.begun == {"a", "b"}
    assert list(content.begun_files({"a"})) == [("a", [{"path": "x.jsonl"}])]
    assert [(entry.source, entry.stats) for entry in content.entries()] == [("a", {"s": {"rows_in": 3}})]
    assert content.finished.is_complete
    assert [json.loads(line) for line in content.lines()] == [FACTS[0], FACTS[1], FACTS[3], FACTS[2]]


def test_work_after_the_end_makes_the_run_unfinished_again(tmp_path):
    write(tmp_path / "ledger.jsonl", [*FACTS, {"begun": "c"}])
    assert read_ledger(tmp_path / "ledger.jsonl").finished is None


def test_cut_anywhere_it_says_what_its_whole_lines_say_and_goes_on(tmp_path):
    path = tmp_path / "ledger.jsonl"
    data = write(path)
    for size in range(len(data)):
        path.write_bytes(data[:size])
        whole = data[:size].count(b"\n")
        content = read_ledger(path)
        if whole == 0:
            assert content is None
            continue
        assert (set(content.begun), set(content.done)) == (
            {fact["begun"] for fact in FACTS[:whole] if "begun" in fact},
            {fact["done"] for fact in FACTS[:whole] if "done" in fact},
        )
        file = LedgerFile(path)
        file.append([{"begun": "later"}], is_durable=True)
        file.close()
        assert "later" in read_ledger(path).begun
        assert all(json.loads(line) for line in path.read_text().splitlines())


@pytest.mark.parametrize("line", ['{"done": "a"}', "no json", "[]"])
def test_damage_elsewhere_is_named(tmp_path, line):
    path = tmp_path / "ledger.jsonl"
    write(path)
    lines = path.read_text().splitlines()
    lines[2] = line
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(LedgerError, match="damaged in line 3"):
        read_ledger(path)


def test_a_ledger_of_the_future_is_refused(tmp_path):
    (tmp_path / "ledger.jsonl").write_text('{"ledger": 99}\n')
    with pytest.raises(LedgerError, match="has format 99, which a newer version of curator wrote"):
        read_ledger(tmp_path / "ledger.jsonl")


def test_after_a_failed_write_nothing_more_is_written(tmp_path):
    path = tmp_path / "ledger.jsonl"
    file = LedgerFile(path, map(line_of, FACTS[:1]))
    file._file.close()
    file._file = open("/dev/full", "wb", buffering=0)  # noqa: PTH123, SIM115 - a disk that is always full
    with pytest.raises(LedgerError, match=r"cannot write the ledger .*No space left on device"):
        file.append([FACTS[1]], is_durable=True)
    file.append([FACTS[1]], is_durable=True)
    file.close()
    assert not read_ledger(path).begun
