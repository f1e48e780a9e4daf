"""``keys create|list|revoke|reset`` on the catalog itself, so that the first key can be made where no gateway runs.

One desk for the `ragstone` command and for ``python -m services.gateway keys`` in a container. The secret alone goes to
standard output, so that ``KEY=$(... keys create NAME)`` holds it; what there is to say goes to standard error.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError
from sqlalchemy import Connection, make_url

from services.shared.catalog import keys
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.key_rules import checked
from services.shared.contracts.keys import CreatedKey, Key, NewKey, Role

PAGE = 200

_WORD = {
    "name": "NAME",
    "allowed_origins": "--origin",
    "requests_per_minute": "--per-minute",
    "daily_tokens": "--daily-tokens",
    "expires_at": "--expires",
}
"""What a field of a key is called on the command line, where it is not its own name."""

_SPAN = re.compile(r"([1-9][0-9]{0,3})([hdw])")
_UNIT = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def run(words: Sequence[str], prog: str, catalog_url: str) -> None:
    """Do what the words say.

    Raises RagstoneError (invalid_request, key_not_found, catalog_unavailable); SystemExit (2) for wrong words.
    """
    asked = _parser(prog).parse_args(words)
    asked.do(asked, catalog_url)


def _create(asked: argparse.Namespace, catalog_url: str) -> None:
    now = datetime.now(UTC)
    try:
        wanted = NewKey(
            name=asked.name,
            role=asked.role,
            space=asked.space,
            public=asked.public,
            allowed_origins=asked.origin,
            requests_per_minute=asked.per_minute,
            daily_tokens=asked.daily_tokens,
            expires_at=None if asked.expires is None else now + asked.expires,
        )
        checked(wanted, now)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        _wrong_words(asked, f"{fault['loc'][0]}: {fault['msg']}")
    except RagstoneError as error:
        _wrong_words(asked, error.detail)
    with _writing(catalog_url) as tx:
        first = not keys.any_made(tx)
        made = keys.create(tx, wanted, now)
    if asked.json:
        _out(made.model_dump(mode="json"))
        return
    _say(f"Key {made.key.id} ({_described(made.key)}) in {_where(catalog_url)}.")
    _say("Its secret is shown this once; copy it now:\n")
    sys.stdout.write(f"{made.secret}\n")
    sys.stdout.flush()
    _say(f"\n{_next(made, first=first)}")


def _wrong_words(asked: argparse.Namespace, detail: str) -> NoReturn:
    """Ends with 2: the words contradict each other, or one of them cannot be used."""
    field, _, why = detail.partition(": ")
    asked.parser.error(f"{_WORD.get(field, f'--{field}')}: {why}")
    raise AssertionError


def _next(made: CreatedKey, *, first: bool) -> str:
    """What to do with a new key."""
    said = [
        "Programs send it in the header `Authorization: Bearer …`, the ragstone command takes it from RAGSTONE_KEY."
    ]
    if made.key.public:
        said = ["It may stand in web pages of the addresses above: it only asks, and only from there."]
    if first:
        said.append("It is the first key: within a second the gateway asks everybody for one, its own page too.")
        if made.key.role is not Role.ADMIN:
            said.append("For yourself make one with --role admin as well.")
    return "\n".join(said)


def _list(asked: argparse.Namespace, catalog_url: str) -> None:
    there = _there(catalog_url)
    found = _all(catalog_url) if there else []
    if asked.json:
        _out([key.model_dump(mode="json") for key in found])
        return
    if not there:
        _say(f"There is no catalog at {_where(catalog_url)} yet, and so there are no keys.")
    elif not found:
        _say(f"No key was made yet in {_where(catalog_url)}; programs on this machine need none.")
    for key in found:
        used = "never used" if key.last_used_at is None else f"last used {key.last_used_at:%Y-%m-%d %H:%M} UTC"
        sys.stdout.write(f"{key.id}  {_state(key):8} {_described(key)}, {used}\n")


def _all(catalog_url: str) -> list[Key]:
    found: list[Key] = []
    with _writing(catalog_url) as tx:
        cursor = None
        while True:
            page = keys.page(tx, limit=PAGE, cursor=cursor)
            found += page.items
            cursor = page.next_cursor
            if cursor is None:
                return found


def _revoke(asked: argparse.Namespace, catalog_url: str) -> None:
    with _writing(catalog_url) as tx:
        try:
            ended = keys.revoke(tx, asked.id, datetime.now(UTC))
        except RagstoneError as error:
            raise RagstoneError(
                error.code, f"There is no key {asked.id[:80]!r}; `list` shows what there is."
            ) from error
    if asked.json:
        _out(ended.model_dump(mode="json"))
    else:
        _say(f"Key {ended.id} ({ended.name}) is revoked; every gateway refuses it within a second.")


def _reset(asked: argparse.Namespace, catalog_url: str) -> None:
    if not asked.yes:
        detail = "This removes every key, and whoever is on the gateway's machine needs none again; add --yes to do so."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    with _writing(catalog_url) as tx:
        removed = keys.remove_all(tx)
    if asked.json:
        _out({"removed": removed})
    else:
        _say(f"Removed {removed} keys. Start the gateway again if it listens for other machines.")


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description="API keys: who may use the gateway, and for what.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, do: Callable[[argparse.Namespace, str], None], help: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help, description=help)
        added.add_argument("--json", action="store_true", help="Print one JSON value for programs, and nothing else.")
        added.set_defaults(do=do, parser=added)
        return added

    create = command("create", _create, "Make a key and print its secret, this once.")
    create.add_argument("name", metavar="NAME", help="What it is for, such as: website")
    create.add_argument("--role", type=Role, choices=list(Role), default=Role.READ, help="What it may do; read.")
    create.add_argument("--space", help="The one space of a read or write key; main.")
    create.add_argument(
        "--public", action="store_true", help="It may stand in web pages: it only asks. Needs --origin."
    )
    create.add_argument(
        "--origin", action="append", default=[], metavar="URL", help="A web address that may use it; may come again."
    )
    create.add_argument(
        "--per-minute", type=_number_from(1), metavar="N", help="Questions a minute; the setting's number."
    )
    create.add_argument(
        "--daily-tokens", type=_number_from(0), metavar="N", help="Tokens of the model a day; 0: no limit."
    )
    create.add_argument("--expires", type=_span, metavar="SPAN", help="When it ends, as 12h, 90d or 4w; never.")
    command("list", _list, "List all keys, newest first, without their secrets.")
    revoke = command("revoke", _revoke, "End a key; it opens nothing within a second.")
    revoke.add_argument("id", metavar="ID", help="As `list` shows it.")
    reset = command("reset", _reset, "Remove every key, as if none had been made.")
    reset.add_argument("--yes", action="store_true", help="Do it.")
    return parser


def _span(text: str) -> timedelta:
    found = _SPAN.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no span of time; write 12h, 90d or 4w")
    return int(found[1]) * _UNIT[found[2]]


def _number_from(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least}")
        return int(text)

    return number


def _described(key: Key) -> str:
    words = [key.name, key.role, *([] if key.space is None else [f"space {key.space}"])]
    words += [f"public from {', '.join(key.allowed_origins)}"] if key.public else []
    words += [] if key.expires_at is None else [f"until {key.expires_at:%Y-%m-%d %H:%M} UTC"]
    return ", ".join(words)


def _state(key: Key) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= datetime.now(UTC) else "open"


def _there(catalog_url: str) -> bool:
    """Is there a catalog, or may there be one that is not on this disk? Looking alone should make none."""
    url = make_url(catalog_url)
    return url.get_backend_name() != "sqlite" or Path(str(url.database)).exists()


def _where(catalog_url: str) -> str:
    url = make_url(catalog_url)
    return str(url.database) if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)


@contextmanager
def _writing(catalog_url: str) -> Iterator[Connection]:
    catalog = Catalog(catalog_url)
    try:
        catalog.migrate()
        with catalog.write() as tx:
            yield tx
    finally:
        catalog.close()


def _out(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
