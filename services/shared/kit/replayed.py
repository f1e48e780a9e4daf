"""A request's body, read already, for an application that reads it once more."""

from starlette.types import Message, Receive


def replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, and then whatever comes after it."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
