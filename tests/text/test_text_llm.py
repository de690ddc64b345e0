"""text.llm against an endpoint that misbehaves."""

import time
from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, StreamingExecutor
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN
from curator_core.values.errors import ConfigError, StageError
from curator_text import DocumentBatch, Llm
from curator_text.llm import retry_delays
from curator_text.llm.prompt_template import PromptTemplate
from curator_text.llm.rate_limit import RateLimit
from curator_text.llm.retry_delays import delay_s, retry_after_s
from curator_text.llm.score_reading import ScoreReader
from tests.support.fake_endpoint import FakeEndpoint

PROMPT = "{text} say: {answer}"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(retry_delays, "_FIRST_S", 0.01)


def batch(*rows):
    table = pa.table(
        {
            "text": pa.array([text for text, _ in rows], pa.string()),
            "answer": pa.array([answer for _, answer in rows], pa.string()),
            SOURCE_COLUMN: ["in.jsonl"] * len(rows),
            ROW_COLUMN: [number * 10 for number in range(len(rows))],
        }
    )
    return DocumentBatch(data=table)


def run(endpoint, *rows, executor=None, run_dir=None, **parameters):
    stage = Llm(base_url=endpoint.url, model="tiny", prompt=PROMPT, **parameters)
    return Pipeline(stages=[stage]).run(executor or LocalExecutor(), initial_tasks=[batch(*rows)], run_dir=run_dir)


def test_answers_are_added_in_row_order_over_few_connections_many_at_a_time():
    rows = [("wait", f"answer {number}") for number in range(24)]
    with FakeEndpoint({"wait": ["wait"]}).running() as endpoint:
        result = run(
            endpoint, *rows, (None, "x"), concurrency=6, system="Be brief.", temperature=0.5, parameters={"top_p": 0.9}
        )
    assert result[0].data["generated"].to_pylist() == [answer for _, answer in rows] + [None]
    assert len(endpoint.requests) == 24
    assert 2 <= endpoint.most_at_once <= 6
    assert len(endpoint.connections) <= 6
    path, _, body = endpoint.requests[0]
    assert path == "/v1/chat/completions"
    assert {key: body[key] for key in ("model", "temperature", "max_tokens", "top_p")} == {
        "model": "tiny",
        "temperature": 0.5,
        "max_tokens": 1024,
        "top_p": 0.9,
    }
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}


@pytest.mark.parametrize(
    "troubles",
    [[429, "ok"], [500, 503, "ok"], ["drop", "ok"], ["garbage", "ok"], ["odd", "ok"], ["slow", "ok"]],
    ids=lambda troubles: "-".join(map(str, troubles)),
)
def test_trouble_that_passes_is_waited_out(troubles):
    requests, is_slow = len(troubles), "slow" in troubles
    timeout_s = 1.0 if is_slow else 60.0
    with FakeEndpoint({"hard": troubles}).running() as endpoint:
        result = run(endpoint, ("easy", "one"), ("hard", "two"), request_timeout_s=timeout_s)
    assert result[0].data["generated"].to_pylist() == ["one", "two"]
    # A machine with much else to do may also be slow to send what is not meant to be.
    assert endpoint.seen["hard"] >= requests if is_slow else endpoint.seen["hard"] == requests
    assert result.quarantined == []


def test_a_row_without_an_answer_goes_to_quarantine_with_its_reason_and_the_others_go_on():
    script = {"down": [500], "long": [400], "mute": ["empty"]}
    with FakeEndpoint(script).running() as endpoint:
        result = run(
            endpoint,
            ("fine", "one"),
            ("down", "x"),
            ("long", "x"),
            ("mute", "x"),
            ("good", "two"),
            max_requests_per_row=3,
        )
    assert result[0].data["generated"].to_pylist() == ["one", "two"]
    assert endpoint.seen == {"down": 3, "long": 1, "mute": 1}
    found = {record.row: (record.error_type, record.message) for record in result.quarantined}
    assert {row: kind for row, (kind, _) in found.items()} == {
        10: "EndpointUnavailable",
        20: "RequestRefused",
        30: "RequestRefused",
    }
    assert "HTTP 500" in found[10][1]
    assert "(after 3 attempts)" in found[10][1]
    assert "HTTP 400" in found[20][1]
    assert "no text" in found[30][1]


