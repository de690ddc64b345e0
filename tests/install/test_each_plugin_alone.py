"""Each plugin beside core, without the plugins that it does not need and without what those need."""

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


def test_devkit_alone_starts_a_plugin_and_checks_it(core_environment, build_wheels, tmp_path):
    assert "  plugin " not in core_environment.curator("--help")
    with core_environment.having("curator-devkit"):
        core_environment.pip("check")
        assert "  plugin " in core_environment.curator("--help")
        core_environment.curator("plugin", "new", "acme", cwd=tmp_path)
        (wheel,) = build_wheels(tmp_path / "dist", tmp_path / "curator-acme")
        with core_environment.having(wheel):
            results = json.loads(core_environment.curator("plugin", "check", "acme", "--json"))
            assert {each["outcome"] for each in results} == {"passed", "skipped"}
    assert "  plugin " not in core_environment.curator("--help")


@pytest.mark.parametrize(
    ("plugin", "needed", "expected"),
    [
        ("audio", {"table"}, {"audio.read_folder", "audio.duration_filter"}),
        ("dedup", {"table"}, {"dedup.content_hash"}),
        ("table", set(), {"table.where", "table.select"}),
        ("image", {"table"}, {"image.read_folder", "image.size_filter", "image.probe"}),
        ("video", {"image", "table"}, {"video.read", "video.duration_filter"}),
    ],
)
def test_plugin_installs_beside_core_with_the_plugins_it_needs(core_environment, plugin, needed, expected):
    with core_environment.having(f"curator-{plugin}"):
        core_environment.pip("check")
        stages = core_environment.stages()
        assert stages.keys() == {plugin, *needed}
        assert expected <= stages[plugin]
        core_environment.python("-c", SHOW, *stages[plugin])
        status = {each["name"]: each["status"] for each in json.loads(core_environment.curator("plugins", "--json"))}
        assert status[plugin] == "ok"
    assert core_environment.stages() == {}
