"""Real speech: the prompts of the Asterisk telephone exchange, with their transcripts, from the Debian archive."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from text_corpora.debian import Archive

if TYPE_CHECKING:
    from pathlib import Path

_SOUNDS = "asterisk-core-sounds-en-wav"
_TRANSCRIPTS = "asterisk-core-sounds-en"
_ASIDE = re.compile(r"\[[^\]]*\]|\([^)]*\)|<[^>]*>")


@dataclass(frozen=True)
class Prompt:
    """A recording and what is said in it.

    Args:
        path: The file: WAV, 8 kHz, one channel.
        name: Its name in the list of transcripts.
        text: What is said, without asides such as ``[ascending tones]``; empty where nothing is.
    """

    path: Path
    name: str
    text: str

    @property
    def is_speech(self) -> bool:
        """Whether anything is said: all but tones, beeps, silences and screaming monkeys."""
        return bool(self.text)


def fetch_prompts(corpora: Path) -> list[Prompt]:
    """Return all prompts that have a line in the list of transcripts; fetched where they are not there yet."""
    archive = Archive(corpora)
    listed = next((archive.unpack(_TRANSCRIPTS) / "usr/share/doc").rglob("core-sounds-en.txt.gz"))
    sounds = next((archive.unpack(_SOUNDS) / "usr/share/asterisk/sounds").iterdir())
    prompts = []
    for line in gzip.decompress(listed.read_bytes()).decode().splitlines():
        name, colon, text = line.partition(":")
        path = sounds / f"{name.strip()}.wav"
        if colon and not line.startswith(";") and path.exists():
            prompts.append(Prompt(path, name.strip(), _ASIDE.sub("", text).strip()))
    return prompts
