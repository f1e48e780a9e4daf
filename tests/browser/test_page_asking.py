"""Asking on the page, and what can be done with an answer."""

import re

import httpx
from playwright.sync_api import expect

from tests.browser import answers
from tests.browser.visitor import ABSTAINED, ANSWERED, DECLINED, Visitor, whole
from tests.e2e.stack import Stack

pytestmark = whole

WATCH = """
window.seen = { stages: [], lengths: [] };
new MutationObserver(() => {
  const stage = document.getElementById("stage").textContent;
  const length = document.querySelector("#answers .said")?.textContent.length ?? 0;
  if (stage && seen.stages.at(-1) !== stage) seen.stages.push(stage);
  if (length && seen.lengths.at(-1) !== length) seen.lengths.push(length);
}).observe(document.body, { subtree: true, childList: true, characterData: true });
"""


def test_stages_are_told_and_sentences_come_one_after_the_other(visitor: Visitor) -> None:
    page = visitor.open()
    page.evaluate(WATCH)
    visitor.ask("Tell me what she knows about PostgreSQL.")
    seen = page.evaluate("window.seen")
    assert "Looking through the documents…" in seen["stages"]
    assert "Writing from what was found…" in seen["stages"]
    assert len(seen["lengths"]) > 1
    assert seen["lengths"] == sorted(seen["lengths"])
    expect(page.locator("#progress")).to_be_hidden()


def test_what_is_not_in_the_documents_looks_different_and_its_topics_can_be_asked(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.ask(ABSTAINED)
    article = page.get_by_role("article")
    expect(article).to_have_attribute("data-status", "abstained")
    expect(article.locator(".label")).to_have_text("Not in the documents")
    assert "dashed" in article.evaluate("it => getComputedStyle(it).borderStyle")
    expect(article.locator(".sources")).to_have_count(0)
    topic = article.locator(".topics button").first
    name = topic.inner_text()
    assert name not in article.locator(".said").inner_text()
    topic.click()
    visitor.answered()
    expect(page.get_by_role("heading", level=2, name=name)).to_be_visible()


def test_what_is_declined_says_so(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.ask(DECLINED)
    expect(page.get_by_role("article").locator(".label")).to_have_text("Not answered here")


def test_a_judgement_and_its_comment_arrive(visitor: Visitor, stack: Stack) -> None:
    page = visitor.open()
    visitor.ask("By how much did p99 latency improve with Ledgerline?")
    page.get_by_role("button", name="Not helpful").click()
    expect(page.locator(".told")).to_contain_text("Thank you")
    expect(page.get_by_role("button", name="Not helpful")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("What would have been right?").fill("The number of the year before.")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".told")).to_have_text("Thank you for the comment.")
    kept = httpx.get(f"{stack.base_url}/v1/feedback", trust_env=False).json()["items"][0]
    assert (kept["verdict"], kept["comment"]) == ("bad", "The number of the year before.")


def test_a_judgement_that_does_not_arrive_says_why(visitor: Visitor) -> None:
    visitor.foreseen.add("/v1/feedback")
    visitor.is_told(answers.whole(answers.answer("Verbatim [1].", id="nobody-knows-it")))
    page = visitor.open()
    visitor.ask(ANSWERED)
    page.get_by_role("button", name="Helpful", exact=True).click()
    expect(page.locator(".told.bad")).to_contain_text("did not arrive")
    expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_attribute("aria-pressed", "false")


def test_an_answer_is_copied_with_its_sources_and_a_link_asks_only_when_told_to(visitor: Visitor) -> None:
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open()
    visitor.ask(ANSWERED)
    page.get_by_role("button", name="Copy the answer").click()
    expect(page.get_by_text("Copied", exact=True).first).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"{ANSWERED}\n\n")
    assert re.search(rf"Sources:\n\[1\] .+\n    “.+”\n    {visitor.base_url}/v1/documents/\S+#\d+-\d+\n", copied)
    page.get_by_role("button", name="Copy a link").click()
    expect(page.get_by_text("Link copied").first).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/v1/ask") else None)
    page.goto(link)
    expect(page.get_by_label("Your question")).to_have_value(ANSWERED)
    expect(page.get_by_text("came with the link")).to_be_visible()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_focused()
    page.wait_for_load_state("networkidle")
    assert asked == []
    page.keyboard.press("Enter")
    visitor.answered()
    assert "?q=" not in page.url


def test_the_same_question_again_says_that_it_was_given_before(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.ask("How does she handle ambiguity?")
    page.reload()
    visitor.ask("How does she handle ambiguity?")
    expect(page.locator("#answers .meta")).to_contain_text("given before")


def test_why_tells_how_the_answer_came_about(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.ask("Which languages does she speak?")
    why = page.get_by_role("button", name="Why this answer?")
    why.click()
    expect(why).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("table", name="What was found")).to_be_visible()
    expect(page.get_by_role("table", name="How long it took").get_by_role("row").nth(1)).to_be_visible()
    page.get_by_role("button", name="Show every step").click()
    expect(page.get_by_role("table", name="Found by meaning")).to_be_visible()
    expect(page.get_by_role("table", name="Found by words")).to_be_visible()
    expect(page.locator(".why")).to_contain_text("cosine distance")
    expect(page.locator(".why")).to_contain_text("left out")
    why.click()
    expect(page.locator(".why")).to_be_hidden()


def test_a_follow_up_says_what_it_was_taken_for_and_a_new_start_forgets(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.ask(ANSWERED)
    expect(page.get_by_text("may build on the last answers")).to_be_visible()
    visitor.ask("And Kafka?")
    expect(page.locator(".understood")).to_contain_text("Kafka")
    page.get_by_role("button", name="Ask it on its own").click()
    expect(page.locator(".understood")).to_have_count(0)
    visitor.answered()
    page.get_by_role("button", name="Start afresh").click()
    expect(page.get_by_role("article")).to_have_count(0)
    with page.expect_request("**/v1/ask") as asked:
        visitor.ask("And Kafka?")
    assert (asked.value.post_data_json or {})["history"] == []


def test_a_conversation_is_sent_as_it_was_typed(visitor: Visitor) -> None:
    """And not as the gateway understood it, which may hold words of its answers."""
    page = visitor.open()
    visitor.ask(ANSWERED)
    visitor.ask("And Kafka?")
    with page.expect_request("**/v1/ask") as asked:
        visitor.ask("And who else uses it?")
    history = (asked.value.post_data_json or {})["history"]
    assert [turn["question"] for turn in history] == [ANSWERED, "And Kafka?"]
