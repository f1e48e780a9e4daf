"""The page's own Markdown, in a real JavaScript engine with a document of a few lines."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from services.gateway.app.pages import FOLDER

NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="no node on this machine")

SCRIPT = """
class Element {
  constructor(tag) { this.tag = tag; this.childNodes = []; }
  append(...more) { this.childNodes.push(...more); }
  replaceChildren(...all) { this.childNodes = all; }
  set textContent(text) { this.childNodes = [text]; }
  isEqualNode(other) { return shown(this) === shown(other); }
}
const shown = (node) => typeof node === "string" ? node.replaceAll("<", "&lt;")
  : `<${node.tag}${node.value ? " " + node.value : ""}>${node.childNodes.map(shown).join("")}</${node.tag}>`;
globalThis.document = { createElement: (tag) => new Element(tag), getElementById: () => null };
const { showMarkdown } = await import(process.argv[1]);
const chip = (n) => n < 9 ? new Element(`chip${n}`) : undefined;
const whole = new Element("div");
const kept = [];
const results = JSON.parse(process.argv[2]).map((text) => {
  const before = [...whole.childNodes];
  showMarkdown(whole, text, chip);
  kept.push(whole.childNodes.filter((node) => before.includes(node)).length);
  return whole.childNodes.map(shown).join("");
});
console.log(JSON.stringify({ results, kept }));
"""


def rendered(*texts: str) -> tuple[list[str], list[int]]:
    assert NODE is not None
    command = [NODE, "--input-type=module", "-e", SCRIPT, str(FOLDER / "markdown.js"), json.dumps(texts)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, cwd=Path("/"))
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    return told["results"], told["kept"]


CASES = {
    "One [1]. **Two** [2].": "<p>One <chip1></chip1>. Two <chip2></chip2>.</p>",
    "- a [1]\n- b\n\nEnd.": "<ul><li>a <chip1></chip1></li><li>b</li></ul><p>End.</p>",
    "2. a\n3. b": "<ol><li 2>a</li><li 3>b</li></ol>",
    "```js\nx[1] <script>\n```\n[2]": "<pre><code>x[1] &lt;script></code></pre><p><chip2></chip2></p>",
    "| a | b |\n|---|---|\n| 1 | 2 [1] |": (
        "<div><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2 <chip1></chip1></td></tr></table></div>"
    ),
    "Not `x[1]` here [1]. [99]": "<p>Not <code>x[1]</code> here <chip1></chip1>. [99]</p>",
    "No.\n\nClose:\n- A": "<p>No.</p><p>Close:</p><ul><li>A</li></ul>",
    "<img src=x onerror=alert(1)> [1]": "<p>&lt;img src=x onerror=alert(1)> <chip1></chip1></p>",
    "```\nnever closed": "<pre><code>never closed</code></pre>",
    "": "",
}


def test_each_form_is_shown_as_what_it_is_and_never_as_html() -> None:
    results, _ = rendered(*CASES)
    assert results == list(CASES.values())


def test_a_growing_text_keeps_what_is_there() -> None:
    results, kept = rendered("One [1].", "One [1].\n\n- a", "One [1].\n\n- a\n- b [2]")
    assert results[-1] == "<p>One <chip1></chip1>.</p><ul><li>a</li><li>b <chip2></chip2></li></ul>"
    assert kept == [0, 1, 1]
