"""When something goes wrong, the page says what, and what to do."""

from playwright.sync_api import Route, expect

from tests.browser import answers
from tests.browser.visitor import ANSWERED, Visitor, whole

pytestmark = whole

TOO_MANY = (
    '{"type": "urn:ragstone:problem:rate_limited", "title": "Rate limited", "status": 429, "code": "rate_limited", '
    '"detail": "Five questions a minute; ask again in 2 s.", "request_id": "r"}'
)


def asked(visitor: Visitor) -> None:
    """Send the question without waiting for an answer."""
    visitor.page.get_by_label("Your question").fill(ANSWERED)
    visitor.page.keyboard.press("Enter")


def test_too_many_questions_count_down_to_the_next_try(visitor: Visitor) -> None:
    visitor.foreseen.add("/v1/ask")
    headers = {"Retry-After": "2", "Content-Type": "application/problem+json"}
    visitor.page.route("**/v1/ask", lambda route: route.fulfill(status=429, headers=headers, body=TOO_MANY), times=1)
    page = visitor.open()
    asked(visitor)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("many questions in a short time")
    expect(alert).to_contain_text("Five questions a minute")
    waiting = page.get_by_role("button", name="Ask again in")
    expect(waiting).to_have_attribute("aria-disabled", "true")
    again = page.get_by_role("button", name="Ask again", exact=True)
    expect(again).to_have_attribute("aria-disabled", "false")
    again.click()
    visitor.answered()


def test_a_connection_lost_in_the_middle_keeps_what_was_checked(visitor: Visitor) -> None:
    visitor.is_told(answers.stage("write"), answers.sentence("Verbatim [1]."))
    page = visitor.open()
    asked(visitor)
    expect(page.get_by_role("alert")).to_contain_text("The connection was lost")
    expect(page.locator("#answers .said")).to_have_text("Verbatim 1.")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    page.unroute("**/v1/ask")
    page.get_by_role("button", name="Ask again").click()
    visitor.answered()


def test_a_server_that_is_away_is_called_away(visitor: Visitor) -> None:
    visitor.foreseen.add("/v1/ask")
    visitor.page.route("**/v1/ask", lambda route: route.abort("connectionrefused"))
    page = visitor.open()
    asked(visitor)
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")


def test_an_error_in_the_middle_is_told_in_the_servers_words(visitor: Visitor) -> None:
    problem = {"code": "retriever_unavailable", "detail": "The retriever does not answer; try again.", "status": 503}
    visitor.is_told(answers.stage("retrieve"), ("error", problem))
    page = visitor.open()
    asked(visitor)
    expect(page.get_by_role("alert")).to_contain_text("The retriever does not answer")


def test_a_question_can_be_stopped(visitor: Visitor) -> None:
    held: list[Route] = []
    visitor.page.route("**/v1/ask", lambda route: held.append(route))
    page = visitor.open()
    asked(visitor)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("alert")).to_contain_text("Stopped")
    expect(page.get_by_label("Your question")).to_be_focused()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()


def test_a_source_that_is_gone_leaves_the_quote(visitor: Visitor) -> None:
    visitor.foreseen.add("/v1/documents/skills%2Fpostgresql.md/source")
    gone = answers.CITATION.model_copy(update={"url": answers.CITATION.url.replace("as=text", "version=gone&as=text")})
    visitor.is_told(answers.whole(answers.answer("Verbatim [1].", citations=[gone])))
    page = visitor.open()
    visitor.ask(ANSWERED)
    page.locator(".chip").click()
    panel = page.get_by_role("dialog")
    expect(panel.locator("mark")).to_have_text("Verbatim")
    expect(panel).to_contain_text("could not be opened")
    expect(panel).to_contain_text("page 3")
