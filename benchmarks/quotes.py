"""Does every quotation of an answer stand in its source, byte for byte? Counted over all answers of a run."""

from dataclasses import dataclass, field
from urllib.parse import quote

import httpx

from services.shared.contracts.answers import Answer, Citation

TIMEOUT_S = 60.0


@dataclass
class Quotes:
    """Looks each quotation up where a reader would: in the text that the gateway gives of that document version."""

    url: str
    space: str
    all: int = 0
    matching: int = 0
    faults: list[str] = field(default_factory=list)
    """What does not match, one line each."""
    _texts: dict[tuple[str, str], str] = field(default_factory=dict)

    def check(self, answer: Answer) -> None:
        """Count the answer's quotations; what does not match is named in ``faults``."""
        for citation in answer.citations:
            self.all += 1
            found = self._text(citation)[citation.start : citation.end]
            if found == citation.quote and found:
                self.matching += 1
            else:
                self.faults.append(f"{citation.document_id} {citation.start}-{citation.end}: {citation.quote!r}")

    @property
    def told(self) -> str:
        """The count in words."""
        share = f" ({self.matching / self.all:.1%})" if self.all else ""
        return f"{self.matching} of {self.all} quotations match their source{share}"

    def _text(self, citation: Citation) -> str:
        key = (str(citation.document_id), str(citation.version))
        if key not in self._texts:
            got = httpx.get(
                f"{self.url}/v1/documents/{quote(key[0], safe='')}/source",
                params={"version": key[1], "as": "text"},
                headers={"Ragstone-Space": self.space},
                timeout=TIMEOUT_S,
                trust_env=False,
            )
            self._texts[key] = got.content.decode("utf-8") if got.is_success else ""
        return self._texts[key]
