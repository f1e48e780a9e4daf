"""Several machines behind one name: each call goes to the one with the least to do, and past one that is gone.

The system sorts a name's addresses by how near they look (RFC 6724, rule 9), the same way each time, so whoever takes
the first one asks one replica for everything.
"""

import asyncio
import itertools
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from ipaddress import ip_address

import httpx

FRESH_S = 1.0
"""So long a name's addresses are used before they are looked up again."""

SHUN_S = 2.0
"""So long a replica that could not be reached is asked after the others."""

RESOLVE_S = 2.0

NOT_REACHED = (httpx.ConnectError, httpx.ConnectTimeout)
BROKEN = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
"""Before an answer began: nobody knows whether the call was taken. Between services every call may be taken twice."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


async def resolved(host: str, port: int) -> Sequence[str]:
    """The addresses of a name. Raises OSError."""
    looking = asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    found = await asyncio.wait_for(looking, RESOLVE_S)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Replicas(httpx.AsyncBaseTransport):
    """Chooses the address of each request, and sends it by ``inner``.

    One that cannot be connected to is passed over for the next; a connection that breaks before an answer began costs
    one more try, at another address where there is one.
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        resolve: Resolve = resolved,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._resolve = resolve
        self._clock = clock
        self._known: dict[tuple[str, int], tuple[float, Sequence[str]]] = {}
        self._busy: Counter[str] = Counter()
        self._shunned: dict[str, float] = {}
        self._turns = itertools.count()
        self._last: dict[str, int] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it. Raises httpx.TransportError, of the last address that was tried."""
        left = await self._addresses(request)
        may_break = True
        while True:
            address = left.pop(0)
            try:
                return await self._ask(request, address)
            except NOT_REACHED:
                self._gone(request, address)
                if not left:
                    raise
            except BROKEN:
                self._gone(request, address)
                if not may_break:
                    raise
                may_break = False
                left = left or [address]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _addresses(self, request: httpx.Request) -> list[str]:
        """Best first: not shunned, with the fewest calls under way, longest not asked."""
        host, port = _place(request)
        if _is_address(host):
            return [host]
        at, found = self._known.get((host, port), (-FRESH_S, ()))
        if not found or self._clock() - at >= FRESH_S:
            try:
                found = await self._resolve(host, port)
            except TimeoutError as error:
                raise httpx.ConnectTimeout(f"{host} was not found in time", request=request) from error
            except OSError as error:
                raise httpx.ConnectError(f"{host} was not found: {error}", request=request) from error
            self._known[host, port] = self._clock(), found
            self._last = {one: turn for one, turn in self._last.items() if one in found}
        now = self._clock()
        return sorted(
            found, key=lambda one: (self._shunned.get(one, now) > now, self._busy[one], self._last.get(one, -1))
        )

    async def _ask(self, request: httpx.Request, address: str) -> httpx.Response:
        self._busy[address] += 1
        self._last[address] = next(self._turns)
        try:
            response = await self._inner.handle_async_request(_addressed(request, address))
        except BaseException:
            self._done(address)
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_UntilClosed(response.stream, lambda: self._done(address)),
            extensions=response.extensions,
        )

    def _done(self, address: str) -> None:
        self._busy[address] -= 1
        if not self._busy[address]:
            del self._busy[address]

    def _gone(self, request: httpx.Request, address: str) -> None:
        now = self._clock()
        self._known.pop(_place(request), None)
        self._shunned = {one: until for one, until in self._shunned.items() if until > now}
        self._shunned[address] = now + SHUN_S


class _UntilClosed(httpx.AsyncByteStream):
    """An answer's bytes; says once when it was closed."""

    def __init__(self, stream: httpx.AsyncByteStream, closed: Callable[[], None]) -> None:
        self._stream = stream
        self._closed: Callable[[], None] | None = closed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield piece

    async def aclose(self) -> None:
        closed, self._closed = self._closed, None
        if closed is not None:
            closed()
        await self._stream.aclose()


def _place(request: httpx.Request) -> tuple[str, int]:
    return request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _addressed(request: httpx.Request, address: str) -> httpx.Request:
    """The same request to one address; its Host header and the certificate that it wants stay those of the name."""
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
