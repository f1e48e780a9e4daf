"""A chat becomes a question with its history; an answer becomes a chat message."""

import pytest

from services.gateway.domain.chat import TURNS_MAX, WITHDRAWN, Telling, asked_of, completion, footnotes
from services.shared.contracts.answers import Answer, AnswerReason, AnswerStatus, Citation, Usage, WriterModel
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId
from services.shared.contracts.openai_chat import ChatRequest
from services.shared.contracts.search import IndexState


def chat(*messages: tuple[str, object], **parameters: object) -> ChatRequest:
    said = [{"role": role, "content": content} for role, content in messages]
    return ChatRequest.model_validate({"messages": said, **parameters})


def citation(
    n: int = 1,
    *,
    title: str = "Shed rules",
    source: str | None = None,
    place: str | None = None,
    section: str = "Hours",
) -> Citation:
    return Citation(
        n=n,
        document_id=DocumentId("shed.md"),
        version=VersionId("v1"),
        title=title,
        source=source,
        section=section,
        place=place,
        type=None,
        chunk_id=ChunkId("v1-0"),
        start=0,
        end=3,
        quote="The",
        url="/v1/documents/shed.md/source?version=v1#0-3",
    )


def answer(text: str, *citations: Citation, status: AnswerStatus = AnswerStatus.ANSWERED) -> Answer:
    return Answer(
        id="a1",
        status=status,
        text=text,
        reason=None if citations else AnswerReason.NOTHING_RELEVANT,
        confidence=0.8,
        citations=list(citations),
        claims=[],
        sub_questions=[],
        passages_used=[],
        degraded=[],
        model=WriterModel(writer="extractive", name=None),
        index=IndexState(id=None, embedder=None, seq=0),
        timings_ms={},
        trace_id="t",
        trace=None,
    )


def refused(asked: ChatRequest) -> str:
    with pytest.raises(RagstoneError) as error:
        asked_of(asked, 1000)
    assert error.value.code is ErrorCode.INVALID_REQUEST
    return error.value.detail


def test_the_last_user_message_is_the_question_and_pairs_before_it_the_history() -> None:
    asked = asked_of(
        chat(
            ("system", "You are a pirate."),
            ("user", "One?"),
            ("assistant", "First."),
            ("tool", "42"),
            ("assistant", "Second."),
            ("user", "Two?"),
            ("user", "Three?"),
            ("assistant", "Begun"),
        ),
        1000,
    )
    assert asked.question == "Three?"
    assert [(turn.question, turn.answer) for turn in asked.history or ()] == [
        ("One?", "First.\n\nSecond."),
        ("Two?", ""),
    ]


def test_one_message_has_no_history() -> None:
    assert asked_of(chat(("assistant", "Hello!"), ("user", "One?")), 1000).history is None


def test_text_parts_are_joined_and_other_parts_refused_in_the_question_only() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    parts = [{"type": "text", "text": "When does"}, {"type": "text", "text": "it open?"}]
    earlier = [{"type": "text", "text": "What is this?"}, picture]
    asked = asked_of(chat(("user", earlier), ("assistant", "A shed."), ("user", parts)), 1000)
    assert asked.question == "When does\nit open?"
    assert [turn.question for turn in asked.history or ()] == ["What is this?"]
    assert "image_url" in refused(chat(("user", [*parts, picture])))


def test_a_long_conversation_is_cut_to_its_last_exchanges() -> None:
    pairs = [pair for at in range(30) for pair in (("user", f"Question {at:02}?"), ("assistant", f"Answer {at:02}."))]
    whole = asked_of(chat(*pairs, ("user", "Now?")), 10_000).history or []
    assert len(whole) == TURNS_MAX
    assert whole[-1].answer == "Answer 29."
    short = asked_of(chat(*pairs, ("user", "Now?")), 45).history or []
    assert [turn.question for turn in short] == ["Question 28?", "Question 29?"]
    assert asked_of(chat(*pairs, ("user", "Now?")), 0).history is None


def test_what_cannot_be_done_is_refused_and_the_rest_is_passed_over() -> None:
    assert refused(chat(("user", "One?"), n=2)).startswith("n: ")
    assert refused(chat(("user", "One?"), tool_choice="required")).startswith("tool_choice: ")
    named = {"type": "function", "function": {"name": "f"}}
    assert refused(chat(("user", "One?"), tool_choice=named)).startswith("tool_choice: ")
    assert refused(chat(("system", "One?"))).startswith("messages: ")
    usual = {"temperature": "warm", "tools": [{}], "tool_choice": "auto", "n": 1, "response_format": {}, "seed": 1}
    assert asked_of(chat(("user", "One?"), **usual), 0).question == "One?"


