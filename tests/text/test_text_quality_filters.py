"""The quality filters drop what their published rules drop, for the reasons of datatrove."""

import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.authoring.recording import Recording
from curator_core.cli import main
from curator_core.values.errors import ConfigError
from curator_text import C4Quality, FinewebQuality, GopherQuality, GopherRepetition, Heuristics
from tests.support import quality_oracle as oracle
from tests.support import spacy_oracle

PROSE = (
    "It is the habit of the sea to be calm in the morning. The men of the village have known that for years, and they "
    "go out with their boats before the sun is up.\nNobody has to tell them when to turn back. The wind does.\n\n"
    "In the evening they sit at the harbour and talk. Some mend nets, some only look at the water. What was caught is "
    "sold by then!"
)


def reasons(stage, texts):
    """The reasons that a filter gives when it tags, which must agree with what it keeps when it drops."""
    batch = TableBatch(data=pa.table({"text": pa.array(texts, pa.string()), "row": range(len(texts))}))
    short = stage.name.rpartition(".")[2]
    tagged = stage.with_(tag=True).process(batch).data
    given_reasons = tagged[f"{short}_reason"].to_pylist()
    recording = Recording()
    with recording.active():
        kept = stage.process(batch)
    rows = kept.data["row"].to_pylist() if kept is not None else []
    assert rows == [row for row, reason in enumerate(given_reasons) if reason is None]
    assert sum(recording.dropped.values()) == len(texts) - len(rows)
    assert all(given_reasons.count(reason) == count for reason, count in recording.dropped.items())
    return given_reasons


def filler(words=60):
    """Words, none of which is a stop word, without repetition."""
    return " ".join(f"word{chr(97 + number % 26)}{number}" for number in range(words))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PROSE, None),
        (None, "missing_value"),
        ("", "gopher_short_doc"),
        ("the of " + "word " * 47, "gopher_short_doc"),
        ("the of " + "word " * 48, None),
        ("the of " + "word " * 47 + "!!! " * 20, "gopher_short_doc"),  # punctuation alone is no word
        ("the of " + "a " * 60, "gopher_below_avg_threshold"),
        ("the of " + "extraordinarily " * 60, "gopher_above_avg_threshold"),
        ("the of " + "word#tag " * 60, "gopher_too_many_hashes"),
        ("the of " + "word... " * 60, "gopher_too_many_ellipsis"),
        ("\n".join(["- the word of", "\u2022 some other words"] * 30), "gopher_too_many_bullets"),
        (
            "\n".join(["the word of some others is here and then some more of it..."] * 7),
            "gopher_too_many_end_ellipsis",
        ),
        ("the of " + "word 1234 " * 60, "gopher_below_alpha_threshold"),
        (filler(), "gopher_enough_stop_words"),
    ],
)
def test_gopher_quality(text, reason):
    assert reasons(GopherQuality(), [text]) == [reason]


def test_gopher_quality_rules_can_be_moved_and_left_out():
    assert reasons(GopherQuality(min_words=None, min_stop_words=None, min_mean_word_length=None), ["tiny"]) == [None]
    assert reasons(GopherQuality(min_words=None, max_words=10), [PROSE]) == ["gopher_long_doc"]
    german = "das ist ein und der die " + filler()
    assert reasons(GopherQuality(stop_words=["und", "der"]), [german]) == [None]
    with pytest.raises(ConfigError, match="min_words=9 is more than max_words=3"):
        GopherQuality(min_words=9, max_words=3)
    with pytest.raises(ConfigError, match="stop words"):
        GopherQuality(stop_words=[f"w{number}" for number in range(65)])


def test_gopher_quality_without_a_limit_survives_text_without_words():
    assert reasons(GopherQuality(min_words=None, min_stop_words=None), ["", " \n "]) == [None, None]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PROSE, None),
        ("", "empty"),
        ("a b\n\n" * 3 + filler(), "dup_para_frac"),
        (f"{filler(20)}\n\n" * 2 + "x\n\ny\n\nz", "dup_para_char_frac"),
        ("\n".join(["same"] * 4 + [filler(20)]), "dup_line_frac"),
        (f"{filler(20)}\n" * 2 + "x\ny\nz", "dup_line_char_frac"),
        ("to be or not to be, " * 3, "top_2_gram"),
        ("only three words", "top_2_gram"),
        (f"{filler(30)} {filler(30)} x", "duplicated_5_n_grams"),
    ],
)
def test_gopher_repetition(text, reason):
    assert reasons(GopherRepetition(), [text]) == [reason]


