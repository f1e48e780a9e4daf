"""Which dates say the same; one that readers may take for another day is not believed."""

import pytest

from services.generator.domain.dates import dates
from services.generator.domain.facts import faults


@pytest.mark.parametrize(
    ("claim", "source", "said"),
    [
        ("05/03/2026", "3 May 2026", False),
        ("03/05/2026", "3 May 2026", False),
        ("05/03/2026", "2026-03-05", False),
        ("05/03/2026", "05/03/2026", True),
        ("5/3/2026", "05/03/2026", True),
        ("03/05/2026", "05/03/2026", False),
        ("05/05/2026", "5 May 2026", True),
        ("13/05/2026", "13 May 2026", True),
        ("05/13/2026", "13 May 2026", True),
        ("3 May 2026", "2026-05-03", True),
        ("May 2026", "3 May 2026", True),
        ("3 May 2026", "05/03/2026", True),
    ],
)
def test_what_is_said_by_another_spelling(claim: str, source: str, said: bool) -> None:
    (asked,), (given,) = dates(f"It is on {claim}."), dates(f"It is on {source}.")
    assert asked.is_said_by(given) is said


def test_an_ambiguous_date_is_a_fault() -> None:
    source = "The regatta takes place on 3 May 2026."
    assert faults("The regatta takes place on 05/03/2026.", source, "")
    assert not faults("The regatta takes place on 2026-05-03.", source, "")
