"""Which limits a request falls under, and what a counted window says about the next one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv6Address, ip_address, ip_network

from services.gateway.domain.callers import Caller

ANSWERING = frozenset({"/v1/ask", "/v1/chat/completions", "/mcp"})
"""What a language model may write for."""
ASKING = ANSWERING | {"/v1/search"}

ADDRESS_WITH_KEYS = "60/minute"
REQUESTS_WITH_KEYS = "3000/minute"
"""Limits where none are set but keys are there, so that strangers may come."""
EACH_WITH_KEYS = 8
"""Answers at once of one caller, likewise."""

ONE_HOUSEHOLD = 64
"""Bits of an IPv6 address that a provider gives to one customer, who may take any address below them (RFC 6177)."""

_PERIODS = {1: "a second", 60: "a minute", 3600: "an hour", 86_400: "a day"}


class Kind(Enum):
    """What a request is to the limits."""

    QUESTION = "question"
    OTHER = "other"
    FREE = "free"


@dataclass(frozen=True)
class Rules:
    """The operator's limits, such as ``60/minute``; None: none while no keys are there."""

    address: str | None
    key: str
    requests: str | None
    wrong_keys: str


@dataclass(frozen=True)
class Charge:
    """One count that a request goes into: the count's name, its limit, and who is counted."""

    name: str
    rate: str
    who: str


@dataclass(frozen=True)
class Window:
    """What was counted: in the window before, of which ``previous_left_s`` still matter, and in this one."""

    previous: int
    previous_left_s: float
    current: int
    current_left_s: float


@dataclass(frozen=True)
class Standing:
    """How a caller stands with one limit. ``reset_s``: whole seconds until there is room for more."""

    allowed: bool
    limit: int
    remaining: int
    reset_s: int
    period_s: int

    @property
    def allowance(self) -> str:
        """The limit in words, as 60 a minute."""
        return f"{self.limit} {_PERIODS.get(self.period_s, f'in {self.period_s} seconds')}"


def kind_of(method: str, path: str) -> Kind:
    """Health, the page and its files are free, and so is a browser's question whether it may send something."""
    path = path.rstrip("/")
    if method == "POST" and path in ASKING:
        return Kind.QUESTION
    if method == "OPTIONS" or not (path == "/mcp" or path.startswith("/v1/")):
        return Kind.FREE
    return Kind.OTHER


def writes(method: str, path: str) -> bool:
    """May this request keep a language model busy?"""
    return method == "POST" and path.rstrip("/") in ANSWERING


def household(address: str) -> str:
    """The address that is counted: one IPv6 customer has many of them."""
    try:
        read = ip_address(address)
    except ValueError:
        return address
    if isinstance(read, IPv6Address):
        return str(ip_network((int(read), ONE_HOUSEHOLD), strict=False))
    return str(read)


def identity(caller: Caller) -> str:
    """Whose place an answer takes: a key's own, but the address's where many share a key or nobody has one."""
    if caller.key_id is not None and not caller.public:
        return f"key {caller.key_id}"
    return f"address {household(caller.address)}"


def charges(caller: Caller, kind: Kind, rules: Rules) -> Sequence[Charge]:
    """The counts that a request goes into, the narrower first; a private key answers for itself alone."""
    if caller.own or kind is Kind.FREE:
        return ()
    if kind is Kind.OTHER:
        rate = rules.requests or (REQUESTS_WITH_KEYS if caller.key_id else None)
        return () if rate is None else (Charge("requests", rate, identity(caller)),)
    found = []
    if caller.key_id is None or caller.public:
        rate = rules.address or (ADDRESS_WITH_KEYS if caller.key_id else None)
        found += [] if rate is None else [Charge("questions", rate, identity(caller))]
    if caller.key_id is not None:
        own = caller.requests_per_minute
        found.append(Charge("questions", f"{own}/minute" if own else rules.key, f"key {caller.key_id}"))
    return found


def standing(amount: int, period_s: int, window: Window, *, allowed: bool, wanted: int = 1) -> Standing:
    """What a sliding window counter leaves, and when there is room for ``wanted`` more.

    The window before counts by the part of it that still matters.

    As in https://blog.cloudflare.com/counting-things-a-lot-of-different-things, and as the counter itself rounds.
    """
    share = math.floor(window.previous * window.previous_left_s / period_s)
    counted = share + window.current
    too_many = max(1, counted - amount + wanted)
    if too_many <= share:
        wait = window.previous_left_s - (share - too_many + 1) * period_s / window.previous
    elif window.current:
        # All of this window has to become the one before, and then to fade so far that they fit in.
        wait = window.current_left_s + period_s * min(1.0, max(0.0, 1 - (amount - wanted + 1) / window.current))
    else:
        wait = 0.0
    if not allowed:
        wait = max(wait, 0.001)
    return Standing(allowed, amount, min(amount, max(0, amount - counted)), math.ceil(round(wait, 3)), period_s)
