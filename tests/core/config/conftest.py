"""A plugin with parameters of many shapes, installed as pip would install it."""

import sys
import textwrap

import pytest

from curator_core.registry import Registry

PLUGIN = """
    from curator_core.hookspecs import hookimpl
    from curator_core.specs import StageSpec

    CURATOR_API = (1, 0)

    @hookimpl
    def curator_stages():
        return [
            StageSpec("every", target="curator_shapes:Every", summary="Parameters of every shape."),
            StageSpec("plain", target="curator_shapes.stages:Plain", summary="A plain class."),
            StageSpec("tagged", target="curator_shapes.stages:Tagged", summary="A filter."),
            StageSpec("same", target="curator_shapes.stages:same", summary="A function."),
            StageSpec("forgetful", target="curator_shapes.stages:Forgetful", summary="Does not keep its parameter."),
            StageSpec("moody", target="curator_shapes.stages:Moody", summary="Its constructor raises."),
            StageSpec("gone", target="curator_shapes.nowhere:Gone", summary="Cannot be imported."),
            StageSpec("moon", target="curator_shapes.stages:Plain", requires=("no_such_rocket",), extra="moon"),
        ]
"""

STAGES = """
    from __future__ import annotations

    import enum
    import pathlib
    from dataclasses import dataclass, field
    from typing import TYPE_CHECKING, Annotated, Any, Literal

    from pydantic import Field

    from curator_core import Filter, ProcessingStage, Resources, TableBatch, processing_stage

    if TYPE_CHECKING:
        from somewhere import Unknowable

    class Colour(enum.Enum):
        RED = "red"
        BLUE = "blue"

    @dataclass
    class Rule:
        pattern: str
        weight: float = 1.0

    @dataclass
    class Every(ProcessingStage[TableBatch, TableBatch]):
        '''Have parameters of every shape.

        Args:
            label: Any text.
            count: How many.
        '''

        name = "shapes.every"
        label: str
        count: int = 1
        fraction: Annotated[float, Field(ge=0, le=1)] = 0.5
        flag: bool = False
        mode: Literal["fast", "exact"] = "fast"
        words: list[str] = field(default_factory=list)
        pair: tuple[int, int] = (0, 1)
        langs: set[str] = field(default_factory=set)
        weights: dict[str, float] = field(default_factory=dict)
        maybe: int | None = None
        either: str | list[str] = "one"
        folder: pathlib.Path = pathlib.Path(".")
        colour: Colour = Colour.RED
        rules: list[Rule] = field(default_factory=list)
        rule: Rule | None = None
        need: Resources = Resources()
        unknowable: Unknowable = None
        anything: Any = None

        def process(self, task):
            return task

    class Plain(ProcessingStage[TableBatch, TableBatch]):
        name = "shapes.plain"

        def __init__(self, size: int = 3, *, label="x"):
            '''Keep parameters.

            Args:
                size: How large.
            '''
            self.size = size
            self.label = label

        def process(self, task):
            return task

    @dataclass
    class Tagged(Filter):
        name = "shapes.tagged"
        limit: int = 3

        def judge(self, batch): ...

    @processing_stage(name="shapes.same")
    def same(task: TableBatch) -> TableBatch:
        return task

    class Forgetful(Plain):
        def __init__(self, secret: int = 1):
            pass

    @dataclass
    class Moody(Plain):
        level: int = 1

        def __post_init__(self):
            if self.level > 3:
                raise ValueError("too moody")
"""


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    package = site / "curator_shapes"
    package.mkdir()
    (package / "__init__.py").write_text("from curator_shapes.stages import Every\n")
    (package / "plugin.py").write_text(textwrap.dedent(PLUGIN))
    (package / "stages.py").write_text(textwrap.dedent(STAGES))
    info = site / "curator_shapes-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: curator-shapes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[curator.plugins]\nshapes = curator_shapes.plugin\n")
    sys.path.insert(0, str(site))
    made = Registry(allow=["shapes"])
    assert made.stages.keys() >= {"shapes.every"}
    yield made
    sys.path.remove(str(site))
    for name in [each for each in sys.modules if each.partition(".")[0] == "curator_shapes"]:
        del sys.modules[name]
