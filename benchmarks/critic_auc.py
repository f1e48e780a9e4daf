"""How well each way of judging passages tells the relevant from the others, and answerable questions from others.

Run: python -m benchmarks.critic_auc [DATA]   (DATA holds qa/squad2-dev9, ir/cranfield, ir/medline and
grounded/climate-fever-a-pairs.jsonl; a minute)

The shipped critic never saw a question or a paragraph of squad2-dev9. The candidates that are fitted here are
fitted on eight of its nine articles and asked about the ninth. Texts are whole paragraphs; candidates are the first
five of the vector list and of the BM25 list. Intervals come from drawing whole questions anew.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from services.local import critic_figures
from services.local.critic_figures import Exam
from services.local.critic_material import HELD_OUT
from services.local.critic_training import held_out
from services.shared.index.analyser import tokens
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.critic.answerability import answerability
from services.shared.models.critic.features import Candidate, compare, rows
from services.shared.models.critic.runtime import Critic, shipped
from services.shared.models.critic.training import Kind
from services.shared.models.loader import load_embedder

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

DRAWS = 1000
SEED = 0
TEN = 10
ROUNDS = 300


def main(data: Path) -> None:
    """Print the tables."""
    exam = held_out(data, load_embedder(EmbedderSettings()), print)
    if exam is None:
        sys.exit(1)
    critic = shipped()
    relevance_table(exam, critic)
    top_table(exam, critic)
    answerable_table(exam, critic)
    corpus = (data / HELD_OUT.folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    speed(exam, critic, [json.loads(line)["text"] for line in corpus])


def relevance_table(exam: Exam, critic: Critic) -> None:
    """(a): every passage of every question, by each candidate."""
    asked = exam.of(Kind.ASKED, Kind.UNANSWERABLE)
    right = np.array([relevant for one in asked for relevant in one.relevant])
    question = np.repeat(np.arange(len(asked)), [len(one.relevant) for one in asked])
    article = np.repeat([one.group for one in asked], [len(one.relevant) for one in asked])
    found = np.concatenate([rows(one.compared) for one in asked])
    near = np.concatenate([critic_figures.by_vectors(one.compared) for one in asked])
    words = np.concatenate([one.compared.scores for one in asked])
    both = np.stack([near, words], axis=1)
    print(f"| relevance of each passage ({right.sum()} of {len(right)}) | AUC | 95 % |\n|---|---|---|")
    for name, values in {
        "cosine": near,
        "BM25": words,
        "cosine + BM25, logistic, by article": by_article(both, right, article, logistic),
        "these features, logistic, by article": by_article(found, right, article, logistic),
        "these features, boosted trees, by article": by_article(found, right, article, trees),
        "shipped critic (other data sets)": critic.judge_rows(found),
    }.items():
        row(name, values, right, question)


def top_table(exam: Exam, critic: Critic) -> None:
    """(b): is the first passage the right one? By the critic's probability for it."""
    print("\n| first passage right or not, answerable questions | right | AUC | 95 % |\n|---|---|---|---|")
    orders: dict[str, critic_figures.Judge] = {
        "first of the vector list": critic_figures.by_vectors,
        "first of the BM25 list": critic_figures.by_words,
        "first of both, fused": critic_figures.by_fusion,
        "the critic's own first": critic.judge,
    }
    for name, order in orders.items():
        scores = exam.top(critic.judge, order, name)
        low, high = interval(scores.values, scores.positive, np.arange(len(scores.values)))
        print(f"| {name} | {scores.positive.mean():.3f} | {scores.auc():.3f} | {low:.3f} to {high:.3f} |")


