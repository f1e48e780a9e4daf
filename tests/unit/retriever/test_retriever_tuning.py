"""What stands for the settings that decide about passages."""

import pytest

from services.retriever.settings import RetrieverSettings
from services.retriever.wiring import tuning_of


@pytest.mark.parametrize(
    "change",
    [
        {"stage_vector": False},
        {"stage_bm25": False},
        {"stage_gate": False},
        {"stage_critic": False},
        {"stage_diversity": False},
        {"fusion": "rrf"},
        {"gate_distance": 0.5},
        {"gate_coverage": 0.5},
        {"bm25_floor": 0.2},
        {"critic_cut": 0.2},
        {"answerable": 0.2},
    ],
)
def test_each_of_them_shows_in_it(change: dict[str, object]) -> None:
    plain = tuning_of(RetrieverSettings()).deciding()
    assert tuning_of(RetrieverSettings.model_validate(change)).deciding() != plain
    assert tuning_of(RetrieverSettings(embed_waiting=3)).deciding() == plain
