"""``curator quarantine``: look at what a run set aside, and retry it."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core.cli import exit_status
from curator_core.cli.pipeline_arguments import add_shared, load
from curator_core.cli.terminal import columns_text, print_data, print_json, print_message
from curator_core.registry import default_registry
from curator_core.values.errors import ConfigError, UnknownNameError
from curator_core.values.redaction import redact
from curator_core.values.terminal_text import visible_line

if TYPE_CHECKING:
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.pipelines.quarantine_retry import RetryResult
    from curator_core.run.quarantine.folder import QuarantineFolder

__all__ = ["add_arguments", "run"]

_MESSAGE_CHARS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ls|show|retry")
    ls = actions.add_parser("ls", help="list the records", allow_abbrev=False)
    _add_common(ls)
    _add_filters(ls)
    ls.add_argument("--all", action="store_true", help="also those that were retried with success")
    add_shared(ls, "--json")
    show = actions.add_parser("show", help="show all that is known about a record", allow_abbrev=False)
    _add_common(show)
    show.add_argument("record", metavar="ID", help="id of the record, or its beginning")
    add_shared(show, "--json")
    retry = actions.add_parser("retry", help="give records to the pipeline again", allow_abbrev=False)
    _add_common(retry)
    retry.add_argument("records", nargs="*", metavar="ID", help="records to retry; all unless given")
    _add_filters(retry)
    retry.add_argument("--pipeline", metavar="P.yaml", help="the pipeline, instead of the run directory's plan.yaml")
    add_shared(retry, "--set")
    retry.add_argument("--executor", metavar="NAME", default="local", help="run with this executor (default: local)")
    retry.add_argument("--dry-run", action="store_true", help="only say what would be done")
    add_shared(retry, "--json")


def run(args: argparse.Namespace) -> int:
    """List, show or retry."""
    from curator_core.run.quarantine.folder import QuarantineFolder

    if not (Path(args.run_dir) / "quarantine").is_dir() and not (Path(args.run_dir) / "result.json").is_file():
        raise ConfigError(
            f"{args.run_dir!r} is not a run directory", fix="name the folder that was given to curator run --run-dir"
        )
    return {"ls": _ls, "show": _show, "retry": _retry}[args.action](QuarantineFolder(args.run_dir), args)


def _ls(folder: QuarantineFolder, args: argparse.Namespace) -> int:
    resolved = folder.resolutions()
    records = [
        record
        for record in folder.records().values()
        if _is_wanted(record, args) and (args.all or record.record_id not in resolved)
    ]
    counts = Counter((record.stage, record.error_type) for record in records)
    if args.json:
        rows = Counter[tuple[str, str]]()
        for record in records:
            rows[record.stage, record.error_type] += record.rows
        print_json(
            {
                "records": [record.to_dict() | {"resolved": record.record_id in resolved} for record in records],
                "counts": [
                    {"stage": stage, "error_type": error, "records": count, "rows": rows[stage, error]}
                    for (stage, error), count in counts.most_common()
                ],
            }
        )
    elif not records:
        print_data("nothing in quarantine" + (f" ({len(resolved):,} resolved)" if resolved else ""))
    else:
        lines = [("ID", "STAGE", "WHERE", "ERROR", "ATTEMPTS")]
        for record in records:
            name = record.record_id + (" (resolved)" if record.record_id in resolved else "")
            lines.append((name, record.stage, record.where, _error(record), str(record.attempts)))
        print_data(columns_text(lines) + "\n")
        for (stage, error), count in counts.most_common():
            print_data(visible_line(f"{count:>7,}  {stage}  {error}"))
    return exit_status.OK


def _show(folder: QuarantineFolder, args: argparse.Namespace) -> int:
    record = _find(args.record, folder.records())
    resolution = folder.resolutions().get(record.record_id)
    values: dict[str, Any] = record.to_dict()
    if resolution is not None:
        values["resolved"] = vars(resolution)
    if args.json:
        print_json(values)
        return exit_status.OK
    trace, payload = values.pop("traceback"), values.pop("payload")
    width = max(len(name) for name in values)
    for name, value in values.items():
        if value is not None:
            print_data(f"{name.ljust(width)}  {visible_line(str(value))}")
    if payload is not None:
        print_data(f"\npayload\n{payload}")
    if trace is not None:
        print_data(f"\n{trace.rstrip()}")
    return exit_status.OK


def _retry(folder: QuarantineFolder, args: argparse.Namespace) -> int:
    from curator_core.config.executors import make_executor
    from curator_core.pipelines.quarantine_retry import plan_file, retry_quarantined

    known = folder.records()
    chosen = {_find(each, known).record_id for each in args.records}
    result = retry_quarantined(
        args.run_dir,
        pipeline=load(args.pipeline or str(plan_file(args.run_dir)), args.variables).pipeline,
        executor=make_executor(args.executor, {}, registry=default_registry()),
        choose=lambda record: _is_wanted(record, args) and (not chosen or record.record_id in chosen),
        dry_run=args.dry_run,
    )
    order = result.order
    if args.json:
        print_json(_retry_values(result, is_dry=args.dry_run))
    elif not order.count and not order.impossible:
        print_data("nothing to retry")
    elif args.dry_run:
        rows = [("ID", "WHERE", "FROM")]
        rows += [(each.record_id, each.where, stage) for stage, records in order.kept.items() for each in records]
        rows += [
            (each.record_id, each.where, f"its source {source}")
            for source, records in order.sources.items()
            for each in records
        ]
        rows += [(record_id, "-", f"cannot be retried: {reason}") for record_id, reason in order.impossible.items()]
        print_data(columns_text(rows))
    else:
        _print_result(result)
    return exit_status.OK if args.dry_run or result.is_complete else exit_status.QUARANTINED


def _print_result(result: RetryResult) -> None:
    print_data(f"{len(result.resolved):,} resolved, {len(result.records):,} in quarantine again")
    for record in result.records:
        print_data(visible_line(f"    {record.record_id}  {record.stage}: {record.where}: {_error(record)}"))
    for record_id, reason in result.order.impossible.items():
        print_message(f"{record_id} cannot be retried: {reason}")
    for path in _shown_outputs(result):
        print_data(path)


def _retry_values(result: RetryResult, *, is_dry: bool) -> dict[str, Any]:
    order = result.order
    return {
        "dry_run": is_dry,
        "from_stage": {stage: [each.record_id for each in records] for stage, records in order.kept.items()},
        "from_source": {source: [each.record_id for each in records] for source, records in order.sources.items()},
        "impossible": order.impossible,
        "resolved": result.resolved,
        "records": [record.to_dict() for record in result.records],
        "outputs": _shown_outputs(result),
    }


def _shown_outputs(result: RetryResult) -> list[str]:
    return [redact(path) for task in result.outputs for path in getattr(task, "paths", ())]


def _find(beginning: str, records: dict[str, QuarantineRecord]) -> QuarantineRecord:
    found = [record for record_id, record in records.items() if record_id.startswith(beginning)]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(record.record_id for record in found)
        raise ConfigError(f"{beginning!r} is the beginning of several records: {ids}", fix="give more of it")
    raise UnknownNameError("record", beginning, records, fix="see curator quarantine ls RUN_DIR --all")


def _is_wanted(record: QuarantineRecord, args: argparse.Namespace) -> bool:
    named_today = default_registry().canonical_name
    is_of_stage = args.stage is None or named_today(args.stage) == named_today(record.stage)
    return is_of_stage and args.error in (None, record.error_type)


def _error(record: QuarantineRecord) -> str:
    text = next(iter(record.message.splitlines()), "")
    text = text if len(text) <= _MESSAGE_CHARS else f"{text[: _MESSAGE_CHARS - 1]}…"
    return f"{record.error_type}: {text}" if text else record.error_type


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_dir", metavar="RUN_DIR", help="folder that was given to curator run --run-dir")
    # The outer parser has it too, but does not see what comes behind the sub-command.
    parser.add_argument("--traceback", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stage", metavar="NAME", help="only records of this stage")
    parser.add_argument("--error", metavar="TYPE", help="only records of this class of error")
