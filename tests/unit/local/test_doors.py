"""Names as steps of an address, and commands in place of doors."""

import pytest

from services.local.doors import as_commands, step
from services.shared.contracts.errors import ErrorCode, RagstoneError


@pytest.mark.parametrize("name", ["", ".", "..", "../../etc", "e1/report", "\udcff"])
def test_what_cannot_be_an_id_is_refused_before_anybody_is_asked(name: str) -> None:
    with pytest.raises(RagstoneError) as refused:
        step(name)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert "is no id" in refused.value.detail


def test_names_with_slashes_and_dots_are_one_step() -> None:
    assert step("faq/../1?x", slashes=True) == "faq%2F..%2F1%3Fx"
    assert step("1.2 é") == "1.2%20%C3%A9"
    with pytest.raises(RagstoneError):
        step("..", slashes=True)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("There is none; GET /v1/evaluations lists them.", "There is none; `ragstone eval list` lists them."),
        ("POST /v1/jobs/j1/retry goes on", "`ragstone jobs j1 --retry` goes on"),
        ("GET /v1/jobs/j1/events tells", "`ragstone jobs j1 --watch` tells"),
        ("GET /v1/jobs lists", "`ragstone jobs` lists"),
        ("with ragstone golden make (POST /v1/golden/make) and", "with ragstone golden make and"),
        ("GET /v1/golden lists them.", "`ragstone golden list` lists them."),
        ("GET /v1/documents lists those", "GET /v1/documents lists those"),
        ("GET /v1/indexes lists those", "`ragstone indexes` lists those"),
        ("GET /v1/indexes/i2 says how far", "`ragstone indexes` says how far"),
        ("open it again with POST /v1/gaps/g1/reopen first", "open it again with `ragstone gaps reopen g1` first"),
        ("GET /v1/gaps lists what", "`ragstone gaps list` lists what"),
        ("DELETE /v1/indexes/i2 gives it up.", "`ragstone indexes remove i2` gives it up."),
        ("Send force: true to promote it", "--force promotes it"),
    ],
)
def test_errors_advise_commands(said: str, shown: str) -> None:
    assert as_commands(said) == shown
