"""How a model's sentence is checked before it leaves: guardrail, facts, meaning; else repaired or dropped."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from services.generator.domain import denials, guardrail, orders, repair, support, terms
from services.generator.domain.additions import added
from services.generator.domain.code_blocks import closed, source_of, unknown_code
from services.generator.domain.facts import faults
from services.generator.domain.model_text import Written, plain
from services.generator.domain.support import Evidence, Support
from services.generator.domain.wording import leans_back
from services.generator.flow.aiming import Aim
from services.generator.flow.writing import Writing
from services.generator.ports import Scorer
from services.shared.contracts.answers import AnswerReason
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.grounding import Pair
from services.shared.contracts.writing import SentenceWritten

REPEATED = 0.9
"""A sentence this close to one already sent goes in circles."""
ON_TOPIC = 0.35
"""Nearness to the question that half of the right answers to the sample corpus's questions reach."""
LONGEST = 1000
"""Code points of a sentence; nobody can check a longer one."""
FIRST = 3
"""Pieces of evidence that are grounded before the others."""
BESIDE = "beside the point: other sentences of the passages come much nearer to the question"
SAME_AGAIN = 0.6
"""A source's sentence this close to one already sent repairs nothing."""


class Checker:
    """Decides on one sentence at a time; what it leaves out or puts in its place is told in the writing.

    ``grounding_threshold`` is the least probability of support by the groundedness model, ``support_threshold`` the
    least similarity where that model is not to be had. ``note`` takes (what happened, why) for the operator's log.
    """

    def __init__(
        self,
        *,
        scorer: Scorer,
        support_threshold: float,
        grounding_threshold: float,
        note: Callable[[str, str], None],
    ) -> None:
        self._scorer = scorer
        self._support_threshold = support_threshold
        self._grounding_threshold = grounding_threshold
        self._note = note

    def aim(self, writing: Writing) -> Aim:
        """What the writing's sentences are to speak of."""
        return Aim(self._scorer, writing)

    async def check(self, writing: Writing, written: Written, aim: Aim) -> list[SentenceWritten]:
        """What may leave now: nothing, the sentence (or its source's own), and what introduced it before it."""
        if len(written.text) > LONGEST and written.kind == "prose":
            writing.drop(written, f"longer than {LONGEST} characters")
            return []
        if self._breaks_guardrail(writing, written):
            return []
        if guardrail.says_unknown(written.claim):
            writing.finished = True
            return []
        if written.leads_in:
            self._hold(writing, written)
            return []
        if any(terms.likeness(written.claim, plain(other.text)) >= REPEATED for other in writing.sent):
            writing.layout.skip(written)
            return []
        sentence = await self._supported(writing, written, aim)
        if not sentence or {span.passage for span in sentence.spans} == {writing.denial}:
            return []
        sent = [*self._introduction(writing, written, sentence), sentence]
        writing.sent.extend(sent)
        writing.gap = False
        return sent

    async def on_topic(self, writing: Writing) -> float:
        """How near the closest sentence comes to the question, 1 from ON_TOPIC on: what is true may miss the point."""
        question, texts = writing.request.question, [sentence.text for sentence in writing.sent]
        try:
            scores = await self._scorer.score(writing.request.space, question, texts) if texts else []
            near = [max(score.similarity, score.coverage) for score in scores]
        except RagstoneError as error:
            self._note("scores_unavailable", error.detail)
            writing.degrade("scores_unavailable")
            near = [terms.overlap(question, text) for text in texts]
        return max(0.0, min(1.0, max(near, default=0.0) / ON_TOPIC))

    def _breaks_guardrail(self, writing: Writing, written: Written) -> bool:
        """Ends the writing at a break of the persona; leaves a sentence in the subject's first person out."""
        claim, subject = written.claim, writing.request.subject
        rule = guardrail.broken_rule(claim)
        if not rule and guardrail.impersonates(claim, subject):
            rule = "is_the_subject"
        given = "\n".join([writing.request.question, *(one.text for one in writing.passages)])
        if not rule and not guardrail.says_unknown(claim) and guardrail.leaks(claim, writing.rules, given):
            rule = "leaks_instructions"
        if rule:
            writing.finished = True
        elif guardrail.speaks_as_subject(claim, subject):
            rule = "speaks_as_subject"
        if rule:
            self._note("guardrail", rule)
            writing.over = AnswerReason.GUARDRAIL
            writing.drop(written, f"guardrail {rule}")
        return rule is not None

    def _hold(self, writing: Writing, written: Written) -> None:
        """An introduction waits for the first item that holds; one that says something of its own is dropped."""
        given = "\n".join([writing.request.question, *(one.text for one in writing.passages)])
        if orders.planted(written.claim):
            writing.drop(written, "guardrail planted")
        elif wrong := faults(written.claim, given, writing.known) or added(written.claim, [given], writing.known):
            writing.drop(written, "; ".join(wrong))
        else:
            writing.lead_in = written

    def _introduction(self, writing: Writing, written: Written, sentence: SentenceWritten) -> Sequence[SentenceWritten]:
        """The held introduction, if it leads to this sentence; it rests on the same source."""
        held, writing.lead_in = writing.lead_in, None
        if not held or (written.kind == "prose" and not written.before.startswith("\n")):
            return []
        return [sentence.model_copy(update={"text": held.text, "before": held.before})]

    async def _supported(self, writing: Writing, written: Written, aim: Aim) -> SentenceWritten | None:
        """The sentence with its sources, or its source's own words; None when it was dropped."""
        if writing.gap and leans_back(written.claim):
            verdict = Support((), 0.0, "leans on a sentence that was left out")
        elif _asks(written, writing):
            verdict = Support((), 0.0, "asks instead of answering")
        elif written.kind == "code":
            written = replace(written, text=closed(written.text))
            span = source_of(written.text, writing.passages)
            verdict = Support((span,), 1.0) if span else Support((), 0.0, "code: no passage holds these lines")
        elif invented := unknown_code(written.text, writing.passages):
            verdict = Support((), 0.0, f"code: {invented[0]} is in no source")
        elif denied := denials.denied_by(written.claim, writing.passages, writing.request.subject):
            verdict = Support((), 0.0, f"denied by the owner: {denied}")
        else:
            verdict = await self._verdict(writing, written)
        if verdict.spans and aim.adds_nothing(written, verdict.spans):
            verdict = Support((), verdict.score, "adds nothing to the question")
        if verdict.spans:
            if await aim.misses(written, verdict.spans):
                writing.drop(written, BESIDE, score=verdict.score, true=True)
                return None
            return _sentence(writing.layout.placed(written), verdict)
        said = [plain(one.text) for one in writing.sent]
        questions = [writing.request.question, *writing.request.sub_questions]
        found = repair.repaired(written, questions, writing.passages, said, alike=SAME_AGAIN)
        if not found or await aim.misses(found.written, [found.span]):
            why = f"{verdict.why}; its source's own is {BESIDE}" if found else verdict.why
            writing.drop(written, why, score=verdict.score)
            return None
        writing.unsupported += 1
        writing.note(written, f"repaired: {verdict.why}", verdict.score)
        return _sentence(writing.layout.placed(found.written), Support((found.span,), found.score))

    async def _verdict(self, writing: Writing, written: Written) -> Support:
        """Support by the cited passages; small models often miss the right number by one, so else by any."""
        verdict = Support((), 0.0)
        for one in [written, replace(written, cited=())] if written.cited else [written]:
            found = _about_the_same(writing, one, support.evidence(one, writing.passages, writing.known))
            same = support.word_for_word(one.claim, found)
            if same and set(one.cited) <= {place.passage for each in same for place in each.places}:
                return support.judge(one, writing.passages, same, [1.0] * len(same), threshold=1.0)
            able, why = support.admissible(one.claim, found)
            if not able:
                verdict = replace(verdict, why=verdict.why or why)
                continue
            rated, threshold = await self._rated(writing, one.claim, able)
            rated = [1.0 if each in same else rate for each, rate in zip(able, rated, strict=True)]
            judged = support.judge(one, writing.passages, able, rated, threshold=threshold)
            if judged.spans:
                return judged
            verdict = max(verdict, judged, key=lambda each: each.score) if verdict.score else judged
        return verdict

    async def _rated(self, writing: Writing, claim: str, able: Sequence[Evidence]) -> tuple[list[float], float]:
        """How far each piece of evidence supports the claim, and from which figure on that is enough."""
        texts = [one.for_claim(claim) for one in able]
        if "grounding_unavailable" not in writing.degraded:
            try:
                return await self._grounded(claim, texts), self._grounding_threshold
            except RagstoneError as error:
                self._note("grounding_unavailable", error.detail)
                writing.degrade("grounding_unavailable")
        try:
            scores = await self._scorer.score(writing.request.space, claim, texts)
        except RagstoneError as error:
            self._note("scores_unavailable", error.detail)
            writing.degrade("scores_unavailable")
            return support.by_closeness(claim, able, None), self._support_threshold
        return support.by_closeness(claim, able, scores), self._support_threshold

    async def _grounded(self, claim: str, texts: Sequence[str]) -> list[float]:
        """Support by the closest few, and by the rest only where none of them is enough: a pair takes 20 ms."""
        rated: list[float] = []
        for some in (texts[:FIRST], texts[FIRST:]):
            if some and max(rated, default=0.0) < self._grounding_threshold:
                groundings = await self._scorer.ground([Pair(claim=claim, evidence=text) for text in some])
                rated += support.by_grounding(claim, some, groundings)
        return rated + [0.0] * (len(texts) - len(rated))


def _about_the_same(writing: Writing, written: Written, found: Sequence[Evidence]) -> Sequence[Evidence]:
    """For "It closes at noon." only evidence that may speak of what the sentence before spoke of."""
    if not writing.sent or not leans_back(written.claim):
        return found
    last = writing.sent[-1]
    documents = {writing.passages[span.passage].document_id for span in last.spans}
    names = terms.names(last.text)
    return [
        one
        for one in found
        if all(
            writing.passages[place.passage].document_id in documents
            or any(name in writing.passages[place.passage].text.casefold() for name in names)
            for place in one.places
        )
    ]


def _asks(written: Written, writing: Writing) -> bool:
    """Whether the model asks, other than by a question that a passage asks word for word."""
    asks = written.kind == "prose" and written.claim.endswith(("?", "？"))
    return asks and not any(written.claim in plain(" ".join(one.text.split())) for one in writing.passages)


def _sentence(placed: Written, verdict: Support) -> SentenceWritten:
    return SentenceWritten(
        event="sentence", text=placed.text, before=placed.before, spans=list(verdict.spans), score=verdict.score
    )
