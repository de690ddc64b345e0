"""Indices and packages of the Debian release that this machine's apt knows, fetched into a folder of our own."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LIMIT_S = 600
_RELEASE = re.compile(r"^(Codename|Version|Date): (.*)$", re.MULTILINE)


class CorpusUnavailableError(Exception):
    """The documents cannot be fetched here."""


@dataclass(frozen=True)
class Archive:
    """The Debian archive, through ``apt-get``; nothing of the machine's own apt state is touched.

    Args:
        folder: Where indices, packages and their files go.
    """

    folder: Path

    def translations(self, languages: Sequence[str]) -> dict[str, Path]:
        """Return the index of package descriptions in each language; languages that the release lacks are left out.

        Raises:
            CorpusUnavailableError: apt-get is missing or fails.
        """
        lists = self.folder / "lists"
        found = _indices(lists, languages)
        if len(found) < len(languages):
            (lists / "partial").mkdir(parents=True, exist_ok=True)
            self._apt("update", "-o", f"Acquire::Languages={','.join(languages)}")
            found = _indices(lists, languages)
        return found

    def unpack(self, package: str) -> Path:
        """Download a package and return the folder with its files.

        Raises:
            CorpusUnavailableError: There is no such package, or it cannot be fetched.
        """
        target = self.folder / "files" / package
        if not target.exists():
            self.translations(["en"])
            packages = self.folder / "packages"
            packages.mkdir(parents=True, exist_ok=True)
            self._apt("download", package, cwd=packages)
            archive = next(packages.glob(f"{package}_*.deb"))
            unfinished = target.with_name(f"{package}.partial")
            unfinished.mkdir(parents=True, exist_ok=True)
            _run(["dpkg-deb", "-x", str(archive), str(unfinished)])
            unfinished.rename(target)
        return target

    def version(self, package: str) -> str:
        """Return the version of an unpacked package."""
        archive = next((self.folder / "packages").glob(f"{package}_*.deb"))
        return archive.name.split("_")[1].replace("%3a", ":")

    def release(self) -> str:
        """Return which release the indices are of, and of when."""
        largest = max((self.folder / "lists").glob("*_InRelease"), key=lambda path: path.stat().st_size)
        facts = dict(_RELEASE.findall(largest.read_text(encoding="utf-8")))
        return f"{facts['Codename']} {facts.get('Version', '')} of {facts['Date']}"

    def _apt(self, *arguments: str, cwd: Path | None = None) -> None:
        settings = {
            "Dir::State::lists": self.folder / "lists",
            "Dir::Cache": self.folder / "cache",
            "Acquire::GzipIndexes": "false",
        }
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            settings["APT::Sandbox::User"] = "root"  # the folder may not be open to apt's own user
        options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        (self.folder / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "--quiet", *options, *arguments], cwd=cwd)


def _indices(lists: Path, languages: Sequence[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for language in languages:
        encoded = language.replace("_", "%5f")  # in apt's file names a bare "_" stands for "/"
        files = sorted(lists.glob(f"*_i18n_Translation-{encoded}"), key=lambda path: path.stat().st_size)
        if files:
            found[language] = files[-1]  # the others are of updates and security fixes
    return found


def _run(command: list[str], cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise CorpusUnavailableError(f"{command[0]}: {error}; corpora need Debian and its archive") from error
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CorpusUnavailableError(f"{' '.join(command[:1] + command[-2:])} failed: {reason}")
