"""The owner's views, each doing what it is there for, in front of a stack that holds little."""

import base64
import json
import re
from datetime import datetime

import httpx
import pytest
from playwright.sync_api import Route, expect

from services.local.api import Api
from services.shared.contracts.documents import DocumentIn
from services.shared.contracts.jobs import Job, JobState
from tests.browser.owner.owning import SENT, TOWNS, Owner, file, problem, resting
from tests.browser.visitor import whole
from tests.e2e.stack import Stack, until

pytestmark = whole

SLOW_MS = 60_000


def test_files_that_are_not_taken_are_named_with_why(owner: Owner) -> None:
    owner.visitor.foreseen.add(SENT)
    owner.see("documents")
    owner.send(file("empty.md", ""), file("long.md", "word " * 6000), file("good.md", "# Good\n\nGood bread."))
    expect(owner.sent("empty.md")).to_contain_text("The file is empty")
    expect(owner.sent("long.md")).to_contain_text("has 30000 bytes and may have 20000")
    expect(owner.sent("good.md")).to_contain_text("Done")
    expect(owner.page.get_by_text("1 of 3 files taken in, 2 not taken.")).to_be_visible()
    owner.page.get_by_role("button", name="Clear what is done").click()
    expect(owner.page.get_by_role("region", name="Files that were sent")).to_be_hidden()


def test_what_is_dropped_arrives_with_its_type(owner: Owner) -> None:
    owner.see("documents")
    owner.page.get_by_text("Say what they are").click()
    owner.page.get_by_label("Type of these files").fill("almanac")
    content = base64.b64encode(b"# Tides\n\nHigh water at noon.").decode()
    transfer = owner.page.evaluate_handle(
        """content => { const transfer = new DataTransfer();
        transfer.items.add(new File([atob(content)], "tides.md")); return transfer; }""",
        content,
    )
    owner.page.locator(".drop").dispatch_event("drop", {"dataTransfer": transfer})
    expect(owner.sent("tides.md")).to_contain_text("Done")
    expect(owner.page.locator("#documents .row").filter(has_text="Tides")).to_contain_text("almanac")


