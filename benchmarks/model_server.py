"""A language model file behind llama.cpp's own server: python -m benchmarks.model_server FILE.gguf --port N.

It speaks OpenAI's chat API on 127.0.0.1, and with ``RAGSTONE_WRITER=openai RAGSTONE_OPENAI_URL=http://127.0.0.1:N``
the generator writes with it. One thread unless told otherwise: threads that have to share a core with anything
else wait for each other, and the model all but stops.
"""

import argparse
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

INSTALL = "pip install 'xllamacpp>=2026.10'"


def serve(file: Path, *, port: int, threads: int, ctx: int, parallel: int, alias: str) -> Any:
    """A running server, which ends with the object. ``listening_address`` is where; ``ctx`` tokens a question.

    Raises ImportError where xllamacpp is missing, RuntimeError where the file cannot be loaded or the port is taken.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {alias}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_ctx = ctx * parallel
    params.n_parallel = parallel
    params.n_threads_http = 4
    # That a reader left is heeded between two batches: with the usual 2048 tokens a small machine reads an abandoned
    # prompt to its end, half a minute for nobody. On one core small batches are as quick.
    params.n_batch = params.n_ubatch = 128
    # Prompts share no more than their rules, so that room for old ones is memory for nothing.
    params.cache_ram_mib = 0
    params.offline, params.ui = True, False
    params.verbosity = 1
    return xllamacpp.Server(params)


def main() -> None:
    """Serve until Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE.gguf")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ctx", type=int, default=4096, help="window of one question, tokens; default 4096")
    parser.add_argument("--parallel", type=int, default=1, help="questions at once")
    parser.add_argument("--alias", help="name of the model; default: the file's")
    options = parser.parse_args()
    if not options.file.is_file():
        sys.exit(f"{options.file} is no file; `make models` fetches small ones.")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        server = serve(
            options.file,
            port=options.port,
            threads=options.threads,
            ctx=options.ctx,
            parallel=options.parallel,
            alias=options.alias or options.file.stem,
        )
    except ImportError:
        sys.exit(f"The server needs xllamacpp: {INSTALL}")
    except RuntimeError as error:
        sys.exit(f"{options.file} could not be served on port {options.port}: {error}")
    print(f"{options.alias or options.file.stem} at {server.listening_address}", flush=True)
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, _stop)
    threading.Event().wait()


def _stop(_signal: int, _frame: FrameType | None) -> None:
    """Ends at once: the server's own end waits for answers that are being written, and nothing can be lost."""
    os._exit(0)


if __name__ == "__main__":
    main()