def answerable_table(exam: Exam, critic: Critic) -> None:
    """(c), (d): answerable questions against each kind that is not."""
    against = {
        "written to be unanswerable": (Kind.UNANSWERABLE,),
        "article left out": (Kind.ARTICLE_OUT,),
        "of other collections": (Kind.FOREIGN,),
        "off-topic, both kinds": (Kind.ARTICLE_OUT, Kind.FOREIGN),
        "own passage left out": (Kind.LEFT_OUT,),
    }
    for name, kinds in against.items():
        cases = exam.of(Kind.ASKED, *kinds)
        answered = np.array([one.kind is Kind.ASKED for one in cases])
        article = np.array([one.group for one in cases])
        features = [answerability(one.compared, critic.judge(one.compared)) for one in cases]
        found = np.array([list(one.values()) for one in features])
        print(f"\n| answerable or {name} ({answered.sum()}, {(~answered).sum()}) | AUC | 95 % |\n|---|---|---|")
        candidates = {
            "best cosine": np.array([one["similarity_best"] for one in features]),
            "best coverage": np.array([one["share_best"] for one in features]),
            "critic's best": np.array([one["relevant_odds"] for one in features]),
            "these features, logistic, by article": by_article(found, answered, article, logistic),
            "shipped answerability (other data sets)": np.array([critic.answerable(one) for one in features]),
        }
        for candidate, values in candidates.items():
            row(candidate, values, answered, np.arange(len(cases)))


def speed(exam: Exam, critic: Critic, texts: Sequence[str]) -> None:
    """Ten passages, from their texts to probabilities and answerability, as the serving process does it."""
    question = exam.of(Kind.ASKED)[0].compared.question
    dice = random.Random(SEED)
    took, words = [], []
    for _ in range(ROUNDS):
        chosen = dice.sample(texts, TEN)
        began = time.perf_counter()
        candidates = [Candidate(tokens(text, "en"), 0.5 + place / 50, 5.0 + place) for place, text in enumerate(chosen)]
        compared = compare(question, candidates)
        critic.answerable(answerability(compared, critic.judge(compared)))
        took.append(1000 * (time.perf_counter() - began))
        words.append(sum(len(text.split()) for text in chosen))
    print(
        f"\nten passages, {np.mean(words):.0f} words in all: {np.median(took):.2f} ms "
        f"(p95 {np.quantile(took, 0.95):.2f} ms)"
    )


Fit = Callable[[Array, Bools], Callable[[Array], Array]]


def by_article(found: Array, positive: Bools, article: NDArray[np.str_], fit: Fit) -> Array:
    """Each case's score by a fit that saw nothing of its article."""
    scores = np.zeros(len(found))
    for one in sorted(set(article)):
        held = article == one
        if positive[~held].all() or not positive[~held].any():
            continue
        scores[held] = fit(found[~held], positive[~held])(found[held])
    return scores


def logistic(found: Array, positive: Bools) -> Callable[[Array], Array]:
    """Logistic regression over standardised features."""
    from sklearn.linear_model import LogisticRegression

    mean, scale = found.mean(axis=0), found.std(axis=0) + 1e-9
    model = LogisticRegression(C=0.1, max_iter=2000).fit((found - mean) / scale, positive)
    return lambda asked: np.asarray(model.predict_proba((asked - mean) / scale)[:, 1])


def trees(found: Array, positive: Bools) -> Callable[[Array], Array]:
    """Gradient-boosted trees of few leaves."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=150, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=30, l2_regularization=5, random_state=SEED
    ).fit(found, positive)
    return lambda asked: np.asarray(model.predict_proba(asked)[:, 1])


def row(name: str, values: Array, positive: Bools, group: NDArray[np.intp]) -> None:
    """One line of a table."""
    low, high = interval(values, positive, group)
    area = critic_figures.Scores(name, values, positive).auc()
    print(f"| {name} | {area:.3f} | {low:.3f} to {high:.3f} |", flush=True)


def interval(values: Array, positive: Bools, group: NDArray[np.intp]) -> tuple[float, float]:
    """95 % of the areas, over ``DRAWS`` draws of the groups with replacement."""
    dice = np.random.default_rng(SEED)
    order = np.argsort(values, kind="stable")
    level = np.unique(values[order], return_inverse=True)[1]
    yes, owner = positive[order], group[order]
    levels, groups = int(level[-1]) + 1, int(group.max()) + 1
    areas = []
    for _ in range(DRAWS):
        weight = np.bincount(dice.integers(groups, size=groups), minlength=groups)[owner]
        right = np.bincount(level, weight * yes, minlength=levels)
        wrong = np.bincount(level, weight * ~yes, minlength=levels)
        below = np.cumsum(wrong) - wrong
        areas.append(float((right * (below + wrong / 2)).sum() / (right.sum() * wrong.sum())))
    return float(np.quantile(areas, 0.025)), float(np.quantile(areas, 0.975))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
