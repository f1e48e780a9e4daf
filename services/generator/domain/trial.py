"""A question that shows whether a model's server keeps a reply to its schema; some versions pass over it.

Words are asked for and the schema wants an object: what comes back tells which of the two was heeded.
"""

import json
from typing import Any

from services.generator.domain.prompt import Prompt

PROMPT = Prompt(
    system="You answer in one short sentence of plain words.",
    user="What colour is the sky on a clear day?",
    used=0,
    tokens=40,
)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"colour": {"type": "string", "maxLength": 20}},
    "required": ["colour"],
    "additionalProperties": False,
}
MAX_TOKENS = 48


def obeyed(reply: str) -> bool:
    """Whether the reply is what the schema asks for."""
    try:
        told = json.loads(reply)
    except ValueError:
        return False
    return isinstance(told, dict) and list(told) == ["colour"] and isinstance(told["colour"], str)
