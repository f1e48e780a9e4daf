"""Gateway to retriever, ``POST /forget``: take versions out of the indexes that answers are found with."""

from pydantic import Field

from services.shared.contracts.base import Request, Response
from services.shared.contracts.ids import SpaceId, VersionId


class ForgetRequest(Request):
    """The versions are not live any more: the catalog's transaction came first."""

    space: SpaceId
    versions: list[VersionId]


class ForgetResponse(Response):
    """What was there and is not any more, counted in the indexes themselves."""

    vectors: int = Field(description="Over all indexes of the space")
    postings: int = Field(
        description="Chunks that left this replica's keyword index, which others leave at their next search"
    )
