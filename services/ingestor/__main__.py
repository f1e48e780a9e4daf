"""``python -m services.ingestor worker``, ``reconciler``, ``examine`` or ``repair``."""

import json
import os
import signal
import sys
import threading

from services.ingestor.adapters.rounds import go_round
from services.ingestor.settings import IngestorSettings
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.deafness import begin_anew_when_deaf
from services.shared.kit.logs import configure_logs, get_logger
from services.shared.kit.owner import this_process
from services.shared.kit.presence import announce
from services.shared.kit.settings import TraceSettings, started
from services.shared.kit.tracing import configure_tracing

log = get_logger(__name__)


def worker(settings: IngestorSettings) -> None:
    """A Celery worker with prefork children. SIGTERM lets the running tasks end first."""
    from services.ingestor.tasks import refuse_model_before_fork, worker_app
    from services.ingestor.wiring import migrate

    _fix_threads(settings.embedder.torch_threads)
    migrate(settings)
    app = worker_app(settings)
    refuse_model_before_fork(sys.modules)
    stop = threading.Event()
    announce("worker", this_process(), settings.redis, stop)
    begin_anew_when_deaf(settings.jobs.queues, settings.redis, stop)
    try:
        app.Worker(
            pool="prefork",
            queues=",".join(queue.value for queue in settings.jobs.queues),
            hostname=f"ragstone-{os.getpid()}@%h",
            loglevel=settings.logs.log_level.upper(),
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            # Its banner is no line of a log.
            quiet=True,
        ).start()
    finally:
        stop.set()


def reconciler(settings: IngestorSettings) -> None:
    """Looks after lost jobs and left-overs until SIGTERM or SIGINT."""
    from services.ingestor.wiring import migrate, reconciler_steps

    migrate(settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    announce("reconciler", this_process(), settings.redis, stop)
    log.info("reconciler_started")
    go_round(reconciler_steps(settings), stop, tick_s=min(1.0, settings.reconciler.reconcile_every_s))


def examine(settings: IngestorSettings) -> None:
    """Print what differs between the stores and the catalog, one JSON object a line."""
    _examine(settings, repair=False)


def repair(settings: IngestorSettings) -> None:
    """The same, and put it right as far as it can be."""
    _examine(settings, repair=True)


def _examine(settings: IngestorSettings, *, repair: bool) -> None:
    from services.ingestor.wiring import examination, migrate

    migrate(settings)
    try:
        for difference in examination(settings, repair=repair).differences():
            sys.stdout.write(json.dumps(difference.record(), ensure_ascii=False) + "\n")
            sys.stdout.flush()
    except RagstoneError as error:
        sys.exit(error.detail)


def _fix_threads(number: int) -> None:
    """Maths libraries read these when they load, which is later, in a child."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(number)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


ROLES = {"worker": worker, "reconciler": reconciler, "examine": examine, "repair": repair}


def main() -> None:
    """Run the role named on the command line."""
    if len(sys.argv) != 2 or sys.argv[1] not in ROLES:
        sys.exit(f"usage: python -m services.ingestor {' | '.join(ROLES)}")
    settings = IngestorSettings()
    configure_logs(f"ingestor-{sys.argv[1]}", settings.logs)
    configure_tracing(f"ingestor-{sys.argv[1]}", TraceSettings())
    ROLES[sys.argv[1]](settings)


started(main)
