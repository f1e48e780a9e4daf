"""Where Redis remembers answers for a while, and how those that rest on a document are forgotten."""

import hashlib
import time

import redis
from redis.exceptions import RedisError, ResponseError

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.kit.settings import RedisSettings

REWRITE_WITHIN_S = 2.0
_LOOK_EVERY_S = 0.02


def answer_key(space: SpaceId, id: str) -> str:
    """Where an answer is kept."""
    return f"ragstone:answer:{space}:{id}"


def given_id(fingerprint: str) -> str:
    """In place of an answer's id, for one that is kept whole, to be given again to an equal question."""
    return f"given:{fingerprint}"


def resting_key(space: SpaceId, document_id: DocumentId) -> str:
    """Where the ids of the answers are kept that rest on a document; its own id may be long, and of any characters."""
    return f"ragstone:answers_of:{space}:{hashlib.sha256(document_id.encode()).hexdigest()[:32]}"


class AnswerEraser:
    """Forgets answers, also in the file that Redis may keep of its commands."""

    def __init__(self, settings: RedisSettings) -> None:
        self._client = redis.Redis.from_url(
            settings.redis_url,
            socket_timeout=settings.redis_timeout_s,
            socket_connect_timeout=settings.redis_timeout_s,
        )

    def forget(self, space: SpaceId, document_id: DocumentId) -> int:
        """Forget every answer that rests on the document; how many. Raises RagstoneError (queue_unavailable)."""
        resting = resting_key(space, document_id)
        try:
            ids = self._client.smembers(resting)
            keys = [answer_key(space, id if isinstance(id, str) else id.decode()) for id in ids]
            removed = int(self._client.delete(*keys)) if keys else 0
            self._client.delete(resting)
            self._rewrite()
        except (RedisError, OSError) as error:
            detail = (
                f"Redis, which remembers answers, does not answer ({type(error).__name__}); start it or correct "
                "RAGSTONE_REDIS_URL. What it remembers is forgotten by the clean-up job, or by itself after "
                "RAGSTONE_ANSWER_KEEP_S."
            )
            raise RagstoneError(ErrorCode.QUEUE_UNAVAILABLE, detail, retry_after_s=2) from error
        return removed

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _rewrite(self) -> None:
        """Have Redis write its append-only file anew, in which answers stand that it has forgotten, if it keeps one."""
        if not self._persistence()["aof_enabled"]:
            return
        deadline = time.monotonic() + REWRITE_WITHIN_S
        # One that is under way began before the answers were forgotten.
        while not self._rewriting_begun():
            self._pause(deadline)
        while self._at_it():
            self._pause(deadline)

    def _rewriting_begun(self) -> bool:
        if self._at_it():
            return False
        try:
            self._client.bgrewriteaof()
        except ResponseError:
            # Another one was quicker.
            return False
        return True

    def _at_it(self) -> bool:
        now = self._persistence()
        return bool(now["aof_rewrite_in_progress"] or now["aof_rewrite_scheduled"])

    def _persistence(self) -> dict[str, int]:
        return self._client.info("persistence")

    def _pause(self, deadline: float) -> None:
        if time.monotonic() > deadline:
            raise redis.exceptions.TimeoutError("the append-only file was not written anew in time")
        time.sleep(_LOOK_EVERY_S)
