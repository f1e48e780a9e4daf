"""The prompt is fitted by the model's own count where there is one."""

from services.generator.domain.prompt import estimate_tokens
from services.generator.flow.fitting import Fitter
from tests.unit.generator.fakes import FakeWriter, passage, request

LONG = request("When does the dock open?", *(passage(f"word{n} " * 120) for n in range(12)))


class Counting(FakeWriter):
    """Counts ``factor`` tokens for each estimated one."""

    def __init__(self, factor: float) -> None:
        super().__init__(window=(2048, 200))
        self.factor = factor
        self.counts: list[int] = []

    async def count_tokens(self, text: str) -> int | None:
        """By the estimate."""
        self.counts.append(round(estimate_tokens(text) * self.factor))
        return self.counts[-1]


async def test_the_models_count_decides_how_many_passages_fit() -> None:
    used = {}
    for factor in (0.8, 1.0, 1.4):
        writer = Counting(factor)
        prompt = await Fitter().fit(LONG, writer)
        used[factor] = prompt.used
        assert estimate_tokens(prompt.text) * factor + 200 <= 2048
        assert "When does the dock open?" in prompt.user
        assert len(writer.counts) <= 3
    assert used[0.8] > used[1.0] > used[1.4] > 0


async def test_without_a_count_the_last_one_told_is_learned() -> None:
    fitter, writer = Fitter(), FakeWriter(window=(2048, 200))
    first = await fitter.fit(LONG, writer)
    fitter.learn(first, round(first.tokens * 1.4))
    second = await fitter.fit(LONG, writer)
    assert second.used < first.used


async def test_a_count_that_cannot_be_of_this_prompt_is_ignored() -> None:
    fitter, writer = Fitter(), FakeWriter(window=(2048, 200))
    first = await fitter.fit(LONG, writer)
    for counted in (0, 7, first.tokens * 9):
        fitter.learn(first, counted)
    assert await fitter.fit(LONG, writer) == first
