"""Ask a language model about each document: rewrite it, judge it, write something new from it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pyarrow as pa

from curator_core.sdk import BadRecord, ConfigError, ProcessingStage, Resources, StageError, TableBatch, report
from curator_text.llm.chat_client import ChatAnswer, ChatClient
from curator_text.llm.prompt_template import PromptTemplate
from curator_text.llm.row_requests import RowFailure, RowRequests
from curator_text.llm.score_reading import ScoreReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import Columns, WorkerInfo
    from curator_text.llm.row_requests import RowOutcome

__all__ = ["Llm"]

LlmTask = Literal["generate", "rewrite", "judge"]

_COLUMNS = {"generate": "generated", "rewrite": "rewritten", "judge": "judge_score"}
_PROMPTS = {
    "rewrite": "Rewrite the text below so that it is clear, correct and well structured. Keep every fact and the "
    "language it is written in. Answer with the rewritten text alone.\n\n{text}",
    "judge": "How much could a reader learn from the text below? Answer with one whole number from 0 (nothing) to 5 "
    "(a great deal), and nothing else.\n\n{text}",
}
_MILLION = 1_000_000
_SHOWN = 200


@dataclass
class Llm(ProcessingStage[TableBatch, TableBatch]):
    """Ask a model behind an OpenAI-compatible endpoint (vLLM, SGLang, TGI, Ollama, a paid service) about each document.

    ``generate`` and ``rewrite`` add the answer as a column; ``judge`` adds the score that it finds in the answer. Many
    requests are under way at a time, over connections that stay open. Requests that fail because of too many requests,
    the server or the network are sent again, later and later, or when the server says. A row that gets no usable answer
    goes to quarantine with the reason, and the others continue; if no row of a batch can be answered because the
    endpoint is down, the batch fails as a whole. A row with a null in a column of the prompt gets a null, and no
    request is made for it.

    Statistics count ``requests``, ``prompt_tokens``, ``completion_tokens``, answers cut at ``max_tokens`` and, with
    prices, ``cost``. With a rate limit there is one worker unless ``with_(workers=...)`` says otherwise; then each gets
    its share of the limit. Answers of a model can differ from run to run, also at temperature 0.

    >>> Llm(base_url="http://localhost:8000/v1", model="m", task="judge").outputs()
    ['judge_score']

    Args:
        base_url: Address of the endpoint up to its version, such as ``http://localhost:8000/v1``.
        model: Name of the model there.
        task: ``generate``, ``rewrite`` or ``judge``.
        prompt: Text of the request, with columns in braces: ``Summarise: {text}``. There are defaults for ``rewrite``
            and ``judge``, which read the column ``text``.
        system: System prompt; columns in braces too.
        column: Column to add; ``generated``, ``rewritten`` or ``judge_score`` unless given.
        answer_column: For ``judge``, a column for the whole answer; none unless given.
        score_pattern: For ``judge``, a regular expression whose first group is the score; unless given, the first
            number is.
        score_key: For ``judge``, the key of the score in a JSON object in the answer.
        score_range: For ``judge``, the valid range of scores; an answer outside of it is invalid.
        temperature: Randomness of the answers.
        max_tokens: Maximum number of tokens of an answer.
        parameters: More fields for the request, such as ``top_p`` or ``response_format``.
        max_chars: Cut every column in the prompt to this number of characters.
        api_key_env: Name of the environment variable that holds the key; no key is sent unless given. It has to be set
            on the machines that run the workers.
        concurrency: Maximum number of requests under way at a time, per worker.
        max_requests_per_row: Maximum number of requests for a row.
        request_timeout_s: Maximum number of seconds of silence before a request counts as failed.
        requests_per_minute: Maximum number of requests per minute, in all.
        tokens_per_minute: Maximum number of tokens per minute, read and written, in all.
        prompt_price: Price of a million tokens read, in any currency.
        completion_price: Price of a million tokens written.
    """

    base_url: str
    model: str
    task: LlmTask = "generate"
    prompt: str | None = None
    system: str | None = None
    column: str | None = None
    answer_column: str | None = None
    score_pattern: str | None = None
    score_key: str | None = None
    score_range: tuple[float, float] | None = None
    temperature: float = 0.0
    max_tokens: int = 1024
    parameters: dict[str, Any] = field(default_factory=dict)
    max_chars: int | None = None
    api_key_env: str | None = None
    concurrency: int = 16
    max_requests_per_row: int = 6
    request_timeout_s: float = 120.0
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    prompt_price: float = 0.0
    completion_price: float = 0.0

    name = "text.llm"
    resources = Resources(cpus=0.25)  # it mostly waits
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.task not in _COLUMNS:
            raise ConfigError(f"{self.name}: task is {self.task!r}", fix=f"use one of {', '.join(_COLUMNS)}")
        if self.prompt is None and self.task not in _PROMPTS:
            raise ConfigError(
                f"{self.name}: prompt is needed for task {self.task!r}", fix="e.g. prompt: 'Sum up: {text}'"
            )
        for name in ("max_tokens", "concurrency", "max_requests_per_row"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{self.name}: {name} must be at least 1, got {getattr(self, name)}")
        for name in ("requests_per_minute", "tokens_per_minute", "request_timeout_s"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigError(f"{self.name}: {name} must be above 0, got {value}")
        self._templates()
        self._reader()
        self._client(None)

    def inputs(self) -> Columns:
        prompt, system = self._templates()
        return list(dict.fromkeys([*prompt.columns, *(system.columns if system else ())]))

    def outputs(self) -> Columns:
        return [self._column, *([self.answer_column] if self.answer_column else ())]

    def num_workers(self) -> int | None:
        """Return one where there is a rate limit, which counts for all workers together, unless a number is given."""
        is_limited = self.requests_per_minute is not None or self.tokens_per_minute is not None
        return self.workers or (1 if is_limited else None)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        key = None
        if self.api_key_env is not None:
            key = os.environ.get(self.api_key_env)
            if not key:
                raise StageError(
                    f"{self.name}: the environment variable {self.api_key_env} is not set here",
                    fix=f"export {self.api_key_env}=... before the run, on every machine that runs workers",
                )
        workers = self.num_workers() or 1
        self._requests = RowRequests(
            self._client(key),
            concurrency=self.concurrency,
            max_attempts=self.max_requests_per_row,
            requests_per_minute=None if self.requests_per_minute is None else self.requests_per_minute / workers,
            tokens_per_minute=None if self.tokens_per_minute is None else self.tokens_per_minute / workers,
        )

    def teardown(self) -> None:
        requests: RowRequests | None = self.__dict__.pop("_requests", None)
        if requests is not None:
            requests.close()

    def process(self, task: TableBatch) -> TableBatch | None:
        outcomes = self._requests.ask(self._payloads(task))
        self._count(outcomes)
        results = [self._result(outcome) for outcome in outcomes]
        failed = [row for row, result in enumerate(results) if isinstance(result, RowFailure)]
        if failed and all(
            isinstance(each, RowFailure) and each.kind == "EndpointUnavailable" for each in results if each is not None
        ):
            first = results[failed[0]]
            assert isinstance(first, RowFailure)
            raise StageError(
                f"{self.name}: {self.base_url} answered none of {len(failed)} requests: {first.message}",
                fix="see that the endpoint runs and can be reached from the workers",
            )
        for row in failed:
            self._refuse(task, row, results[row])
        if failed and len(failed) == task.num_rows:
            return None
        return self._with_answers(task, results, failed)

    def _templates(self) -> tuple[PromptTemplate, PromptTemplate | None]:
        prompt = PromptTemplate(self.prompt or _PROMPTS[self.task], what=f"{self.name}: prompt")
        return prompt, None if self.system is None else PromptTemplate(self.system, what=f"{self.name}: system")

    def _reader(self) -> ScoreReader:
        return ScoreReader(pattern=self.score_pattern, key=self.score_key, score_range=self.score_range)

    def _client(self, key: str | None) -> ChatClient:
        return ChatClient(self.base_url, api_key=key, timeout_s=self.request_timeout_s)

    @property
    def _column(self) -> str:
        return self.column or _COLUMNS[self.task]

    def _payloads(self, task: TableBatch) -> list[dict[str, Any] | None]:
        prompt, system = self._templates()
        names = [str(name) for name in self.inputs()]
        columns = {name: self._values(task, name) for name in names}
        payloads: list[dict[str, Any] | None] = []
        for row in range(task.num_rows):
            values = {name: columns[name][row] for name in names}
            known = {name: value for name, value in values.items() if value is not None}
            if len(known) < len(values):
                payloads.append(None)
                continue
            messages = [] if system is None else [{"role": "system", "content": system.fill(known)}]
            messages.append({"role": "user", "content": prompt.fill(known)})
            payloads.append(
                {
                    "model": self.model,
                    "messages": messages,
                    "temperature": self.temperature,
                    "max_tokens": self.max_tokens,
                    **self.parameters,
                }
            )
        return payloads

    def _values(self, task: TableBatch, name: str) -> list[str | None]:
        import polars as pl

        series = task.series(name)
        texts = series.cast(pl.String) if series.dtype.is_numeric() else task.text(name)
        if self.max_chars is not None:
            texts = texts.str.head(self.max_chars)
        values: list[str | None] = texts.to_list()
        return values

    def _result(self, outcome: RowOutcome | None) -> tuple[Any, str] | RowFailure | None:
        if outcome is None or isinstance(outcome.result, RowFailure):
            return None if outcome is None else outcome.result  # type: ignore[return-value]  # seen to be a failure
        answer = outcome.result.text
        if self.task != "judge":
            return answer, answer
        try:
            return self._reader().read(answer), answer
        except ValueError as error:
            return RowFailure(f"{error}: {answer[:_SHOWN]!r}", "UnusableAnswer")

    def _count(self, outcomes: Sequence[RowOutcome | None]) -> None:
        answers = [each.result for each in outcomes if each is not None and isinstance(each.result, ChatAnswer)]
        read = sum(answer.prompt_tokens for answer in answers)
        written = sum(answer.completion_tokens for answer in answers)
        counters: dict[str, float] = {
            "requests": sum(each.requests for each in outcomes if each is not None),
            "prompt_tokens": read,
            "completion_tokens": written,
            "answers_cut": sum(answer.is_cut for answer in answers),
            "cost": (read * self.prompt_price + written * self.completion_price) / _MILLION,
        }
        report().count(**{name: amount for name, amount in counters.items() if amount})

    def _refuse(self, task: TableBatch, row: int, failure: Any) -> None:
        source, place = task.row_source(row)
        report().bad_record(BadRecord(failure.message, source=source, row=place, error_type=failure.kind))

    def _with_answers(self, task: TableBatch, results: Sequence[Any], failed: Sequence[int]) -> TableBatch:
        kept = [row for row in range(task.num_rows) if row not in set(failed)]
        if failed:
            task = task.with_data(task.data.take(pa.array(kept, pa.int64())))
        values = [None if results[row] is None else results[row][0] for row in kept]
        kind = pa.float64() if self.task == "judge" else pa.string()
        task = task.with_column(self._column, pa.array(values, kind))
        if self.answer_column is None:
            return task
        answers = [None if results[row] is None else results[row][1] for row in kept]
        return task.with_column(self.answer_column, pa.array(answers, pa.string()))
