"""A round: something is done to the documents while processes are killed; then all must be as it should."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
from sqlalchemy import select

from services.shared.catalog import chunks, indexes, schema
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.jobs import JobState
from services.shared.index.chroma import VectorIndex
from tests.chaos.belief import Belief, new_text
from tests.chaos.cluster import Cluster

SPACE = SpaceId("main")
QUIET_S = 120.0
LEVEL_S = 60.0
DOCUMENTS = 24


@dataclass
class Tally:
    """What happened, in numbers."""

    done: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    searches: Counter[str] = field(default_factory=Counter)
    retried: int = 0
    slowest_quiet_s: float = 0.0

    def lines(self) -> list[str]:
        """For a person."""
        named = {"done": self.done, "killed": self.kills, "searches": self.searches}
        told = [f"  {name}: {dict(sorted(counts.items()))}" for name, counts in named.items()]
        return [*told, f"  failed jobs begun again {self.retried}, slowest quiet {self.slowest_quiet_s:.1f} s"]


class Chaos:
    """The cluster, what is believed of it, and one client of its gateway."""

    def __init__(self, cluster: Cluster, dice: random.Random) -> None:
        self.cluster, self.dice = cluster, dice
        self.belief, self.tally = Belief(), Tally()
        self.faults: list[str] = []
        self._client = httpx.Client(base_url=cluster.site.url, timeout=20)
        self._catalog = Catalog(cluster.catalog_url)

    def round(self) -> None:
        """Do something, kill somebody meanwhile, wait until all is quiet, and look at everything."""
        with self._watched():
            acting = threading.Thread(target=self._act)
            acting.start()
            for _ in range(self.dice.choice((1, 1, 2))):
                time.sleep(self.dice.uniform(0, 1.2))
                member = self.dice.choice(self.cluster.members)
                if member.alive:
                    self.tally.kills[member.kill(self.dice)] += 1
            time.sleep(self.dice.uniform(0, 0.8))
            self.cluster.wait_ready()
            acting.join()
            self._until_quiet()
            self._look_at_documents()
            self.belief.settle()
        self._look_at_searches()
        self._look_at_jobs()
        self._look_at_vectors()

    def close(self) -> None:
        self._client.close()
        self._catalog.close()

    def _act(self) -> None:
        for _ in range(self.dice.randint(1, 4)):
            act = self.dice.choices((self._send, self._send_batch, self._delete, self._index), weights=(6, 2, 3, 2))[0]
            self.tally.done[act.__name__.strip("_")] += 1
            act()
            time.sleep(self.dice.uniform(0, 0.3))

    def _call(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        """The answer; None when nobody knows what became of the request."""
        try:
            response = self._client.request(method, path, **more)
        except httpx.HTTPError:
            return None
        return None if response.status_code >= 500 else response

    def _send(self) -> None:
        names = [f"d{self.dice.randrange(DOCUMENTS)}" for _ in range(self.dice.randint(1, 4))]
        for name in names:
            text = new_text(self.dice)
            answer = self._call("POST", "/v1/documents", json={"id": name, "text": text.text})
            self.belief.sent(name, text, accepted=answer is not None and answer.status_code == 202)

    def _send_batch(self) -> None:
        texts = {f"d{self.dice.randrange(DOCUMENTS)}": new_text(self.dice) for _ in range(self.dice.randint(2, 8))}
        lines = [httpx.Response(200, json={"id": name, "text": text.text}).text for name, text in texts.items()]
        headers = {"Content-Type": "application/x-ndjson"}
        answer = self._call("POST", "/v1/documents", content="\n".join(lines), headers=headers)
        for name, text in texts.items():
            self.belief.sent(name, text, accepted=answer is not None and answer.status_code == 202)

    def _delete(self) -> None:
        known = sorted(self.belief.may_be)
        if known:
            name = self.dice.choice(known)
            answer = self._call("DELETE", f"/v1/documents/{name}")
            # 404 may be the second half of an upload that nobody confirmed.
            if answer is None or answer.status_code != 404:
                self.belief.deleted(name, confirmed=answer is not None and answer.status_code == 200)

    def _index(self) -> None:
        """Whatever can be done to the indexes now."""
        answer = self._call("GET", "/v1/indexes")
        states = {one["state"]: one["id"] for one in answer.json()["items"]} if answer is not None else {}
        if "serving" not in states:
            return
        if "ready" in states:
            self._call("POST", f"/v1/indexes/{states['ready']}/promote", json={"force": True}, timeout=40)
        elif "standby" in states and self.dice.random() < 0.7:
            way = self.dice.choice((("POST", "/v1/indexes/rollback"), ("DELETE", f"/v1/indexes/{states['standby']}")))
            self._call(*way, timeout=40)
        elif "building" not in states:
            prompt = f"{self.dice.choice(('note', 'passage', 'text'))} {self.dice.randrange(1000)}: "
            body = {"embedder": "all-MiniLM-L6-v2", "document_prompt": prompt, "query_prompt": ""}
            self._call("POST", "/v1/indexes", json=body)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Searches all the while: what is dead stays dead, and no document shows two versions at once."""
        stop = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(stop, random.Random(self.dice.random())))
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()

    def _watch(self, stop: threading.Event, dice: random.Random) -> None:
        with httpx.Client(base_url=self.cluster.site.url, timeout=20) as client:
            while not stop.wait(0.05):
                dead = sorted(self.belief.dead)
                live = [text.canary for text in self.belief.live.values()]
                words = dice.sample(dead, min(2, len(dead))) + dice.sample(live, min(1, len(live)))
                try:
                    answer = client.post("/v1/search", json={"question": f"call sign {' '.join(words)}", "top_k": 20})
                except httpx.HTTPError:
                    self.tally.searches["not answered"] += 1
                    continue
                self.tally.searches[str(answer.status_code)] += 1
                if answer.status_code == 200:
                    self._judge(answer.json()["passages"], dead)

    def _judge(self, passages: list[dict[str, Any]], dead: list[str]) -> None:
        said = " ".join(passage["text"] for passage in passages)
        self.faults += [f"{canary} was dead and is found" for canary in dead if canary in said]
        versions: dict[str, set[str]] = {}
        for passage in passages:
            versions.setdefault(passage["document_id"], set()).add(passage["version"])
        self.faults += [
            f"{name} shows {len(found)} versions at once" for name, found in versions.items() if len(found) > 1
        ]
        ids = [passage["chunk_id"] for passage in passages]
        if len(set(ids)) < len(ids):
            self.faults.append("a chunk is found twice in one list")

    def _until_quiet(self) -> None:
        """Every job ends; those that failed are begun again, as a person would."""
        began = time.monotonic()
        while True:
            counts = self._client.get("/v1/jobs", params={"limit": 1}).json()["counts"]
            if not counts["queued"] and not counts["running"]:
                if not counts["failed"] or not self._retry():
                    break
            elif time.monotonic() - began > QUIET_S:
                open_jobs = self._client.get("/v1/jobs", params={"state": ["queued", "running"]}).json()["items"]
                self.faults.append(f"jobs are still open after {QUIET_S:.0f} s: {open_jobs[:3]}")
                break
            time.sleep(0.1)
        self.tally.slowest_quiet_s = max(self.tally.slowest_quiet_s, time.monotonic() - began)

    def _retry(self) -> bool:
        failed = self._client.post("/v1/jobs/retry", json={}).json()
        self.tally.retried += failed["retried"]
        return bool(failed["retried"])

    def _look_at_documents(self) -> None:
        found = {one["id"]: one["sha256"] for one in self._every("/v1/documents")}
        for name in self.belief.may_be.keys() | found.keys():
            fault = self.belief.seen(name, found.get(name))
            if fault is not None:
                self.faults.append(fault)

    def _every(self, path: str) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            page = self._client.get(path, params={"limit": 100, **({"cursor": cursor} if cursor else {})}).json()
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _look_at_searches(self) -> None:
        """Each document is found whole and once, at each retriever; nothing that is dead is found at any."""
        dead = sorted(self.belief.dead)
        for name, text in self.belief.live.items():
            for url in self.cluster.retrievers:
                body = {"space": SPACE, "question": text.canary, "top_k": 100}
                answer = httpx.post(f"{url}/retrieve", json=body, timeout=20)
                if answer.status_code != 200:
                    self.faults.append(
                        f"a retriever answers {answer.status_code} when all is quiet: {answer.text[:200]}"
                    )
                    continue
                passages = answer.json()["passages"]
                self._judge(passages, dead)
                mine = [passage for passage in passages if text.canary in passage["text"]]
                whole = len([one for one in text.text.split("# Part") if one.strip()])
                others = {one["document_id"] for one in mine} - {name}
                near = sum(1 + len(one["also_in"]) for one in mine)
                if others or not mine or near > whole:
                    self.faults.append(f"{name}: {len(mine)} of {whole} chunks found, also in {others or 'none'}")

    def _look_at_jobs(self) -> None:
        j = schema.jobs.c
        with self._catalog.read() as tx:
            late = tx.execute(select(j.id).where(j.state == JobState.RUNNING, j.lease_until < datetime.now(UTC))).all()
        if late:
            self.faults.append(f"{len(late)} jobs run past their lease")

    def _look_at_vectors(self) -> None:
        """The serving index comes to hold exactly the live chunks."""
        end = time.monotonic() + LEVEL_S
        while True:
            with self._catalog.read() as tx:
                live, row = chunks.live_sizes(tx, SPACE), indexes.serving(tx, SPACE)
            held = {} if row is None else dict(VectorIndex(self.cluster.site.chroma_url, row).sizes())
            if held == live:
                return
            if time.monotonic() > end:
                lacking = {version: n for version, n in live.items() if held.get(version, 0) < n}
                self.faults.append(
                    f"vectors differ: {len(lacking)} versions lack some, {len(held.keys() - live)} unowned"
                )
                return
            time.sleep(0.2)
