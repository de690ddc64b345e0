"""Embeddings and classifiers through the public interface, with models made on the spot."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, Resources
from curator_core.authoring.models.torch_device import choose_device, may_use_gpu
from curator_core.authoring.stage import WorkerInfo
from curator_core.plan.planner import decompose
from curator_core.values.errors import ConfigError, CuratorError, PipelineError, StageError
from curator_text import Classify, DocumentBatch, Embed, Tokenize
from curator_text.models.token_model import padded
from tests.support.tiny_text_models import (
    DOCUMENTS,
    LABELS,
    classifier,
    encoder,
    hub_mixin_classifier,
    pickled_classifier,
    plain_tokenizer_file,
    sentence_encoder,
    tokenizer_file,
)


def documents(texts=DOCUMENTS):
    return DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string()), "n": range(len(texts))}))


def run(*stages, batches=None):
    return Pipeline(stages=list(stages)).run(LocalExecutor(), initial_tasks=batches or [documents()])


def column(result, name):
    return [value for task in result for value in task.data[name].to_pylist()]


def hidden_states(path, text, *, max_length):
    """What transformers makes of one text, without padding."""
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoModel

    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    tokenizer.enable_truncation(max_length)
    with torch.inference_mode():
        ids = torch.tensor([tokenizer.encode(text).ids])
        return AutoModel.from_pretrained(path).eval()(ids).last_hidden_state[0].numpy()


# --- batches


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=5), min_size=1, max_size=9))
def test_padding_gives_every_row_its_own_ids(rows):
    ids, mask = padded([np.array(row, np.int32) for row in rows], pad_id=77)
    assert [line[own == 1].tolist() for line, own in zip(ids, mask, strict=True)] == rows
    assert (ids[mask == 0] == 77).all()


# --- embeddings


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_vectors_are_those_of_the_model_whatever_the_batches(pooling):
    (out,) = run(Embed(str(encoder()), pooling=pooling, max_tokens_per_batch=100))
    assert out.columns == ["text", "n", "embedding"]
    assert out.data.schema.field("embedding").type == pa.list_(pa.float32(), 16)
    for text, vector in zip(DOCUMENTS, out.data["embedding"].to_pylist(), strict=True):
        if text is None:
            assert vector is None
            continue
        hidden = hidden_states(encoder(), text, max_length=48)
        expected = {"mean": hidden.mean(axis=0), "cls": hidden[0], "last": hidden[-1]}[pooling]
        np.testing.assert_allclose(vector, expected, rtol=1e-4, atol=1e-5)


def test_a_folder_of_sentence_transformers_is_run_as_it_says():
    from safetensors.torch import load_file

    path = sentence_encoder()
    vectors = column(run(Embed(str(path))), "embedding")
    layer = {name: value.numpy() for name, value in load_file(path / "2_Dense/model.safetensors").items()}
    for text, vector in zip(DOCUMENTS, vectors, strict=True):
        if text is not None:
            first = hidden_states(path, text, max_length=24)[0]
            expected = np.tanh(layer["linear.weight"] @ first + layer["linear.bias"])
            np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), rtol=1e-4, atol=1e-5)


def test_what_is_given_overrules_the_folder():
    raw = column(run(Embed(str(sentence_encoder()), normalize=False)), "embedding")[0]
    short = column(run(Embed(str(sentence_encoder()), dimensions=3)), "embedding")[0]
    np.testing.assert_allclose(short, raw[:3] / np.linalg.norm(raw[:3]), rtol=1e-5)
    other = column(run(Embed(str(sentence_encoder()), pooling="mean", normalize=False)), "embedding")[0]
    assert not np.allclose(other, raw, atol=1e-3)


def test_unknown_modules_and_poolings_are_refused(tmp_path):
    path = tmp_path / "other"
    shutil.copytree(sentence_encoder(), path)
    modules = json.loads((path / "modules.json").read_text())
    (path / "modules.json").write_text(json.dumps([*modules, {"path": "4_LSTM", "type": "a.LSTM"}]))
    with pytest.raises(StageError, match="a module of type 'LSTM'"):
        run(Embed(str(path)))
    with pytest.raises(StageError, match="asks for the pooling pooling_mode_max_tokens"):
        run(Embed(str(sentence_encoder("pooling_mode_max_tokens"))))
    with pytest.raises(StageError, match="dimensions=99, but the model makes 6"):
        run(Embed(str(sentence_encoder()), dimensions=99))


def test_a_text_without_tokens_gets_a_null(tmp_path):
    path = tmp_path / "plain"
    shutil.copytree(encoder(), path)
    shutil.copy(plain_tokenizer_file(), path / "tokenizer.json")
    assert [vector is None for vector in column(run(Embed(str(path))), "embedding")] == [not text for text in DOCUMENTS]


def test_tasks_that_share_batches_get_their_own_rows_back():
    one_by_one = [documents([text]) for text in DOCUMENTS]
    alone = column(run(Embed(str(encoder())), batches=one_by_one), "embedding")
    shared = run(Embed(str(encoder())).with_(batch_size=5), batches=one_by_one)
    assert [task.num_rows for task in shared] == [1] * len(DOCUMENTS)
    assert column(shared, "text") == DOCUMENTS
    for one, other in zip(alone, column(shared, "embedding"), strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_the_same_task_gives_the_same_bits():
    one, other = (column(run(Embed(str(encoder()))), "embedding") for _ in range(2))
    assert one == other


def test_tokens_made_once_serve_several_models():
    tokenize = Tokenize(str(tokenizer_file()), max_length=48)
    embed, classify = (
        Embed(str(encoder()), tokens_column="tokens"),
        Classify(str(classifier()), tokens_column="tokens"),
    )
    (out,) = run(tokenize, embed, classify)
    assert out.columns == ["text", "n", "tokens", "embedding", "label", "score"]
    assert column([out], "embedding") == column(run(Embed(str(encoder()))), "embedding")


def test_options_go_to_the_model_and_not_to_its_tokenizer():
    stage = Embed(str(encoder())).with_(resources=Resources(gpus=0.25), batch_size=4, name="vectors")
    tokenize, embed = decompose(stage)
    assert (tokenize.name, tokenize.resources, tokenize.batch_size) == ("vectors.tokenize", Resources(cpus=1), 1)
    assert (embed.name, embed.resources.gpus, embed.batch_size) == ("vectors", 0.25, 4)


def test_torch_uses_as_many_threads_as_the_worker_has_cpus_and_then_as_before():
    import torch

    before = torch.get_num_threads()
    seen = []
    stage = decompose(Embed(str(encoder())).with_(resources=Resources(cpus=3)))[1]
    stage.setup(None)
    seen.append(torch.get_num_threads())
    stage.teardown()
    assert (seen, torch.get_num_threads()) == ([3], before)


# --- classifiers


def logits(path, text):
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoModelForSequenceClassification

    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    tokenizer.enable_truncation(48)
    with torch.inference_mode():
        model = AutoModelForSequenceClassification.from_pretrained(path).eval()
        return model(torch.tensor([tokenizer.encode(text).ids])).logits[0].double().numpy()


def test_labels_and_probabilities_are_those_of_the_model():
    (out,) = run(Classify(str(classifier()), scores_column="all"))
    rows = out.data.to_pylist()
    assert list(rows[0]) == ["text", "n", "label", "score", "all"]
    for text, row in zip(DOCUMENTS, rows, strict=True):
        if text is None:
            assert (row["label"], row["score"], row["all"]) == (None, None, None)
            continue
        raw = logits(classifier(), text)
        expected = np.exp(raw) / np.exp(raw).sum()
        assert row["label"] == LABELS[expected.argmax()]
        assert row["score"] == pytest.approx(expected.max(), abs=1e-5)
        assert list(row["all"].values()) == pytest.approx(list(expected), abs=1e-5)
        assert list(row["all"]) == list(LABELS)


def test_independent_labels_have_probabilities_of_their_own():
    path = classifier("multi_label_classification")
    row = run(Classify(str(path), scores_column="all"))[0].data.to_pylist()[3]
    expected = 1 / (1 + np.exp(-logits(path, DOCUMENTS[3])))
    assert list(row["all"].values()) == pytest.approx(list(expected), abs=1e-5)
    assert row["score"] == pytest.approx(expected.max(), abs=1e-5)


def test_a_regression_gives_its_raw_score_the_rounded_one_and_a_label_by_threshold():
    path = classifier("regression", ("LABEL_0",))
    rows = run(Classify(str(path), preset="fineweb_edu", max_length=48))[0].data.to_pylist()
    for text, row in zip(DOCUMENTS, rows, strict=True):
        if text is None:
            assert (row["fineweb_edu_label"], row["fineweb_edu_score"], row["fineweb_edu_int_score"]) == (None,) * 3
            continue
        (raw,) = logits(path, text)
        assert row["fineweb_edu_score"] == pytest.approx(raw, abs=1e-4)
        assert row["fineweb_edu_int_score"] == round(min(5, max(0, row["fineweb_edu_score"])))
        assert row["fineweb_edu_label"] == ("high_quality" if row["fineweb_edu_score"] >= 2.5 else "low_quality")
    plain = run(Classify(str(path)))[0].data
    assert plain["label"].null_count == plain.num_rows
    with pytest.raises(StageError, match="3 outputs, which is no regression"):
        run(Classify(str(classifier()), head="regression"))


def test_the_layout_of_nvidias_classifiers_is_read():
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer
    from transformers import AutoConfig, AutoModel

    path = hub_mixin_classifier()
    weights = load_file(path / "model.safetensors")
    backbone = AutoModel.from_config(AutoConfig.from_pretrained(path)).eval()
    backbone.load_state_dict({name[6:]: value for name, value in weights.items() if name.startswith("model.")})
    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    tokenizer.enable_truncation(48)
    rows = run(Classify(str(path), scores_column="all"))[0].data.to_pylist()
    for text, row in zip(DOCUMENTS, rows, strict=True):
        if text is None:
            continue
        with torch.inference_mode():
            first = backbone(torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0, 0]
            expected = (weights["fc.weight"] @ first + weights["fc.bias"]).softmax(0).tolist()
        assert list(row["all"].values()) == pytest.approx(expected, abs=1e-5)
        assert list(row["all"]) == list(LABELS)


def test_weights_that_do_not_fit_their_description_are_refused(tmp_path):
    path = tmp_path / "torn"
    shutil.copytree(hub_mixin_classifier(), path)
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 2}))
    with pytest.raises(StageError, match=r"lacks \d+ weights"):
        run(Classify(str(path)))


def test_keep_and_min_score_drop_with_a_reason():
    everything = run(Classify(str(classifier())))[0].data.to_pylist()
    labels = [row["label"] for row in everything]
    wanted = max(filter(None, labels), key=labels.count)
    scores = sorted(row["score"] for row in everything if row["label"] == wanted)
    result = run(Classify(str(classifier()), keep=[wanted], min_score=scores[1]))
    assert column(result, "score") == pytest.approx(
        [row["score"] for row in everything if row["label"] == wanted and row["score"] >= scores[1]]
    )
    dropped = result.stats["text.classify"].dropped
    assert dropped == {
        "missing_value": 1,
        "other_label": sum(label not in (None, wanted) for label in labels),
        "low_score": 1,
    }


def test_unknown_labels_are_refused_at_once_for_presets_and_at_set_up_for_other_models():
    with pytest.raises(CuratorError, match=r"unknown label for text.classify: 'Sport'; did you mean 'Sports'"):
        Classify(preset="domain", keep=["Sport"])
    with pytest.raises(StageError, match=r"unknown label for text.classify: 'godo'; did you mean 'good'"):
        run(Classify(str(classifier()), keep=["godo"]))
    with pytest.raises(ConfigError, match="neither model nor preset"):
        Classify()


def test_presets_fill_in_what_is_known():
    tokenize, classify = Classify(preset="quality").decompose()
    assert (tokenize.tokenizer, tokenize.max_length, tokenize.max_chars) == (
        "nvidia/quality-classifier-deberta",
        1024,
        6000,
    )
    assert classify.outputs() == ["quality", "quality_score"]


# --- what must not happen


def test_pickled_weights_are_loaded_only_when_allowed():
    with pytest.raises(StageError, match=r"pickles, which can run code"):
        run(Classify(str(pickled_classifier())))
    allowed = column(run(Classify(str(pickled_classifier()), allow_pickle=True)), "score")
    assert allowed == column(run(Classify(str(classifier()))), "score")


def test_models_that_are_not_there_say_what_to_do(monkeypatch, tmp_path):
    with pytest.raises(PipelineError, match=r"there is no tokenizer '.*/gone'"):
        run(Embed(str(tmp_path / "gone")))
    with pytest.raises(PipelineError, match=r"there is no model '.*/gone'"):
        run(Embed(str(tmp_path / "gone"), tokens_column="tokens"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(StageError, match="hf download nobody/nothing --local-dir DIR"):
        run(Embed("nobody/nothing"))


def test_a_model_without_the_head_it_is_asked_for_is_refused():
    with pytest.raises(StageError, match=r"lack 2 that the model needs, 'classifier.bias' among them"):
        run(Classify(str(encoder())))


def test_a_folder_without_a_model_is_reported(tmp_path):
    shutil.copy(tokenizer_file(), tmp_path / "tokenizer.json")
    with pytest.raises(StageError, match=r"no model can be loaded from .*"):
        run(Embed(str(tmp_path)))


def test_a_device_that_is_not_there_is_reported():
    with pytest.raises(StageError, match="device 'cuda' cannot be used here"):
        run(Embed(str(encoder()), device="cuda"))


def test_a_worker_takes_no_gpu_that_it_was_not_given(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    in_ray = WorkerInfo("3f2a-17", "node")
    assert not may_use_gpu(Resources(cpus=1), in_ray)
    assert may_use_gpu(Resources(gpus=0.25), in_ray)
    assert may_use_gpu(Resources(cpus=1), WorkerInfo())
    assert choose_device("auto", stage="s", gpu_allowed=False).type == "cpu"
    assert choose_device("auto", stage="s").type == "cuda"


def test_token_columns_of_the_wrong_type_are_reported():
    result = Pipeline(stages=[Embed(str(encoder()), tokens_column="text")]).run(
        LocalExecutor(), initial_tasks=[documents()]
    )
    assert "holds string, not lists of token ids" in result.quarantined[0].message
