"""Tables for curator, which every modality is made of: their formats, and the stages that any table goes through.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.sdk import lazy_names

if TYPE_CHECKING:
    from curator_table.arrow.ipc import read_arrow, write_arrow
    from curator_table.csv.csv_files import read_csv, write_csv
    from curator_table.foreign_content import check_content
    from curator_table.formats import FORMATS, Format, format_named
    from curator_table.hf.reader import ReadHf
    from curator_table.json.jsonl import read_jsonl
    from curator_table.json.writer import write_jsonl
    from curator_table.lines import PAYLOAD_BYTES, line_blocks
    from curator_table.list_tables import ListTables
    from curator_table.parquet.parquet_files import read_parquet, write_parquet
    from curator_table.stages.add_id import AddId
    from curator_table.stages.blend import Blend, BlendSource
    from curator_table.stages.resample import Resample
    from curator_table.stages.route import WriteRouted
    from curator_table.stages.sample import Sample, fractions_of, hash_numbers, hash_text, row_keys
    from curator_table.stages.score_buckets import ScoreBuckets
    from curator_table.stages.select import SelectColumns
    from curator_table.stages.shuffle import Partition, Shuffle
    from curator_table.stages.statistics import Statistics
    from curator_table.stages.where import Where, parse_condition
    from curator_table.table_reader import READERS, ReadArrow, ReadCsv, ReadJsonl, ReadParquet
    from curator_table.table_writer import WriteArrow, WriteCsv, WriteJsonl, WriteParquet
    from curator_table.tar.members import TarLimits
    from curator_table.tar.reader import SAMPLE_COLUMNS, TarSamples
    from curator_table.tar.writer import check_members, sample_parts
    from curator_table.types.column_types import find_types, join_types
    from curator_table.utf8_check import is_utf8
    from curator_table.word_segments import SEGMENTED, SpacedWords, check_segmenter, separate_words

__version__ = "0.1.0"

_HOMES = {
    "arrow.ipc": ("read_arrow", "write_arrow"),
    "csv.csv_files": ("read_csv", "write_csv"),
    "foreign_content": ("check_content",),
    "formats": ("FORMATS", "Format", "format_named"),
    "hf.reader": ("ReadHf",),
    "json.jsonl": ("read_jsonl",),
    "json.writer": ("write_jsonl",),
    "lines": ("PAYLOAD_BYTES", "line_blocks"),
    "list_tables": ("ListTables",),
    "parquet.parquet_files": ("read_parquet", "write_parquet"),
    "stages.add_id": ("AddId",),
    "stages.blend": ("Blend", "BlendSource"),
    "stages.resample": ("Resample",),
    "stages.route": ("WriteRouted",),
    "stages.sample": ("Sample", "hash_numbers", "hash_text", "row_keys", "fractions_of"),
    "stages.score_buckets": ("ScoreBuckets",),
    "stages.select": ("SelectColumns",),
    "stages.shuffle": ("Partition", "Shuffle"),
    "stages.statistics": ("Statistics",),
    "stages.where": ("Where", "parse_condition"),
    "table_reader": ("READERS", "ReadArrow", "ReadCsv", "ReadJsonl", "ReadParquet"),
    "table_writer": ("WriteArrow", "WriteCsv", "WriteJsonl", "WriteParquet"),
    "tar.members": ("TarLimits",),
    "tar.reader": ("SAMPLE_COLUMNS", "TarSamples"),
    "tar.writer": ("check_members", "sample_parts"),
    "types.column_types": ("find_types", "join_types"),
    "utf8_check": ("is_utf8",),
    "word_segments": ("SEGMENTED", "SpacedWords", "check_segmenter", "separate_words"),
}

__all__ = [
    "FORMATS",
    "PAYLOAD_BYTES",
    "READERS",
    "SAMPLE_COLUMNS",
    "SEGMENTED",
    "AddId",
    "Blend",
    "BlendSource",
    "Format",
    "ListTables",
    "Partition",
    "ReadArrow",
    "ReadCsv",
    "ReadHf",
    "ReadJsonl",
    "ReadParquet",
    "Resample",
    "Sample",
    "ScoreBuckets",
    "SelectColumns",
    "Shuffle",
    "SpacedWords",
    "Statistics",
    "TarLimits",
    "TarSamples",
    "Where",
    "WriteArrow",
    "WriteCsv",
    "WriteJsonl",
    "WriteParquet",
    "WriteRouted",
    "check_content",
    "check_members",
    "check_segmenter",
    "find_types",
    "format_named",
    "fractions_of",
    "hash_numbers",
    "hash_text",
    "is_utf8",
    "join_types",
    "line_blocks",
    "parse_condition",
    "read_arrow",
    "read_csv",
    "read_jsonl",
    "read_parquet",
    "row_keys",
    "sample_parts",
    "separate_words",
    "write_arrow",
    "write_csv",
    "write_jsonl",
    "write_parquet",
]

__getattr__, __dir__, _ = lazy_names(__name__, _HOMES)