def test_filters_are_taken() -> None:
    asked = asked_of(chat(("user", "One?"), filters={"type": "faq"}), 0)
    assert asked.filters is not None
    assert asked.filters.type == "faq"


def test_footnotes_name_title_place_and_link_one_a_line() -> None:
    notes = footnotes([citation(1, place="page 3"), citation(2, source="https://example.com/shed")], "http://gw")
    assert notes == (
        "\n\n[1] Shed rules, page 3 — http://gw/v1/documents/shed.md/source?version=v1#0-3  \n"
        "[2] Shed rules, Hours — https://example.com/shed"
    )
    assert footnotes([], "http://gw") == ""


@pytest.mark.parametrize(
    ("section", "where"),
    [
        ("Shed rules", "Shed rules"),
        ("Shed rules > Hours", "Shed rules, Hours"),
        ("Garden > Hours", "Shed rules, Garden > Hours"),
        ("", "Shed rules"),
    ],
)
def test_a_footnote_says_its_title_once(section: str, where: str) -> None:
    assert footnotes([citation(section=section)], "http://gw").startswith(f"\n\n[1] {where} — http")


def test_what_had_to_be_left_out_is_noted() -> None:
    whole = answer("One. [1]", citation()).model_copy(update={"degraded": ["type_filter_dropped"]})
    assert completion(whole, id="c", created=1, base_url="").ragstone.degraded == ["type_filter_dropped"]
    (closing,) = [chunk for chunk in Telling(id="c", created=1, base_url="").end(whole, usage=False) if chunk.ragstone]
    assert closing.ragstone is not None
    assert closing.ragstone.degraded == ["type_filter_dropped"]


def test_counted_tokens_are_told() -> None:
    whole = answer("One. [1]", citation()).model_copy(update={"usage": Usage(prompt=90, answer=12)})
    told_at_once = completion(whole, id="c", created=1, base_url="").usage
    *_, streamed = Telling(id="c", created=1, base_url="").end(whole, usage=True)
    assert told_at_once == streamed.usage
    assert told_at_once.model_dump() == {"prompt_tokens": 90, "completion_tokens": 12, "total_tokens": 102}
    assert completion(answer("One."), id="c", created=1, base_url="").usage.total_tokens == 0


def test_footnotes_stay_one_line_and_no_link_runs_script() -> None:
    notes = footnotes([citation(title="a\n\nb", source="javascript:alert(1)")], "http://gw")
    assert notes == "\n\n[1] a b, Hours — http://gw/v1/documents/shed.md/source?version=v1#0-3"


def test_our_footnotes_are_not_in_the_history() -> None:
    said = completion(answer("At nine. [1] [2]", citation(1), citation(2)), id="c", created=1, base_url="http://gw")
    content = said.choices[0].message.content
    asked = asked_of(chat(("user", "When?"), ("assistant", content), ("user", "Why?")), 1000)
    assert asked.history is not None
    assert asked.history[0].answer == "At nine. [1] [2]"


def told(whole: Answer, *sentences: str) -> str:
    telling = Telling(id="c", created=1, base_url="http://gw")
    chunks = [telling.begin(), *(telling.sentence(text) for text in sentences), *telling.end(whole, usage=False)]
    assert [chunk.choices[0].finish_reason for chunk in chunks].count("stop") == 1
    assert chunks[-1].ragstone is not None
    assert chunks[-1].ragstone.answer_id == "a1"
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def test_a_stream_says_the_whole_message_whatever_went_out_before() -> None:
    whole = answer("One. [1] Two. [1]", citation())
    message = completion(whole, id="c", created=1, base_url="http://gw").choices[0].message.content
    for sentences in ((), ("One. [1]",), ("One. [1]", " Two. [1]")):
        assert told(whole, *sentences) == message


def test_a_sentence_that_was_withdrawn_is_followed_by_what_holds() -> None:
    assert told(answer("Nothing found."), "One. [1]") == f"One. [1]{WITHDRAWN}Nothing found."


def test_chunks_leave_out_what_they_do_not_say() -> None:
    telling = Telling(id="c", created=1, base_url="http://gw")
    begun, said = telling.begin().model_dump(mode="json"), telling.sentence("One.").model_dump(mode="json")
    assert begun["choices"][0] == {
        "index": 0,
        "delta": {"role": "assistant", "content": ""},
        "logprobs": None,
        "finish_reason": None,
    }
    assert said["choices"][0]["delta"] == {"content": "One."}
    assert not {"usage", "citations", "ragstone"} & set(said)
    closing, counted = telling.end(answer("One."), usage=True)
    assert closing.model_dump(mode="json")["choices"][0]["delta"] == {}
    assert counted.model_dump(mode="json")["usage"]["total_tokens"] == 0