def test_gopher_repetition_takes_any_n():
    text = " ".join(["a b c d e f g h i j k l m n"] * 2)
    cases = (({}, {12: 0.2}, "duplicated_12_n_grams"), ({7: 0.2}, {}, "top_7_gram"), ({}, {}, None))
    for top, repeated, reason in cases:
        stage = GopherRepetition(max_top_ngram_fraction=top, max_repeated_ngram_fraction=repeated)
        assert reasons(stage, [text]) == [reason]
    with pytest.raises(ConfigError, match="n=1"):
        GopherRepetition(max_top_ngram_fraction={1: 0.5})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PROSE, None),
        ("", "empty"),
        (" \n\t\n", "empty"),
        ("no mark here\nnor here", "line_punct_ratio"),
        ("Short.\nLines.\nOnly.\n" + PROSE.split("\n", maxsplit=1)[0], "short_line_ratio"),
        ("\n".join([PROSE.split("\n", maxsplit=1)[0]] * 2), "char_dup_ratio"),
        ("One-word-lines-that-are-long-enough-to-pass-as-lines.\n" + "\n" * 9, "list_ratio"),
    ],
)
def test_fineweb_quality(text, reason):
    assert reasons(FinewebQuality(), [text]) == [reason]


def test_fineweb_quality_options():
    no_marks = "this line has no mark at its end and is long enough\nneither has this one although it is long as well"
    assert reasons(FinewebQuality(allow_no_ended_lines=True), [no_marks]) == [None]
    assert reasons(FinewebQuality(line_ends="hl"), [no_marks]) == [None]
    assert reasons(FinewebQuality(short_line=200), [PROSE]) == ["short_line_ratio"]


C4_CASES = [
    (PROSE, None),
    ("", "too_few_sentences"),
    ("One is too few.", "too_few_sentences"),
    (PROSE + "\nLorem Ipsum dolor sit amet.", "lorem_ipsum"),
    (PROSE + "\nif (x) { return 1; } is some code.", "curly_bracket"),
    (PROSE + "\nfunction() { without an end mark", None),
    (PROSE + "\nEnable JavaScript { to see this.", None),
]


@pytest.mark.parametrize(("text", "reason"), C4_CASES)
def test_c4_quality(text, reason):
    assert reasons(C4Quality(), [text]) == [reason]
    assert reasons(C4Quality(words="spacy_like"), [text]) == [reason]


@pytest.mark.parametrize(
    ("line", "edited"),
    [
        ("This stays as it is.", "This stays as it is."),
        ('  "So does this one, stripped."\t', '"So does this one, stripped."'),
        ("This has no end mark", None),
        ("This one trails off...", None),
        ("Two words.", None),
        ("A citation[12] or two[] are cut[edit] out[citation needed].", "A citation or two are cut out."),
        ("Behind the end mark.[1]", "Behind the end mark."),
        ("Behind the end mark. [1]", None),
        ("[1] In front of all.", " In front of all."),
        ("Not a citation[a1] at [ 2 ] all.", "Not a citation[a1] at [ 2 ] all."),
        ("Please enable Javascript to go on.", None),
        ("Please enable java[1]script to go on.", None),
        ("We USE Cookies for your comfort.", None),
        ("This site uses cookies, too.", None),
        ("About the use of cookies here.", None),
        ("Read our Cookie Policy, please.", None),
        ("Read our Terms of Use, please.", None),
        ("Our privacy policy is long.", None),
        ("She bakes cookies for us all.", "She bakes cookies for us all."),
        ("A " + "x" * 1001 + " is too long.", None),
        ("A " + "x" * 1000 + " is not too long.", "A " + "x" * 1000 + " is not too long."),
        ("A " + "é" * 1000 + " is not too long.", "A " + "é" * 1000 + " is not too long."),
    ],
)
def test_c4_lines(line, edited):
    batch = TableBatch(data={"text": [f"{PROSE}\n{line}"]})
    expected = f"{oracle.c4(PROSE, oracle.terminated_sentences)[2]}" + (f"\n{edited}" if edited else "")
    assert C4Quality().process(batch).data["text"].to_pylist() == [expected.strip()]


def test_c4_leaves_the_text_of_what_it_would_drop():
    batch = TableBatch(data=pa.table({"text": pa.array([f"Menu\n{PROSE}", "Menu\nOnly one line.", None])}))
    tagged = C4Quality(tag=True).process(batch).data
    assert tagged["text"].to_pylist()[1:] == ["Menu\nOnly one line.", None]
    assert tagged["text"].to_pylist()[0].startswith("It is the habit")
    assert tagged["c4_quality_score"].to_pylist() == [7, 1, None]
    assert tagged.schema.field("text").type == pa.string()
    inverted = C4Quality(invert=True).process(batch).data
    assert inverted["text"].to_pylist() == ["Menu\nOnly one line.", None]
    recording = Recording()
    with recording.active():
        C4Quality(save_dropped=True).process(batch)
    assert recording.dropped_rows[0]["text"].to_pylist() == ["Menu\nOnly one line.", None]


