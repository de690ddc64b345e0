"""Real text that every machine with Python has: its manual, licences, read-me files, docstrings and comments.

Nothing is imported or executed: sources are parsed. Paths in documents are relative, so two machines with the same
packages give the same corpus.
"""

from __future__ import annotations

import ast
import sysconfig
import warnings
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

STDLIB = Path(sysconfig.get_path("stdlib"))
SITE_PACKAGES = Path(sysconfig.get_path("purelib"))
SYSTEM_TEXTS = Path("/usr/share")

LICENCE_NAMES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "AUTHORS*")
MIN_DOCUMENT_CHARS = 80

Definition: TypeAlias = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Document:
    """One text and where it was found."""

    id: str
    text: str
    kind: str
    path: str


def all_documents() -> Iterator[Document]:
    """Yield every document of this machine, the rare kinds first, always in the same order."""
    for found in (language_manual(), licences(), readmes(), docstrings_and_comments()):
        yield from (document for document in found if len(document.text) >= MIN_DOCUMENT_CHARS)


def language_manual() -> Iterator[Document]:
    """Yield the chapters of the Python reference that the interpreter keeps for ``help()``."""
    topics = STDLIB / "pydoc_data" / "topics.py"
    tree = _parse(topics)
    tables = (node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)) if tree else ()
    for table in tables:
        if isinstance(table, ast.Dict):
            for topic, text in sorted(ast.literal_eval(table).items()):
                path = _relative(topics)
                yield Document(id=f"{path}#{topic}", text=text, kind="manual", path=path)


def licences() -> Iterator[Document]:
    """Yield licence texts of the system and of installed distributions: the same few texts, in many variations."""
    system = [*SYSTEM_TEXTS.glob("common-licenses/*"), *SYSTEM_TEXTS.glob("doc/*/copyright")]
    packages = [path for name in LICENCE_NAMES for path in SITE_PACKAGES.glob(f"*.dist-info/**/{name}")]
    for path in sorted(set(system)) + sorted(set(packages)):
        yield from _whole_file(path, kind="licence")


def readmes() -> Iterator[Document]:
    """Yield the descriptions of installed distributions."""
    for path in sorted(SITE_PACKAGES.glob("*.dist-info/METADATA")):
        for document in _whole_file(path, kind="readme"):
            description = message_from_string(document.text).get_payload()
            yield Document(id=document.id, text=str(description), kind=document.kind, path=document.path)


def docstrings_and_comments() -> Iterator[Document]:
    """Yield the docstrings and the comment blocks of the standard library and of installed packages."""
    for path in (*_sources(STDLIB), *_sources(SITE_PACKAGES)):
        yield from _docstrings(path)
        yield from _comments(path)


def _sources(root: Path) -> list[Path]:
    skipped = {"site-packages", "dist-packages", "test", "tests", "pydoc_data"}
    return sorted(path for path in root.rglob("*.py") if skipped.isdisjoint(path.relative_to(root).parts))


def _docstrings(path: Path) -> Iterator[Document]:
    tree = _parse(path)
    if tree is None:
        return
    where = _relative(path)
    for node in _definitions(tree):
        text = ast.get_docstring(node)
        if text:
            line = node.body[0].lineno
            yield Document(id=f"{where}#L{line}", text=text, kind="docstring", path=where)


def _definitions(tree: ast.Module) -> Iterator[Definition]:
    """Yield the module and what it defines, looking into statements only: most nodes of a tree are expressions."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Definition):
            yield node
        waiting.extend(statement for statement in getattr(node, "body", ()) if hasattr(statement, "body"))


def _comments(path: Path) -> Iterator[Document]:
    """Yield runs of lines that hold nothing but a comment."""
    where = _relative(path)
    block: list[str] = []
    for number, line in enumerate([*_read(path).splitlines(), ""], start=1):
        bare = line.strip()
        if bare.startswith("#"):
            block.append(bare.lstrip("#").removeprefix(" "))
        elif block:
            start = number - len(block)
            yield Document(id=f"{where}#L{start}", text="\n".join(block), kind="comment", path=where)
            block = []


def _whole_file(path: Path, *, kind: str) -> Iterator[Document]:
    if path.is_file():
        where = _relative(path)
        yield Document(id=where, text=_read(path), kind=kind, path=where)


def _relative(path: Path) -> str:
    """Name a file below one of the three roots; site-packages comes first because it is inside the library folder."""
    for root, name in ((SITE_PACKAGES, "site-packages"), (STDLIB, "stdlib"), (SYSTEM_TEXTS, "share")):
        if path.is_relative_to(root):
            return f"{name}/{path.relative_to(root).as_posix()}"
    return path.name


def _parse(path: Path) -> ast.Module | None:
    """Parse a source file; packages ship some that no Python accepts (templates, Python 2), which give None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(_read(path))
        except (SyntaxError, ValueError, RecursionError):
            return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
