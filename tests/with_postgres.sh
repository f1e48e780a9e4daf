#!/usr/bin/env bash
# Runs a command beside a throw-away PostgreSQL: tests/with_postgres.sh pytest tests/contract/catalog
# The server lives in a temporary folder on a free port, is named by DATABASE_URL, and leaves nothing behind.
# PG_BIN names the folder of initdb and pg_ctl when they are not found by themselves.
set -euo pipefail

if [ $# -eq 0 ]; then
    echo "usage: $0 COMMAND [ARGUMENT…]" >&2
    exit 2
fi

bin=${PG_BIN:-}
if [ -z "$bin" ] && command -v initdb >/dev/null; then
    bin=$(dirname "$(command -v initdb)")
fi
if [ -z "$bin" ]; then
    bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
fi
if [ ! -x "$bin/initdb" ]; then
    echo "PostgreSQL is not installed here (no initdb); install it or set PG_BIN to its bin folder" >&2
    exit 3
fi

# PostgreSQL refuses to run as root.
as_owner() {
    if [ "$(id -u)" -eq 0 ]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}

folder=$(mktemp -d "${TMPDIR:-/tmp}/ragstone-postgres.XXXXXX")
if [ "$(id -u)" -eq 0 ]; then
    chown postgres "$folder"
fi
cleanup() {
    (cd "$folder" && as_owner "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1) || true
    rm -rf "$folder"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start() {
    cd "$folder"
    as_owner "$bin/initdb" -D "$folder/data" -U ragstone -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
    as_owner "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 \
        -o "-p $port -k $folder -h 127.0.0.1 -c fsync=off -c max_connections=500" start >/dev/null
}
if ! (start); then
    echo "the throw-away PostgreSQL did not start:" >&2
    cat "$folder/log" >&2 || true
    exit 3
fi

export DATABASE_URL="postgresql://ragstone@127.0.0.1:$port/postgres"
"$@"