def test_the_server_says_when_to_come_back():
    with FakeEndpoint({"busy": [(429, {"Retry-After": "0.4"}), "ok"]}).running() as endpoint:
        run(endpoint, ("busy", "one"))
    assert endpoint.times[1] - endpoint.times[0] >= 0.4


def test_an_endpoint_that_is_down_fails_the_batch_as_a_whole():
    endpoint = FakeEndpoint()
    with endpoint.running():
        pass
    result = run(endpoint, ("a", "x"), ("b", "x"), max_requests_per_row=2)
    (record,) = result.quarantined
    assert record.rows == 2
    assert "answered none of 2 requests" in record.message


def test_a_wrong_key_is_said_at_once_and_never_shown(monkeypatch, tmp_path):
    monkeypatch.setenv("TEST_LLM_KEY", "correct-horse-battery")
    with FakeEndpoint(key="another").running() as endpoint:
        result = run(endpoint, ("a", "x"), api_key_env="TEST_LLM_KEY", run_dir=tmp_path / "run")
    (record,) = result.quarantined
    assert "HTTP 401" in record.message
    assert len(endpoint.requests) <= 3
    assert endpoint.requests[0][1]["Authorization"] == "Bearer correct-horse-battery"
    written = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert b"correct-horse" not in written
    assert "correct-horse" not in repr(result.quarantined) + result.report()


def test_a_key_comes_from_the_environment_or_not_at_all(monkeypatch):
    monkeypatch.setenv("TEST_LLM_KEY", "correct-horse-battery")
    with FakeEndpoint(key="correct-horse-battery").running() as endpoint:
        assert len(run(endpoint, ("a", "x"), api_key_env="TEST_LLM_KEY")) == 1
        monkeypatch.delenv("TEST_LLM_KEY")
        with pytest.raises(StageError, match="TEST_LLM_KEY is not set here"):
            run(endpoint, ("a", "x"), api_key_env="TEST_LLM_KEY")
        run(endpoint, ("a", "x"))
    assert "Authorization" not in endpoint.requests[-1][1]


def test_tokens_and_cost_are_counted():
    with FakeEndpoint({"hard": [500, "cut"]}).running() as endpoint:
        result = run(endpoint, ("easy", "abc"), ("hard", "abcd"), prompt_price=2.0, completion_price=8.0)
    counters = result.stats["text.llm"].counters
    read = len("easy say: abc") + len("hard say: abcd")
    assert counters == {
        "requests": 3,
        "prompt_tokens": read,
        "completion_tokens": 7,
        "answers_cut": 1,
        "cost": pytest.approx((read * 2 + 7 * 8) / 1e6),
    }
    assert "completion_tokens: 7" in result.report()


def test_a_judge_gives_scores_and_an_answer_without_one_is_quarantined():
    with FakeEndpoint().running() as endpoint:
        result = run(
            endpoint,
            ("a", "Score: 4.5 out of 5"),
            ("b", "no idea"),
            ("c", "9"),
            ("d", "0"),
            task="judge",
            score_range=(0, 5),
            answer_column="said",
        )
    assert result[0].data["judge_score"].to_pylist() == [4.5, 0.0]
    assert result[0].data["said"].to_pylist() == ["Score: 4.5 out of 5", "0"]
    assert {record.row: record.error_type for record in result.quarantined} == {
        10: "UnusableAnswer",
        20: "UnusableAnswer",
    }


def test_requests_keep_to_the_limit_per_minute():
    with FakeEndpoint().running() as endpoint:
        run(endpoint, *[("a", str(number)) for number in range(8)], requests_per_minute=12 * 60, concurrency=8)
        # 12 per second with five seconds' worth at once: eight pass at once, so tokens are what slows this one down.
        # Each request uses 300 tokens, half of them read, one after the other: before the third begins, 600 are used,
        # of which 500 may pass at once and 100 take a second, however slow or fast the machine is.
        started = time.monotonic()
        run(endpoint, *[("b", "x" * 147) for _ in range(3)], tokens_per_minute=6000, max_tokens=150, concurrency=1)
    assert time.monotonic() - started >= 0.9
    stage = Llm(base_url="http://h/v1", model="m", prompt="p", requests_per_minute=5)
    assert (stage.num_workers(), stage.with_(workers=3).num_workers()) == (1, 3)
    assert Llm(base_url="http://h/v1", model="m", prompt="p").num_workers() is None


