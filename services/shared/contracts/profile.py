"""The owner's profile: who the content is about, how to speak, and the fixed texts."""

from pydantic import Field

from services.shared.contracts.base import Request


class Pronouns(Request):
    """Words that stand for the subject in a visitor's question."""

    subject: list[str] = Field(default_factory=list, description="such as she; becomes the subject's name")
    possessive: list[str] = Field(default_factory=list, description="such as her; becomes the name with 's")


class Subject(Request):
    name: str = Field(description="The person, company or product that the content is about")
    aliases: list[str] = Field(default_factory=list, description="Other names for it, replaced by the name")
    pronouns: Pronouns = Field(default_factory=Pronouns)


class FixedTexts(Request):
    """Sentences said word for word."""

    not_found: str = "The documents I have do not answer that."
    declined: str = "I can only answer questions from the documents I have."
    topics_intro: str = "The closest topics I have are:"
    writer_away: str = "I found passages that may answer this, but what writes the answers is not available right now."


class Declined(Request):
    """Something that the owner does not want to be asked about."""

    topic: str = Field(min_length=2, description="Such as salary")
    words: list[str] = Field(
        default_factory=list, description="Words or phrases that mean it, besides the topic's own name"
    )
    text: str | None = Field(default=None, description="What is said instead; null: texts.declined")


class Profile(Request):
    """``profile.yaml``. Every part may be left out."""

    subject: Subject | None = None
    persona: str = "A plain, friendly assistant that answers from the documents only."
    tone: str = Field(default="", description="How answers should sound, such as brief and warm; empty: plainly")
    language: str = Field(default="en", description="BCP 47; the language of the answers")
    decline: list[Declined] = Field(default_factory=list, description="Topics that are declined without a search")
    examples: list[str] = Field(default_factory=list, max_length=6, description="Questions that the page offers")
    texts: FixedTexts = Field(default_factory=FixedTexts)
