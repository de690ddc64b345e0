"""Each plugin beside core and what it needs, without the other plugins and without what the other plugins need."""

import json

import pytest

SHOW = """
import sys
from curator_core.cli import main
for name in sys.argv[1:]:
    if status := main(["stages", "show", name]):
        sys.exit(f"stages show {name}: {status}")
"""


def test_core_alone_works_and_has_no_stage(core_environment):
    core_environment.pip("check")
    assert core_environment.stages() == {}


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        ("audio", {"audio.read_folder", "audio.duration_filter"}),
        ("dedup", {"dedup.content_hash"}),
        ("table", {"table.where", "table.select"}),
        ("image", {"image.read_folder", "image.size_filter", "image.probe"}),
        ("video", {"video.read", "video.duration_filter"}),
    ],
)
def test_plugin_installs_alone_beside_core(core_environment, plugin, expected):
    with core_environment.having(f"curator-{plugin}"):
        core_environment.pip("check")
        stages = core_environment.stages()
        assert stages.keys() == {"table", plugin}
        assert expected <= stages[plugin]
        core_environment.python("-c", SHOW, *stages[plugin])
        status = {each["name"]: each["status"] for each in json.loads(core_environment.curator("plugins", "--json"))}
        assert status[plugin] == "ok"
    assert core_environment.stages() == {}
