"""Plain text files: the text as it is; paragraphs are all the structure they have."""

from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.domain.documents import Extracted


def parse(data: bytes, name: str) -> Extracted:
    """The decoded text."""
    decoded = decode(data, name)
    return Extracted(text=decoded.text, markdown=False, warning=decoded.warning)
