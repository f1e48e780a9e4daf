"""A run of small scripted parts instead of the real ones: python -m tests.contract.local.scripted_run FOLDER SCENE.

Prints what a user would see. Scenes are the keys of SCENES.
"""

import os
import sys
from pathlib import Path

from rich.console import Console

from services.local.guardian import Guardian
from services.local.health import Addresses
from services.local.logbook import LogFile
from services.local.ports import free_port
from services.local.processes import Health, Part, Probe
from services.local.running import Running
from services.local.state import RunFolder
from services.local.supervisor import Manners, Supervisor
from services.local.voice import Voice

SERVER = """
import http.server, sys, time
name, port = sys.argv[1], int(sys.argv[2])
{before}
print("2026-01-01T00:00:00Z [info     ] begun", flush=True)
print("2026-01-01T00:00:00Z [warning  ] mind this", flush=True)
http.server.HTTPServer(("127.0.0.1", port), http.server.SimpleHTTPRequestHandler).serve_forever()
"""
CHILD = "import subprocess; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
FAILING = "print('no model here', flush=True); sys.exit(3)"
NEVER_READY = "time.sleep(600)"


def scripted(name: str, before: str = "", waits_for: tuple[str, ...] = ()) -> Part:
    """A part that serves HTTP after some lines of its own."""
    command = ("{python}", "-c", SERVER.replace("{before}", before), name)
    return Part(name=name, command=command, health=Health(Probe.HTTP, "/"), waits_for=waits_for)


SCENES: dict[str, list[Part]] = {
    "plain": [
        scripted("redis"),
        scripted("worker", CHILD, waits_for=("redis",)),
        scripted("retriever"),
        scripted("gateway", waits_for=("redis", "worker")),
    ],
    "stubborn": [scripted("redis"), scripted("gateway", f"{STUBBORN}\n{CHILD}")],
    "failing": [scripted("redis"), scripted("retriever", FAILING), scripted("gateway", waits_for=("retriever",))],
    "never-ready": [scripted("redis"), scripted("retriever", NEVER_READY)],
    "missing": [Part(name="chroma", command=("/nowhere/chroma",), health=Health(Probe.HTTP, "/"))],
}


def main() -> int:
    """Run one scene."""
    folder, scene = RunFolder(Path(sys.argv[1])), SCENES[sys.argv[2]]
    if not folder.take():
        return 9
    voice = Voice(Console(width=200), [part.name for part in scene])
    guardian = Guardian()
    running = []
    for part in scene:
        port = free_port()
        command = [sys.executable if word == "{python}" else word for word in part.command]
        running.append(
            Running(
                part,
                port=port,
                command=[*command, str(port)],
                environment=dict(os.environ),
                addresses=Addresses(url=f"http://127.0.0.1:{port}", redis_url=""),
                log=LogFile(folder.logs / f"{part.name}.log"),
                hear=voice.hear,
                guardian=guardian,
            )
        )
    manners = Manners(
        start_timeout_s=3.0 if sys.argv[2] == "never-ready" else 20.0,
        max_deaths=2,
        back_off_s=(Manners.back_off_s[0], 0.2),
        stop_wave_s=0.7,
        stop_stores_s=0.7,
    )
    try:
        return Supervisor(running, folder=folder, url="http://here", voice=voice, manners=manners).run()
    finally:
        guardian.dismiss()
        folder.release()


if __name__ == "__main__":
    sys.exit(main())
