"""Keep images in Parquet files, with everything that is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from curator_core.sdk import TableBatch
from curator_image.batch import ImageBatch
from curator_table import TableReader, TableWriter

__all__ = ["ReadParquet", "WriteParquet"]


@dataclass
class ReadParquet(TableReader):
    """Read images from Parquet files, such as ``image.write_parquet`` and the deduplication workflows write.

    >>> [stage.name for stage in ReadParquet("images").decompose()]
    ['image.read_parquet.files', 'image.read_parquet']

    Args:
        paths: Files, folders, globs or URLs.
        columns: Columns to read; all, where None.
        block_bytes: Size of a unit of work and of a table.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        max_record_bytes: Leave out: it is for lines of text.
        max_expansion: Decoded bytes allowed per byte of a file, against decompression bombs.
        max_columns: Most columns of a table, nested fields included.
        verify: Leave out: the checksums of pages are always checked.
    """

    name = "image.read_parquet"
    format: ClassVar[str] = "parquet"
    batch_type: ClassVar[type[TableBatch]] = ImageBatch


@dataclass
class WriteParquet(TableWriter):
    """Write every batch to a Parquet file named after its task, the images byte for byte as read.

    >>> WriteParquet("out").file_name("3f2a/0")
    'part-3f2a-0.parquet'

    Args:
        path: Output folder or URL; created where missing.
        columns: Columns to write, in this order; all, where None.
        keep_provenance: Also write ``_source`` and ``_row``.
        compression: Leave out: Parquet compresses its pages, not the file.
        max_file_bytes: Write a batch that is larger than this in memory to several files.
    """

    name = "image.write_parquet"
    format: ClassVar[str] = "parquet"
