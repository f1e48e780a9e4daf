"""A chat as OpenAI's clients send it becomes a question with its history, and an answer becomes a chat message."""

import re
from collections.abc import Sequence

from services.shared.contracts.answers import Answer, AskRequest, Citation, Turn, Usage
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.openai_chat import (
    MODEL,
    AnswerNote,
    ChatChunk,
    ChatCompletion,
    ChatMessage,
    ChatRequest,
    ChatUsage,
    Choice,
    ChunkChoice,
    Delta,
    SaidMessage,
)

TURNS_MAX = 20
"""As many earlier exchanges as a question may have (AskRequest.history)."""

WITHDRAWN = "\n\n---\n\nA source was replaced or deleted while this was written. What holds now:\n\n"
"""Before the whole answer again, where a sentence that went out already is not in it: a chat takes nothing back."""

_LINE_BREAK = "  \n"
"""A line break that Markdown keeps."""
_FOOTNOTES = re.compile(r"\n\n(?:\[\d+\] [^\n]*(?:\n|\Z))+\Z")


def asked_of(chat: ChatRequest, history_max_chars: int) -> AskRequest:
    """The last user message with the exchanges before it, as many of the last as may come with a question.

    Clients send whole conversations, however long; the oldest exchanges go. What is said to the model by others
    than user and assistant is passed over.
    Raises: RagstoneError (invalid_request) for what cannot be done and would be missed.
    """
    _refuse_impossible(chat)
    at = max((at for at, message in enumerate(chat.messages) if message.role == "user"), default=None)
    if at is None:
        raise _bad("messages: none of them has the role user; the last one that has is the question.")
    question = chat.messages[at]
    if not isinstance(question.content, str):
        for part in question.content or ():
            if part.type != "text":
                raise _bad(f"messages.{at}.content: a part of type {part.type[:40]!r} cannot be read; send text only.")
    history = _fitting(_turns(chat.messages[:at]), history_max_chars)
    return AskRequest(question=_text(question), filters=chat.filters, history=history or None)


def _refuse_impossible(chat: ChatRequest) -> None:
    if chat.n not in (None, 1):
        raise _bad(f"n: {chat.n} answers were asked for, and there is one answer to a question; leave n out.")
    if chat.tool_choice not in (None, "none", "auto"):
        raise _bad("tool_choice: no tool is ever called here; leave it out, or send auto or none.")


def _turns(messages: Sequence[ChatMessage]) -> list[Turn]:
    turns: list[Turn] = []
    for message in messages:
        text = _text(message)
        if message.role == "user":
            turns.append(Turn(question=text, answer=""))
        elif message.role == "assistant" and turns:
            said = _FOOTNOTES.sub("", text)
            last = turns[-1]
            turns[-1] = Turn(question=last.question, answer=f"{last.answer}\n\n{said}".strip())
    return turns


def _fitting(turns: Sequence[Turn], max_chars: int) -> list[Turn]:
    """The last turns that are within the limits."""
    room, kept = max_chars, list[Turn]()
    for turn in reversed(turns[-TURNS_MAX:]):
        room -= len(turn.question) + len(turn.answer)
        if room < 0:
            break
        kept.append(turn)
    return kept[::-1]


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part.text or "" for part in message.content or () if part.type == "text")


def footnotes(citations: Sequence[Citation], base_url: str) -> str:
    """What each [n] stands for, one a line below the text; empty without citations."""
    lines = [_footnote(citation, base_url) for citation in citations]
    return "\n\n" + _LINE_BREAK.join(lines) if lines else ""


def _footnote(citation: Citation, base_url: str) -> str:
    where = ", ".join(part for part in (citation.title, citation.place or _below_title(citation)) if part)
    source = citation.source or ""
    link = source if source.startswith(("https://", "http://")) else base_url + citation.url
    return f"[{citation.n}] {' '.join(where.split())} — {''.join(link.split())}"


def _below_title(citation: Citation) -> str:
    """The section without the title that begins it."""
    return " > ".join(part for part in citation.section.split(" > ") if part != citation.title)


def usage_of(answer: Answer) -> ChatUsage:
    """The tokens of an answer; zeros where none were counted, for clients do arithmetic with them."""
    counted = answer.usage or Usage()
    total = counted.prompt + counted.answer
    return ChatUsage(prompt_tokens=counted.prompt, completion_tokens=counted.answer, total_tokens=total)


def note_of(answer: Answer) -> AnswerNote:
    """What a chat message has no place for."""
    return AnswerNote(
        answer_id=answer.id,
        status=answer.status,
        reason=answer.reason,
        confidence=answer.confidence,
        cached=answer.cached,
        degraded=answer.degraded,
    )


def completion(answer: Answer, *, id: str, created: int, base_url: str) -> ChatCompletion:
    """The whole answer as a chat message."""
    content = answer.text + footnotes(answer.citations, base_url)
    message = SaidMessage(role="assistant", content=content, refusal=None)
    return ChatCompletion(
        id=id,
        object="chat.completion",
        created=created,
        model=MODEL,
        choices=[Choice(index=0, message=message, logprobs=None, finish_reason="stop")],
        usage=usage_of(answer),
        citations=answer.citations,
        ragstone=note_of(answer),
    )


class Telling:
    """One answer as the chunks of a stream."""

    def __init__(self, *, id: str, created: int, base_url: str) -> None:
        self._id = id
        self._created = created
        self._base_url = base_url
        self._said = ""

    def begin(self) -> ChatChunk:
        """Who speaks."""
        return self._chunk([_choice(Delta(role="assistant", content=""))])

    def sentence(self, text: str) -> ChatChunk:
        """A checked sentence."""
        self._said += text
        return self._saying(text)

    def end(self, answer: Answer, *, usage: bool) -> list[ChatChunk]:
        """What is left to say of the whole answer, the footnotes and the end; ``usage``: the tokens too."""
        said = answer.text.startswith(self._said)
        rest = answer.text[len(self._said) :] if said else WITHDRAWN + answer.text
        closing = self._chunk([_choice(Delta(role=None, content=None), finish="stop")], answer)
        texts = [text for text in (rest, footnotes(answer.citations, self._base_url)) if text]
        counted = [self._chunk([]).model_copy(update={"usage": usage_of(answer)})] if usage else []
        return [*(self._saying(text) for text in texts), closing, *counted]

    def _saying(self, text: str) -> ChatChunk:
        return self._chunk([_choice(Delta(role=None, content=text))])

    def _chunk(self, choices: list[ChunkChoice], answer: Answer | None = None) -> ChatChunk:
        return ChatChunk(
            id=self._id,
            object="chat.completion.chunk",
            created=self._created,
            model=MODEL,
            choices=choices,
            usage=None,
            citations=None if answer is None else answer.citations,
            ragstone=None if answer is None else note_of(answer),
        )


def _choice(delta: Delta, finish: str | None = None) -> ChunkChoice:
    return ChunkChoice(index=0, delta=delta, logprobs=None, finish_reason="stop" if finish else None)


def _bad(detail: str) -> RagstoneError:
    return RagstoneError(ErrorCode.INVALID_REQUEST, detail)
