"""The story of forgetting: what a deletion took out of the catalog is taken out of the vectors and the keywords too."""

import asyncio

from services.retriever.ports import Memory
from services.shared.contracts.forgetting import ForgetRequest, ForgetResponse


class Forgetting:
    """Takes versions out of every index of their space."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def forget(self, request: ForgetRequest) -> ForgetResponse:
        """Counted in the indexes themselves. Raises RagstoneError when one of them does not answer.

        A version that was sent again meanwhile, and answers or is on its way in, keeps its vectors.
        """
        gone = await self._memory.gone(request.space, request.versions)
        vectors, postings = await asyncio.gather(
            self._memory.forget_vectors(request.space, gone), self._memory.forget_postings(request.space, gone)
        )
        return ForgetResponse(vectors=vectors, postings=postings)
