"""A plugin that is broken, in any of the ways it can be, gets a status and a cause; the others go on working."""

import pytest

from curator_core.registry import Registry

GOOD = """
@hookimpl
def curator_stages():
    return [StageSpec("fine", target="toy_fine:Fine", summary="Fine.")]
"""


def stages_returning(expression):
    return f"""
@hookimpl
def curator_stages():
    return {expression}
"""


BROKEN = {
    "raises at import": ("raise RuntimeError('no driver')", "raised RuntimeError: no driver"),
    "syntax error": ("def (", "raised SyntaxError"),
    "exits at import": ("import sys; sys.exit(3)", "raised SystemExit: 3"),
    "imports what is not there": ("import no_such_package_at_all", "No module named 'no_such_package_at_all'"),
    "no api": ("del CURATOR_API", "does not declare CURATOR_API = (1, 0)"),
    "api not a pair": ("CURATOR_API = '1.0'", "not a pair of whole numbers"),
    "hook raises": (stages_returning("1 / 0"), "curator_stages raised ZeroDivisionError: division by zero"),
    "hook exits": (stages_returning("exit(2)"), "curator_stages raised SystemExit: 2"),
    "other hook raises": (
        "@hookimpl\ndef curator_commands():\n    raise KeyError('x')",
        "curator_commands raised KeyError",
    ),
    "unknown hook": (
        "@hookimpl\ndef curator_stagse():\n    return []",
        "unknown hook curator_stagse; did you mean curator_stages?",
    ),
    "hook with wrong arguments": ("@hookimpl\ndef curator_run_started(speed):\n    pass", "speed"),
    "hook without mark": ("def curator_stages():\n    return []", "is not marked with @hookimpl"),
    "wrong type": (stages_returning("{'a': 1}"), "curator_stages returned dict, not a list of StageSpec"),
    "wrong item": (stages_returning("[ExecutorSpec('a', target='b:C')]"), "with ExecutorSpec in it"),
    "duplicate stage": (stages_returning("[StageSpec('a', target='b:C')] * 2"), "stage 'a' is declared twice"),
    "bad stage name": (stages_returning("[StageSpec('WordCount', target='b:C')]"), "name is not snake_case"),
    "dotted stage name": (stages_returning("[StageSpec('a.b', target='b:C')]"), "name is not snake_case"),
    "name not text": (stages_returning("[StageSpec(3, target='b:C')]"), "name is not snake_case"),
    "bad target": (
        stages_returning("[StageSpec('a', target='package.module')]"),
        "'package.module' does not have the form",
    ),
    "target not text": (stages_returning("[StageSpec('a', target=print)]"), "does not have the form"),
    "requires is a string": (stages_returning("[StageSpec('a', target='b:C', requires='torch')]"), "requires='torch'"),
    "unknown kind": (stages_returning("[StageSpec('a', target='b:C', kind='magic')]"), "kind 'magic' is not one of"),
}