def test_a_folder_keeps_its_paths_and_hidden_files_stay_out(
    owner: Owner, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("x") / "year"
    (folder / "spring").mkdir(parents=True)
    for name in ("plan.md", "spring/plan.md", ".DS_Store"):
        (folder / name).write_text(f"# Plan {name}\n\nSow {name}.", encoding="utf-8")
    owner.see("documents")
    owner.page.get_by_label("Choose a folder").set_input_files(folder)
    expect(owner.sent("year/plan.md")).to_contain_text("Done")
    expect(owner.sent("year/spring/plan.md")).to_contain_text("Done")
    expect(owner.page.locator(".drop")).to_contain_text("1 hidden file left out")


def test_files_arrive_also_where_no_events_come(owner: Owner) -> None:
    owner.page.route("**/events", lambda route: route.fulfill(status=200, content_type="text/event-stream", body=""))
    owner.see("documents")
    owner.send(*(file(f"note-{n}.md", f"# Note {n}\n\nNote number {n}.") for n in range(4)))
    for n in range(4):
        expect(owner.sent(f"note-{n}.md")).to_contain_text("Done")


def test_what_was_understood_opens_beside_the_list_and_the_original_comes_back(owner: Owner) -> None:
    owner.see("documents")
    row = owner.row("Corvane")
    read = row.get_by_role("button", name="What was understood")
    read.click()
    expect(owner.page.get_by_role("dialog", name="Corvane")).to_contain_text("The mill of Corvane was built in 1702")
    owner.page.keyboard.press("Escape")
    expect(read).to_be_focused()
    with owner.page.expect_download() as downloading:
        row.get_by_role("button", name="Original").click()
    assert "mill of Corvane" in downloading.value.path().read_text(encoding="utf-8")


def test_failed_work_says_why_and_is_tried_again(owner: Owner, small: Stack) -> None:
    owner.see("documents")
    owner.send(file("torn.pdf", "%PDF-1.4 nothing"))
    expect(owner.sent("torn.pdf")).to_contain_text("Failed")
    owner.go("Work")
    owner.page.get_by_role("button", name=re.compile(r"^Failed \d")).click()
    expect(owner.row("torn.pdf")).to_contain_text("it is a damaged PDF")

    def torn(api: Api) -> Job:
        return next(job for job in api.jobs().items if job.document_id == "torn.pdf")

    def ended() -> datetime:
        with small.api() as api:
            until(lambda: torn(api).state is JobState.FAILED)
            return torn(api).updated_at

    first = ended()
    owner.row("torn.pdf").get_by_role("button", name="Retry").click()
    expect(owner.said()).to_contain_text("It is queued again.")
    until(lambda: ended() > first)
    second = ended()
    owner.page.get_by_role("button", name="Retry all failed").click()
    owner.confirm("Retry them")
    expect(owner.said()).to_contain_text("2 jobs queued again")
    until(lambda: ended() > second)
    expect(owner.row("torn.pdf")).to_be_visible()


def test_waiting_work_is_cancelled_and_a_refresh_leaves_the_focus(owner: Owner, small: Stack) -> None:
    with resting(small), small.api() as api:
        api.submit_text(DocumentIn(id="late.md", text="# Late\n\nNobody reads this."))
        owner.see("work")
        cancel = owner.row("late.md").get_by_role("button", name="Cancel")
        cancel.focus()
        node = cancel.element_handle()
        api.submit_text(DocumentIn(id="later.md", text="# Later\n\nNor this."))
        expect(owner.row("later.md")).to_be_visible()
        assert node is not None
        assert node.evaluate("it => it.isConnected && it === document.activeElement")
        owner.page.keyboard.press("Enter")
        expect(owner.row("late.md")).to_contain_text("Cancelled")
        assert owner.page.evaluate("document.activeElement !== document.body")


def test_the_documents_of_a_batch_tell_each_its_outcome(owner: Owner, small: Stack) -> None:
    lines = [{"id": "batch/one.md", "text": "# One\n\nOne."}, {"id": "batch/two.md", "text": ""}]
    with small.api() as api:
        api.submit_batch("\n".join(json.dumps(line) for line in lines).encode())
    owner.see("work")
    owner.row("Many documents").first.get_by_role("button", name="Its documents").click()
    expect(owner.dialog).to_contain_text("batch/one.md")
    expect(owner.dialog).to_contain_text("batch/two.md")


def test_another_index_is_built_compared_promoted_taken_back_and_removed(owner: Owner) -> None:
    owner.see("indexes")
    owner.page.get_by_role("button", name="Build another index").click()
    owner.dialog.get_by_label("Words in front of each chunk").fill("passage: ")
    owner.confirm("Build it")
    ready = owner.page.locator("#indexes .row").filter(has_text="passage:")
    expect(ready).to_contain_text("Ready to serve", timeout=SLOW_MS)
    expect(ready.get_by_role("columnheader", name="95 % interval")).to_be_visible()
    expect(ready.locator(".verdict")).to_contain_text(re.compile("^(Better|Worse|The same|No difference)"))

    refused = problem(
        "index_worse", "Index x is not promoted: it finds less. Send force: true to promote it all the same.", 409
    )
    forced: list[bool] = []

    def promote(route: Route) -> None:
        forced.append(bool((route.request.post_data_json or {})["force"]))
        if forced[-1]:
            route.continue_()
        else:
            owner.visitor.foreseen.add(re.sub(r"^https?://[^/]+", "", route.request.url))
            route.fulfill(**refused)

    owner.page.route("**/promote", promote)
    ready.get_by_role("button", name="Promote").click()
    owner.confirm("Promote")
    expect(owner.dialog).to_contain_text("it finds less")
    expect(owner.dialog).not_to_contain_text("force")
    owner.confirm("Promote all the same…")
    expect(owner.dialog).to_contain_text("expected to find less")
    owner.confirm("Promote it all the same")
    expect(ready).to_contain_text("Serving", timeout=SLOW_MS)
    assert forced == [False, True]

    owner.page.get_by_role("button", name="Roll back").click()
    owner.confirm("Roll back")
    expect(ready).to_contain_text("Standing by", timeout=SLOW_MS)
    ready.get_by_role("button", name="Remove").click()
    owner.confirm("Remove it")
    expect(ready).to_have_count(0, timeout=SLOW_MS)


def test_a_fact_answers_a_gap_and_its_question_is_asked(owner: Owner, small: Stack) -> None:
    question = "Who keeps the bees of Fennick?"
    small.ask(question)
    owner.see("gaps")
    owner.row("anthem").get_by_role("button", name="Dismiss").click()
    expect(owner.row("anthem")).to_have_count(0)
    states = owner.page.get_by_role("group", name="By state")
    states.get_by_role("button", name="Dismissed").click()
    owner.row("anthem").get_by_role("button", name="Open again").click()
    states.get_by_role("button", name="Open").click()
    expect(owner.row("anthem")).to_be_visible()

    owner.row(question).get_by_role("button", name="Add a fact").click()
    owner.confirm("Add it")
    expect(owner.dialog.get_by_role("alert")).to_contain_text("please fill this in")
    text = owner.dialog.get_by_label("What is true")
    text.fill("The bees of Fennick are kept by Orla Penhallow.")
    gone = "**/v1/gaps/*/fact"
    owner.page.route(gone, lambda route: route.abort())
    owner.page.on(
        "requestfailed", lambda request: owner.visitor.foreseen.add(re.sub(r"^https?://[^/]+", "", request.url))
    )
    owner.confirm("Add it")
    expect(owner.dialog.get_by_role("alert")).to_contain_text("Nothing is lost")
    owner.page.keyboard.press("Escape")
    owner.row(question).get_by_role("button", name="Add a fact").click()
    expect(text).to_have_value("The bees of Fennick are kept by Orla Penhallow.")
    owner.page.unroute(gone)
    owner.confirm("Add it")
    expect(owner.dialog).to_contain_text("Answered now")
    owner.confirm("Ask the question")
    owner.visitor.answered()
    expect(owner.page.locator("#answers")).to_contain_text("Orla Penhallow")
    owner.go("Gaps")
    states.get_by_role("button", name="Answered").click()
    expect(owner.row(question)).to_contain_text("A fact was added")


def test_golden_questions_are_approved_and_evaluated_with_a_report(owner: Owner, small: Stack) -> None:
    proposed = [
        {"question": {"id": town, "text": f"When was the mill of {town} built?"}, "state": "proposed"} for town in TOWNS
    ]
    httpx.put(f"{small.base_url}/v1/golden", json={"items": proposed}, trust_env=False).raise_for_status()
    page = owner.page
    owner.see("evaluations")
    golden = page.locator("#golden .row")
    rejected = golden.first.locator(".row-title").inner_text()
    golden.first.get_by_role("button", name="Reject").click()
    expect(golden.filter(has_text=rejected)).to_have_count(0)
    page.get_by_role("button", name="Approve all shown").click()
    expect(page.get_by_role("button", name=re.compile(r"^Approved [1-9]"))).to_be_visible()
    page.get_by_role("button", name="Start an evaluation").click()
    owner.dialog.get_by_label("Name").fill("before the change")
    owner.confirm("Start")
    report = owner.row("before the change").get_by_role("button", name="Open the report")
    report.click(timeout=SLOW_MS)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Key figures")).to_be_visible()
    expect(frame.locator("#filters")).to_be_visible()  # which its own script shows
    inner = page.frames[-1]
    assert inner.evaluate("origin") == "null"
    assert inner.evaluate("getComputedStyle(document.body).margin") != "8px"  # its own styles hold
    page.get_by_role("dialog", name="before the change").get_by_role("button", name="Close").click()
    expect(report).to_be_focused()
    expect(page.get_by_text("Not calibrated")).to_be_visible()


def test_questions_are_proposed_and_the_page_says_how_many(owner: Owner) -> None:
    owner.see("evaluations")
    owner.page.get_by_role("button", name="Propose questions").click()
    owner.confirm("Propose")
    expect(owner.said()).to_contain_text(re.compile("proposed|No further question"), timeout=SLOW_MS)
    owner.page.get_by_role("button", name="Calibrate").click()
    owner.confirm("Calibrate")
    told = re.compile("A calibration (waits|is under way)|The calibration (is done|failed)")
    expect(owner.page.get_by_role("status").filter(has_text=told)).to_be_visible()
