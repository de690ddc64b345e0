"""Values of plain types are taken as they are, which must be what pydantic would have made of them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from pydantic import Field, ValidationError

from curator_core.parameters.validation import adapter_for, check_value

_VALUES = ["", "text", "3", "\udc80", True, False, 0, 3, -1.5, float("inf"), None, ["a"], {"a": 1}]
_TYPES = [
    str,
    bool,
    int,
    float,
    Optional[int],  # noqa: UP045 - as some write it
    Union[str, list[str]],  # noqa: UP007 - as some write it
    int | float,
    float | None,
    str | Path,
    bool | Literal["auto"],
    Literal["text"] | int,
    Annotated[int, Field(ge=1)],
    Annotated[str, Field(min_length=1)] | int,
    dict[str, int] | str,
]


def _by_pydantic(value: Any, annotation: Any) -> Any:
    try:
        return adapter_for(annotation).validate_python((value,))[0]
    except ValidationError:
        return ValidationError


@pytest.mark.parametrize(("value", "annotation"), list(itertools.product(_VALUES, _TYPES)), ids=repr)
def test_a_value_is_what_pydantic_makes_of_it(value, annotation):
    checked, faults = check_value(value, annotation)
    expected = _by_pydantic(value, annotation)
    if faults:  # a boolean is no number here, whatever pydantic says
        assert expected is ValidationError or isinstance(value, bool)
    else:
        assert checked == expected
        assert type(checked) is type(expected)
