"""``GET /v1/me``: what a caller may do, so that a page shows no more than that."""

from pydantic import Field

from services.shared.contracts.base import Response
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.keys import Role


class Me(Response):
    key_id: str | None = Field(description="null without a key: the owner of a gateway that has no keys")
    name: str | None = Field(description="What the key is for; null without a key")
    role: Role
    space: SpaceId | None = Field(description="The one space of the key; null: Ragstone-Space names any")
    public: bool = Field(description="A public key only asks, searches, shows sources and judges answers")
