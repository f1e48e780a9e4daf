"""Spans of one process, as a collector gets them."""

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.jobs import Doorbell
from services.shared.kit import tracing
from services.shared.kit.settings import TraceSettings
from tests.contract.kit.collector import Collector, collecting

ROOT = Path(__file__).parents[3]
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Of this process's spans; afterwards they go nowhere again."""
    with collecting() as one:
        tracing._here.__init__()  # type: ignore[misc]
        tracing.configure_tracing("test", TraceSettings(otlp_url=one.url))
        yield one
        tracing.configure_tracing("test", TraceSettings(otlp_url=None))


def test_what_runs_inside_is_part_of_it_and_of_the_trace_from_outside(collector: Collector) -> None:
    with tracing.span("outer", kind="server", parent=PARENT) as outer:
        with tracing.span("inner", size=3):
            assert tracing.traceparent() != outer.traceparent
        with tracing.span_apart("call", kind="client") as call:
            assert tracing.traceparent() == outer.traceparent
            assert call.traceparent is not None
    assert tracing.traceparent() is None
    collector.until(lambda spans: len(spans) == 3)
    by_name = {one.name: one for one in collector.spans}
    assert {one.trace_id for one in collector.spans} == {"0af7651916cd43dd8448eb211c80319c"}
    assert by_name["outer"].parent_id == "b7ad6b7169203331"
    assert by_name["inner"].parent_id == by_name["call"].parent_id == by_name["outer"].span_id
    assert by_name["inner"].values == {"ragstone.size": "int_value: 3"}


def test_an_error_leaves_its_code_or_type_and_none_of_its_words(collector: Collector) -> None:
    with pytest.raises(RagstoneError), tracing.span("ours"):
        raise RagstoneError(ErrorCode.BUSY, "canary words")
    with pytest.raises(ValueError, match="canary"), tracing.span("other"):
        raise ValueError("canary words")
    collector.until(lambda spans: len(spans) == 2)
    assert all(one.failed for one in collector.spans)
    sent = b"".join(collector.raw)
    assert b"busy" in sent
    assert b"ValueError" in sent
    assert b"canary" not in sent


def test_a_trace_from_outside_that_is_none_is_not_believed(collector: Collector) -> None:
    with tracing.span("alone", parent="00-zz-canary-01"):
        pass
    collector.until(lambda spans: len(spans) == 1)
    assert collector.spans[0].parent_id == ""


def test_a_function_may_be_a_span(collector: Collector) -> None:
    @tracing.traced("adding")
    def add(one: int, other: int) -> int:
        return one + other

    assert add(1, other=2) == 3
    collector.until(lambda spans: [one.name for one in spans] == ["adding"])


def test_off_it_does_nothing_and_loads_nothing() -> None:
    script = """
        import sys
        from services.shared.kit import tracing
        from services.shared.kit.settings import TraceSettings
        tracing.configure_tracing("test", TraceSettings(otlp_url=None))
        with tracing.span("a", x=1) as a, tracing.span_apart("b"):
            a.note(y=2)
            a.failed("why")
            assert a.traceparent is None and tracing.traceparent() is None
        assert not [name for name in sys.modules if name.startswith("opentelemetry")]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, check=True, timeout=60)


def test_without_the_extra_a_line_says_so_and_nothing_is_traced() -> None:
    script = """
        import sys
        class Hidden:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] == "opentelemetry":
                    raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, Hidden())
        from services.shared.kit.logs import configure_logs
        from services.shared.kit.settings import LogSettings, TraceSettings
        from services.shared.kit import tracing
        configure_logs("test", LogSettings())
        tracing.configure_tracing("test", TraceSettings(otlp_url="http://127.0.0.1:1"))
        with tracing.span("a") as a:
            assert a.traceparent is None
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT,
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    assert "tracing_off" in ran.stderr
    assert "pip install 'ragstone[tracing]'" in ran.stderr


def test_a_collector_that_is_away_holds_up_neither_the_work_nor_the_end() -> None:
    script = """
        import time
        from services.shared.kit import tracing
        from services.shared.kit.settings import TraceSettings
        tracing.configure_tracing("test", TraceSettings(otlp_url="http://127.0.0.1:1"))
        with tracing.span("first"):
            pass
        began = time.perf_counter()
        for _ in range(1000):
            with tracing.span("a"):
                pass
        assert time.perf_counter() - began < 2
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, check=True, timeout=12)


def test_older_bells_carry_no_trace_and_older_readers_pass_over_one() -> None:
    assert Doorbell.model_validate({"job_id": "j", "request_id": "r"}).traceparent is None
    rung = Doorbell(job_id="j", request_id="r", traceparent=PARENT).model_dump()
    assert rung.items() >= {"job_id": "j", "request_id": "r", "traceparent": PARENT}.items()
