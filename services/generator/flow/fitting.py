"""Fits the prompt to the model's window by the model's own count, or by an estimate that learns from its counts."""

from services.generator.domain.prompt import Prompt, Voice, build
from services.generator.ports import Writer
from services.shared.contracts.writing import WriteRequest

TRIES = 3
LEAST_FACTOR, MOST_FACTOR = 0.7, 2.0
"""Further off is no count of this prompt: some servers leave out what they still have in their cache."""


class Fitter:
    """Keeps how many tokens of the model one estimated token came to last."""

    def __init__(self) -> None:
        self._factor = 1.0

    async def fit(self, request: WriteRequest, writer: Writer) -> Prompt:
        """The prompt with as many passages as the window takes; rules and question are never cut."""
        prompt = self._built(request, writer)
        for _ in range(TRIES):
            counted = await writer.count_tokens(prompt.text) if prompt.used else None
            if counted is None:
                break
            before = prompt.used
            self.learn(prompt, counted)
            prompt = self._built(request, writer)
            if prompt.used == before:
                break
        return prompt

    def learn(self, prompt: Prompt, counted: int) -> None:
        """Take over the model's own count of a prompt; 0 is none."""
        factor = self._factor * counted / prompt.tokens
        if LEAST_FACTOR <= factor <= MOST_FACTOR:
            self._factor = factor

    def _built(self, request: WriteRequest, writer: Writer) -> Prompt:
        window, kept_for_answer = writer.window
        return build(
            question=request.question,
            sub_questions=request.sub_questions,
            passages=request.passages,
            voice=Voice(request.persona, request.language, request.tone, next(iter(request.subject), "")),
            num_ctx=window,
            num_predict=kept_for_answer,
            factor=self._factor,
        )
