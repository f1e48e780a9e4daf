"""A gateway in memory that has one gap."""

from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.unit.local.fakes import NOW, FakeMeasuring


def a_gap(**said: Any) -> dict[str, Any]:
    gap: dict[str, Any] = {
        "id": "g1",
        "question": "Does she know Rust?",
        "others": ["Has she used Rust?", "Rust?", "Any Rust?", "Rust, anyone?"],
        "asked": 4,
        "judged_bad": 1,
        "state": "open",
        "nearest": ["Skills"],
        "document_id": None,
        "first_at": NOW,
        "last_at": NOW,
    }
    return gap | said


@dataclass
class FakeGaps(FakeMeasuring):
    gaps: list[dict[str, Any]] = field(default_factory=lambda: [a_gap()])

    def _measured(self, method: str, path: str, params: httpx.QueryParams, body: Any) -> httpx.Response:
        if path == "/v1/gaps":
            counts = {"open": len(self.gaps), "answered": 0, "dismissed": 0}
            return httpx.Response(200, json={"items": self.gaps, "next_cursor": None, "counts": counts})
        if path == "/v1/gaps/g1/fact":
            gap = a_gap(state="answered", document_id="facts/g1")
            added = {"gap": gap, "document_id": "facts/g1", "job_id": self._begun("document")}
            return httpx.Response(202, json=added)
        if path == "/v1/gaps/g1/dismiss":
            return httpx.Response(200, json=a_gap(state="dismissed"))
        if path == "/v1/gaps/g1/reopen":
            return httpx.Response(200, json=a_gap())
        return super()._measured(method, path, params, body)
