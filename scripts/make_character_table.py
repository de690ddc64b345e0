"""Write the table of kinds of characters that curator-text packages. Run it with Python 3.11 (Unicode 14.0)."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import curator_text.kernels
from curator_text.kernels.character_kinds import make_character_table

target = Path(curator_text.kernels.__file__).with_name("character_table.bin")
table = make_character_table()
target.write_bytes(table.to_bytes())
print(f"{target}: Unicode {unicodedata.unidata_version}, {len(table.kinds) >> 8} pages, {target.stat().st_size} bytes")
