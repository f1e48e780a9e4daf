"""Training: what comes out is what scikit-learn says, and the same lessons give the same critic."""

import hashlib

import numpy as np
import pytest

from services.shared.models.critic import training
from services.shared.models.critic.features import FEATURES, Candidate, compare
from services.shared.models.critic.runtime import Critic
from services.shared.models.critic.training import Kind, Lesson
from services.shared.models.critic.weights import Manifest, Weights
from tests.unit.models_critic.cases import candidates, question


def lessons(number: int = 16) -> list[Lesson]:
    """Questions whose first candidate is the right one, and the same with it left out."""
    dice = np.random.default_rng(7)
    made = []
    for turn in range(number):
        noisy = [
            Candidate(one.tokens, (one.similarity or 0) + dice.normal(0, 0.1), (one.bm25 or 0) + dice.uniform(0, 2))
            for one in candidates()
        ]
        group = f"article {turn % 8}"
        right = (True, False, False, False, False)
        made.append(Lesson("set", group, Kind.ASKED, compare(question(), noisy), right))
        made.append(Lesson("set", group, Kind.LEFT_OUT, compare(question(), noisy[1:]), (False,) * 4))
    return made


def critic_of(weights: Weights) -> Critic:
    digest = hashlib.sha256(b"").hexdigest()
    manifest = Manifest(sha256=digest, seed=0, embedder="", analyser="", sources=[], held_out={}, versions={})
    return Critic(weights, manifest)


def test_the_runtime_says_what_the_trained_nets_say(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.neural_network import MLPClassifier

    models: list[MLPClassifier] = []
    fit = MLPClassifier.fit

    def kept(model: MLPClassifier, *data: object) -> MLPClassifier:
        models.append(model)
        return fit(model, *data)

    monkeypatch.setattr(MLPClassifier, "fit", kept)
    asked = [one for one in lessons() if one.kind is Kind.ASKED]
    found = training.rows_of(asked)
    fitted = training.fit_nets(found, training.labels_of(asked), seed=0)
    inputs = np.clip((found - fitted.mean) / fitted.scale, -training.CUT, training.CUT)
    expected = np.mean([model.predict_proba(inputs)[:, 1] for model in models], axis=0)
    weights = Weights(
        features=list(FEATURES),
        mean=fitted.mean.tolist(),
        scale=fitted.scale.tolist(),
        cut=training.CUT,
        nets=list(fitted.nets),
        platt_slope=1.0,
        platt_intercept=0.0,
        answerability=training.fit_answerability(lessons(), [np.full(len(one.relevant), 0.5) for one in lessons()]),
    )
    assert len(models) == training.NETS
    assert critic_of(weights).judge_rows(found) == pytest.approx(expected, abs=1e-8)


def test_the_same_lessons_and_seed_give_the_same_critic() -> None:
    assert training.train(lessons(), seed=3) == training.train(lessons(), seed=3)


def test_a_trained_critic_prefers_the_right_passage_and_the_answerable_question() -> None:
    taught = lessons()
    critic = critic_of(training.train(taught, seed=0))
    relevant = critic.judge(taught[0].compared)
    assert relevant.index(max(relevant)) == 0


def test_a_group_is_in_one_fold_and_every_fold_has_some() -> None:
    folds = training.folds_of(lessons(), seed=1)
    assert set(folds) == {f"article {number}" for number in range(8)}
    assert set(folds.values()) == set(range(training.FOLDS))