@pytest.mark.parametrize(("body", "cause"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_says_why_and_harms_no_other(site, body, cause):
    site.install("toybad", body)
    site.install("toygood", GOOD)
    registry = Registry()

    found = {each.name: each for each in registry.plugins}

    assert found["toybad"].status == "broken"
    assert cause in found["toybad"].cause
    assert "\n" not in found["toybad"].cause
    assert found["toybad"].fix
    assert found["toygood"].status == "ok"
    assert found["core"].status == "ok"
    assert "toygood.fine" in registry.stages
    assert not any(name.startswith("toybad.") for name in registry.stages)
    assert any("toybad" in line and "broken" in line for line in registry.warnings)


def test_the_exception_behind_the_cause_is_kept_with_its_traceback(site):
    module = site.install("toybad", "def fail():\n    raise RuntimeError('no driver')\nfail()")
    info = next(each for each in Registry().plugins if each.name == "toybad")

    assert isinstance(info.exception, RuntimeError)
    frames = []
    traceback = info.exception.__traceback__
    while traceback is not None:
        frames.append(traceback.tb_frame.f_code.co_filename)
        traceback = traceback.tb_next
    assert frames[-1].endswith(f"{module}.py")


@pytest.mark.parametrize(
    ("api", "upgrade"), [((2, 0), "curator-core"), ((1, 99), "curator-core"), ((0, 9), "curator-toyold")]
)
def test_a_plugin_for_another_api_is_incompatible_and_says_what_to_upgrade(site, api, upgrade):
    site.install("toyold", f"CURATOR_API = {api}\n{GOOD}")
    info = next(each for each in Registry().plugins if each.name == "toyold")

    assert info.status == "incompatible"
    assert info.api == api
    assert f"plugin API {api[0]}.{api[1]}" in info.cause
    assert info.fix == f"pip install --upgrade {upgrade}"


def test_a_plugin_for_a_newer_optional_hook_still_works(site):
    site.install("toynew", f"{GOOD}\n@hookimpl(optionalhook=True)\ndef curator_of_the_future():\n    pass")
    assert next(each for each in Registry().plugins if each.name == "toynew").status == "ok"


def test_a_plugin_that_imports_heavy_modules_works_with_a_warning(site):
    site.write_module("vllm", "")  # a stand-in: what counts is the name of what gets imported
    site.install("toyheavy", f"import vllm\n{GOOD}")
    registry = Registry()
    info = next(each for each in registry.plugins if each.name == "toyheavy")

    assert info.status == "ok"
    assert info.heavy_modules == ("vllm",)
    assert "vllm" in info.warning
    assert any("toyheavy" in line and "vllm" in line for line in registry.warnings)


def test_a_plugin_that_is_slow_to_import_works_with_a_warning(site):
    site.install("toyslow", f"import time\ntime.sleep(0.6)\n{GOOD}")
    info = next(each for each in Registry().plugins if each.name == "toyslow")

    assert info.status == "ok"
    assert info.load_s >= 0.6
    assert "took" in info.warning


def test_a_plugin_without_hooks_works_with_a_warning(site):
    site.install("toyempty")
    info = next(each for each in Registry().plugins if each.name == "toyempty")
    assert (info.status, info.warning) == ("ok", "it implements no hook")


def test_what_a_plugin_prints_does_not_reach_stdout(site, capsys):
    site.install("toychatty", f"print('hello from the plugin')\n{GOOD}")
    assert "toychatty.fine" in Registry().stages
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "hello from the plugin" in printed.err


@pytest.mark.parametrize("value", ["toy-module", "toy_module:plugin", "not a module", ""])
def test_an_entry_point_that_names_no_module_is_broken(site, value):
    site.write_metadata("curator-toybad", entry_points=f"[curator.plugins]\ntoybad = {value}\n")
    site.install("toygood", GOOD)
    found = {each.name: each for each in Registry().plugins}

    assert found["toybad"].status == "broken"
    assert found["toybad"].cause  # worded by us, or by the importlib-metadata that reads the entry point
    assert found["toygood"].status == "ok"


def test_a_plugin_name_that_is_not_snake_case_is_broken(site):
    site.install("Toy-Bad", GOOD, distribution="curator-toy-bad")
    info = next(each for each in Registry().plugins if each.name == "Toy-Bad")
    assert (info.status, info.cause) == ("broken", "the plugin name 'Toy-Bad' is not snake_case")


def test_unreadable_metadata_break_only_their_own_distribution(site):
    info = site.write_metadata("curator-toybad", entry_points="")
    (info / "entry_points.txt").write_bytes(b"[curator.plugins]\ntoybad = \xff\xfe")
    site.install("toygood", GOOD)
    found = {each.name: each for each in Registry().plugins}

    assert found["toygood"].status == "ok"
    assert found["toybad"].status == "broken"
    assert "metadata cannot be read" in found["toybad"].cause