def test_it_runs_in_workers_too(ray_session):
    with FakeEndpoint({"bad": [400]}).running() as endpoint:
        result = run(endpoint, ("a", "one"), ("bad", "x"), executor=StreamingExecutor())
    assert result[0].data["generated"].to_pylist() == ["one"]
    assert result.stats["text.llm"].counters["requests"] == 2
    assert [record.error_type for record in result.quarantined] == ["RequestRefused"]


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"base_url": "ftp://host"}, "is no http address"),
        ({"prompt": "{text.__class__}"}, "not the name of a column"),
        ({"prompt": "{text!r}"}, "not the name of a column"),
        ({"prompt": "{text"}, "prompt:"),
        ({"prompt": None}, "prompt is needed"),
        ({"task": "dance"}, "task is 'dance'"),
        ({"concurrency": 0}, "concurrency must be at least 1"),
        ({"requests_per_minute": 0}, "requests_per_minute must be above 0"),
        ({"task": "judge", "score_pattern": "("}, "no regular expression"),
        ({"task": "judge", "score_pattern": "x"}, "has no group"),
    ],
)
def test_wrong_parameters_are_refused_at_once(parameters, problem):
    with pytest.raises(ConfigError, match=problem):
        Llm(**{"base_url": "http://host/v1", "model": "m", "prompt": "{text}", **parameters})


@given(st.text(), st.text())
def test_whatever_stands_in_a_column_arrives_as_it_is(before, value):
    template = PromptTemplate(before.replace("{", "{{").replace("}", "}}") + "{text}")
    assert template.columns == ["text"]
    assert template.fill({"text": value}) == before + value


@given(st.lists(st.tuples(st.floats(0, 3), st.floats(0.1, 20)), max_size=60), st.floats(30, 6000), st.floats(0.1, 10))
def test_no_more_passes_than_the_limit_allows(steps, per_minute, burst_s):
    limit = RateLimit(per_minute, burst_s=burst_s)
    now_s = total = 0.0
    for pause_s, amount in steps:
        now_s += pause_s
        at_s = now_s + limit.reserve(amount, now_s=now_s)
        # What passed before this one, which may itself be larger than what is left.
        assert total <= per_minute / 60 * (at_s + burst_s) + 1e-6
        total += amount


def test_delays_double_up_to_a_minute_and_servers_are_heard():
    assert [delay_s(attempt, asked_s=None, place=1.0) for attempt in (1, 2, 20)] == [0.01, 0.02, 60.0]
    assert delay_s(2, asked_s=None, place=0.0) == 0.01
    assert delay_s(1, asked_s=1e9, place=0.5) == 600.0
    then = datetime(2026, 1, 1, 12, 0, 30, tzinfo=timezone.utc)
    assert retry_after_s("Thu, 01 Jan 2026 12:00:30 GMT", now=then - timedelta(seconds=30)) == 30.0
    assert retry_after_s("Thu, 01 Jan 2026 12:00:30 GMT", now=then + timedelta(seconds=30)) == 0.0


@pytest.mark.parametrize(
    ("answer", "score"),
    [("4", 4.0), ("Quality: 3/5", 3.0), ("-1.5", -1.5), ("v2 gets 5", 5.0), ('{"score": 2}', 2.0)],
)
def test_the_first_number_is_the_score(answer, score):
    assert ScoreReader().read(answer) == score


def test_scores_in_json_and_by_pattern():
    reader = ScoreReader(key="score")
    assert reader.read('Well {not json} ```json\n{"why": {"a": 1}, "score": 3.5}\n```') == 3.5
    with pytest.raises(ValueError, match="no JSON object with 'score'"):
        reader.read('{"points": 3}')
    with pytest.raises(ValueError, match="is not a number"):
        reader.read('{"score": "high"}')
    assert ScoreReader(pattern=r"total:\s*(\d+)").read("1 and 2, total: 7") == 7.0
