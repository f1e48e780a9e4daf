"""Code that a model shows stands in a source as it is, and its fence is closed."""

import pytest

from services.generator.domain.code_blocks import closed, unknown_code
from tests.unit.generator.fakes import passage

SOURCE = passage("Run `tidepool init --port 8080` once. The option low_water is 250.")


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Run `tidepool init --port 8080`.", []),
        ("Run `tidepool  init`.", []),
        ("Set `low_water` to 250.", []),
        ("Run `tidepool init --force --port 8080`.", ["tidepool init --force --port 8080"]),
        ("Run `rm -rf /`.", ["rm -rf /"]),
        ("Nothing in ticks.", []),
    ],
)
def test_a_piece_of_code_is_no_invention(text: str, unknown: list[str]) -> None:
    assert unknown_code(text, [SOURCE]) == unknown


@pytest.mark.parametrize(
    ("code", "whole"),
    [
        ("```bash\npip install x", "```bash\npip install x\n```"),
        ("```bash\npip install x\n```", "```bash\npip install x\n```"),
        ("~~~~\nx", "~~~~\nx\n~~~~"),
        ("no fence", "no fence"),
    ],
)
def test_a_fence_is_closed(code: str, whole: str) -> None:
    assert closed(code) == whole
