"""One installation for a test: catalog, originals, Chroma and Redis, and what a gateway would do to them."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import redis

from services.ingestor.settings import IngestorSettings
from services.ingestor.wiring import now
from services.shared.catalog import chunks, documents, indexes, jobs, spaces
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.documents import Draft
from services.shared.catalog.engine import Catalog
from services.shared.catalog.jobs import JobRow
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import QUEUE_OF, JobKind, Queue
from services.shared.index.chroma import VectorIndex
from services.shared.kit.queue import impatient_bell

ROOT = Path(__file__).parents[3]


class Site:
    def __init__(self, folder: Path, chroma_url: str, redis_url: str) -> None:
        self.folder, self.chroma_url, self.redis_url = folder, chroma_url, redis_url
        # Spaces of tests share a Chroma server, so each has a name of its own.
        self.space = SpaceId(f"test-{uuid.uuid4().hex[:8]}")
        self.rest = {"RAGSTONE_LEASE_S": "4", "RAGSTONE_RECONCILE_EVERY_S": "0.5", "RAGSTONE_RING_AFTER_S": "2"}

    def environment(self) -> dict[str, str]:
        return {
            "RAGSTONE_STATE_DIR": str(self.folder),
            "RAGSTONE_CHROMA_URL": self.chroma_url,
            "RAGSTONE_REDIS_URL": self.redis_url,
            "OMP_NUM_THREADS": "1",
            "RAGSTONE_EMBEDDER_BACKEND": "onnx",  # loads in a sixth of the time that torch takes
            **self.rest,
        }

    def open(self) -> None:
        self.settings = IngestorSettings()
        self.catalog = Catalog(self.settings.state.catalog_url)
        self.catalog.migrate()
        self.blobs = Blobs(self.settings.state.blob_dir)
        self.redis = redis.Redis.from_url(self.redis_url)
        self.redis.flushdb()
        self.bell = impatient_bell(self.settings.redis, self.settings.jobs)

    def close(self) -> None:
        self.catalog.close()
        self.redis.close()

    def send(self, document_id: str, text: str | bytes, *, filename: str | None = None, ring: bool = False) -> JobId:
        """What the gateway does with an upload."""
        data = text.encode() if isinstance(text, str) else text
        sha256, size = self.blobs.put(data)
        draft = Draft(
            document_id=DocumentId(document_id),
            blob_sha256=sha256,
            filename=filename or f"{document_id}.md",
            media_type="text/markdown",
            size_bytes=size,
            title=None,
            type=None,
            tags=None,
            source=None,
            metadata={},
            origin=None,
        )
        with self.catalog.write() as tx:
            sent = documents.submit(tx, self.space, draft, now())
            assert sent.revision is not None
            job = self._create(tx, JobKind.DOCUMENT, {"draft": draft.payload()}, draft.document_id, sent.revision)
        if ring:
            self.bell.ring(Queue.INGEST, job, "")
        return job

    def send_batch(self, records: list[dict[str, Any]] | str, *, ring: bool = False) -> JobId:
        body = records if isinstance(records, str) else "\n".join(json.dumps(one) for one in records)
        sha256, size = self.blobs.put(body.encode())
        with self.catalog.write() as tx:
            spaces.make_and_lock(tx, self.space, now())
            job = self._create(tx, JobKind.BATCH, {"blob_sha256": sha256, "size_bytes": size}, None, None)
        if ring:
            self.bell.ring(Queue.INGEST, job, "")
        return job

    def delete(self, document_id: str) -> JobId:
        """What the gateway does with a deletion: the clean-up job."""
        with self.catalog.write() as tx:
            removed = documents.remove(tx, self.space, DocumentId(document_id), now())
            assert removed is not None
            return self._create(tx, JobKind.CLEANUP, {"version_ids": removed.version_ids}, None, None)

    def send_mending(self, versions: set[VersionId]) -> JobId:
        """What the reconciler does when these versions' vectors are lost."""
        with self.catalog.write() as tx:
            return self._create(tx, JobKind.MEND, {"version_ids": sorted(versions)}, None, None)

    def job(self, job_id: JobId) -> JobRow:
        with self.catalog.read() as tx:
            found = jobs.find(tx, job_id)
        assert found is not None
        return found

    def chunk_ids(self, document_id: str) -> list[str]:
        """Ids of the live chunks of a document, in order."""
        with self.catalog.read() as tx:
            return [str(one.id) for one in chunks.iter_live(tx, self.space) if one.document_id == document_id]

    def index(self) -> VectorIndex:
        with self.catalog.read() as tx:
            row = indexes.serving(tx, self.space)
        assert row is not None
        return VectorIndex(self.chroma_url, row)

    def wait(self, job_ids: list[JobId], seconds: float) -> list[JobRow]:
        self.until(lambda: all(self.job(one).state.final for one in job_ids), seconds)
        return [self.job(one) for one in job_ids]

    def until(self, true: Callable[[], bool], seconds: float) -> None:
        give_up = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < give_up, "it did not happen in time:\n" + self.logs()[-6000:]
            time.sleep(0.2)

    @contextmanager
    def process(self, role: str, module: str = "services.ingestor", **more: str) -> Iterator["subprocess.Popen[bytes]"]:
        """A real ingestor process in its own group, ended with everything it started."""
        log = (self.folder / f"{role}-{uuid.uuid4().hex[:6]}.log").open("wb")
        started = subprocess.Popen(
            [sys.executable, "-m", module, role],
            cwd=ROOT,
            env={**os.environ, **self.environment(), **more},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield started
        finally:
            if started.poll() is None:
                started.send_signal(signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    started.wait(30)
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait(10)
            log.close()

    def logs(self) -> str:
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))

    def _create(
        self, tx: Any, kind: JobKind, payload: dict[str, Any], document_id: DocumentId | None, revision: int | None
    ) -> JobId:
        job_id = JobId(uuid.uuid4().hex)
        jobs.create(
            tx,
            id=job_id,
            space=self.space,
            kind=kind,
            queue=QUEUE_OF[kind],
            document_id=document_id,
            revision=revision,
            payload=payload,
            request_id="",
            now=now(),
        )
        return job_id
