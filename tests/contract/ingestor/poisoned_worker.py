"""The product's worker, whose reader of files is the poisoned one: ``python -m … worker``."""

import runpy
import sys
from functools import partial

from services.ingestor import wiring
from services.ingestor.adapters.parsing.sandbox import SandboxedParsers

POISONED = (sys.executable, "-m", "tests.contract.ingestor.poisoned_reader")

if __name__ == "__main__":
    setattr(wiring, "SandboxedParsers", partial(SandboxedParsers, reader=POISONED))  # noqa: B010
    runpy.run_module("services.ingestor", run_name="__main__", alter_sys=True)
