"""Write docs/stages.md: every stage and workflow of the packages in this repository, from what they declare."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.registry import Registry

PAGE = Path(__file__).parents[1] / "docs" / "stages.md"
OURS = ("table", "text", "image", "video", "audio", "dedup")
HEADER = """# Stages and workflows

What the packages of this repository offer, as `python scripts/make_stage_list.py` lists it. `curator stages show NAME`
prints the parameters, columns and an example of a stage, `curator workflows show NAME` the parameters of a workflow.
"""


def page(registry: Registry) -> str:
    """Return the page."""
    return "\n".join([HEADER.rstrip(), *_sections(registry)]) + "\n"


def _sections(registry: Registry) -> Iterator[str]:
    for plugin in OURS:
        stages = {name: each for name, each in registry.stages.items() if each.plugin.name == plugin}
        yield f"\n## {plugin}\n"
        yield "| stage | kind | |"
        yield "|---|---|---|"
        for name, each in stages.items():
            yield f"| `{name}` | {each.spec.kind} | {_summary(each)} |"
        workflows = {name: each for name, each in registry.workflows.items() if each.plugin.name == plugin}
        if workflows:
            yield "\n| workflow | |\n|---|---|"
        for name, flow in workflows.items():
            yield f"| `{name}` | {_summary(flow)} |"


def _summary(registered: Any) -> str:
    spec = registered.spec
    needs = f' Needs `pip install "curator-{registered.plugin.name}[{spec.extra}]"`.' if spec.extra else ""
    return str(spec.summary).replace("|", "\\|") + needs


def main() -> int:
    """Write the page, or with ``--check`` say whether it is up to date."""
    from curator_core.registry import default_registry

    text = page(default_registry())
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
