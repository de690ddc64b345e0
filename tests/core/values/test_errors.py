"""Names that are offered for a name that does not exist."""

import pytest

from curator_core.values.errors import nearest

STAGES = [
    "shout",
    "toy.shout",
    "audio.vad",
    "image.word_count",
    "table.where",
    "table.read_jsonl",
    "text.word_blocklist",
    "text.word_count",
]


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("text.word_cuont", ["text.word_count"]),
        ("shuot", ["shout"]),
        ("txt.read_jsonl", ["table.read_jsonl"]),
        ("core.where", ["table.where"]),
        ("word_count", ["image.word_count", "text.word_count"]),
        ("text.translate_everything", []),
        ("table.vad", ["audio.vad"]),
    ],
)
def test_stages_that_are_called_alike_are_offered_and_not_all_of_one_plugin(name, offered):
    assert nearest(name, STAGES) == offered
