"""A gateway in memory that has indexes."""

from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.unit.local.fakes import NOW, FakeMeasuring, problem


def an_index(id: str, state: str, **more: Any) -> dict[str, Any]:
    """An index as the API shows it."""
    embedder = {
        "name": "mini",
        "revision": "53aa",
        "dimension": 384,
        "query_prompt": "",
        "document_prompt": "",
        "max_tokens": 256,
    }
    return {
        "id": id,
        "state": state,
        "embedder": embedder,
        "vectors": 10,
        "chunks": 10,
        "lag": 0,
        "truncated": 0,
        "seconds_left": None,
        "comparison": None,
        "job_id": None,
        "reason": None,
        "created_at": NOW,
        "promoted_at": None,
    } | more


def a_comparison(*, worse: bool) -> dict[str, Any]:
    return {
        "questions": 40,
        "golden": "made",
        "metric": "ndcg@10",
        "serving": 0.8,
        "candidate": 0.6 if worse else 0.85,
        "difference": -0.2 if worse else 0.05,
        "low": -0.3 if worse else -0.01,
        "high": -0.1 if worse else 0.11,
        "worse": worse,
        "seq": 4,
    }


@dataclass
class FakeIndexed(FakeMeasuring):
    """``built`` is what a build ends as; ``promoted`` what a promotion leads to, or None for a refusal."""

    indexes: list[dict[str, Any]] = field(default_factory=lambda: [an_index("i1", "serving")])
    built: dict[str, Any] = field(default_factory=lambda: an_index("i2", "ready", comparison=a_comparison(worse=False)))
    promoted: dict[str, Any] | None = field(default_factory=lambda: an_index("i2", "serving"))

    def _measured(self, method: str, path: str, params: httpx.QueryParams, body: Any) -> httpx.Response:
        if not path.startswith("/v1/indexes"):
            return super()._measured(method, path, params, body)
        if (method, path) == ("POST", "/v1/indexes"):
            begun = an_index("i2", "building", job_id=self._begun("reembed"), vectors=0)
            begun["embedder"]["name"] = body["embedder"]
            return httpx.Response(202, json=begun)
        if method == "POST":
            if self.promoted is None:
                detail = "Index i2 is not promoted: it finds less. Send force: true to promote it all the same."
                return problem(409, "index_worse", detail)
            return httpx.Response(200, json=self.promoted)
        if method == "DELETE":
            return httpx.Response(202, json=an_index(path.rsplit("/")[-1], "retired"))
        if path == "/v1/indexes":
            return httpx.Response(200, json={"items": self.indexes, "next_cursor": None, "configured": "mini"})
        return httpx.Response(200, json=self.built)