PIECES = st.sampled_from(
    [
        *"\n\n\r\v\x1c\u0085\u2028\u00a0 \t.!?\"'[]{}1A中\x00",
        *(
            "lorem ipsum",
            "Javascript",
            "cookie",
            "use ",
            "uses ",
            "[1]",
            "[edit]",
            "three words here",
            "U.S.",
            "e.g.",
            "...",
        ),
        *("Terms of Use", "\u201d", "\u3002", "A. B.", "x" * 70),
    ]
)


@pytest.mark.parametrize("words", ["whitespace", "spacy_like"])
@settings(max_examples=300)
@given(texts=st.lists(st.lists(PIECES, max_size=50).map("".join) | st.text(), max_size=4))
def test_c4_matches_the_oracle(words, texts):
    count = oracle.terminated_sentences if words == "whitespace" else spacy_oracle.count_sentences
    batch = TableBatch(data=pa.table({"text": pa.array(texts, pa.large_string())}))
    tagged = C4Quality(words=words, min_sentences=2, tag=True).process(batch).data
    for before, after, reason in zip(
        texts, tagged["text"].to_pylist(), tagged["c4_quality_reason"].to_pylist(), strict=True
    ):
        expected_reason, _, expected = oracle.c4(before, count, 2)
        assert reason == expected_reason
        assert after == (before if expected is None else expected)


@pytest.mark.parametrize("words", ["whitespace", "spacy_like"])
@settings(max_examples=20)
@given(texts=st.lists(st.lists(PIECES, max_size=50).map("".join), max_size=6))
def test_rows_are_judged_one_by_one(words, texts):
    for stage in (GopherQuality(words), GopherRepetition(words), FinewebQuality(words), C4Quality(words)):
        assert reasons(stage, texts) == [reasons(stage, [text])[0] for text in texts]


@pytest.mark.parametrize("recipe", ["gopher", "c4", "fineweb"])
def test_recipes_run_and_report_each_filter(recipe):
    batch = TableBatch(data={"text": [PROSE, "too short", None]})
    pipeline = Pipeline("recipe", stages=[Heuristics(recipe, words="whitespace")])
    result = pipeline.run(LocalExecutor(), initial_tasks=[batch])
    assert [row for task in result for row in task.data["text"].to_pylist()] == [
        oracle.c4(PROSE, oracle.terminated_sentences)[2]
        if recipe == "c4"
        else PROSE.replace("\n\n", "\n")
        if recipe == "fineweb"
        else PROSE
    ]


def test_the_rows_that_the_filters_of_a_recipe_drop_are_kept_and_its_parts_can_be_changed(tmp_path, capsys):
    rows = [PROSE, PROSE.partition("\n")[0], "word " * 30, None]  # the second has less than 50 words
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in rows))
    (tmp_path / "p.yaml").write_text(f"""
        version: 1
        stages:
          - table.read_jsonl: {{paths: {tmp_path}/in.jsonl}}
          - text.heuristics: {{recipe: gopher}}
            with: {{parts: {{text.gopher_quality: {{min_words: 2, min_stop_words: null}}}}}}
          - table.write_jsonl: {{path: {tmp_path}/out}}
    """)
    command = ["run", str(tmp_path / "p.yaml"), "--run-dir", str(tmp_path / "run"), "--save-dropped", "--json"]
    assert main(command) == 0
    stages = {stage["name"]: stage for stage in json.loads(capsys.readouterr().out)["stages"]}
    dropped = sum(sum(stage["dropped"].values()) for stage in stages.values())
    kept = pq.read_table(tmp_path / "run" / "dropped")
    assert stages["table.write_jsonl"]["rows_in"] + dropped == len(rows)
    assert sorted(map(str, kept["text"].to_pylist())) == sorted(["None", "word " * 30])


def test_unknown_recipe_and_unknown_words():
    with pytest.raises(ConfigError, match="known: gopher, c4, fineweb"):
        Heuristics("pile")


def test_a_neighbour_does_not_measure_again_what_is_known():
    batch = TableBatch(data={"text": [PROSE, "x"]})
    first = GopherQuality(min_words=None, min_stop_words=None, max_mean_word_length=None, min_mean_word_length=None)
    kept = first.process(batch)
    group = first.rules()[0].groups[0]
    assert kept.num_rows == 2
    assert group.of(kept, "text").equals(group.of_texts(pl.Series([PROSE, "x"])))
