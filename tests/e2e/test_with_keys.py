"""A whole stack once a key exists: the owner's command line and the worker go on, strangers do not."""

import json
from pathlib import Path

import httpx

from services.shared.catalog import keys
from services.shared.catalog.engine import Catalog
from services.shared.contracts.key_secrets import read
from tests.e2e.stack import Stack, running_stack, until


def refused(stack: Stack) -> bool:
    return httpx.get(f"{stack.base_url}/v1/documents", trust_env=False).status_code == 401


def test_the_owners_commands_and_the_worker_need_no_key_of_anybody(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "shed.md").write_text("# The shed\n\nThe red shed was built in 1957 by Ada Quill.\n")
    questions = tmp_path / "questions.jsonl"
    asked = {"id": "q1", "text": "When was the red shed built?", "kind": "factual_recall", "behaviour": "answer"}
    gold = [{"document_id": "shed.md", "quote": "The red shed was built in 1957 by Ada Quill."}]
    questions.write_text(json.dumps({**asked, "expected": "In 1957.", "facts": [["1957"]], "gold": gold}) + "\n")
    # 0.0.0.0 although there is no key yet: it listens on loopback, and the run comes up all the same.
    with running_stack(tmp_path / "state", {"RAGSTONE_HOST": "0.0.0.0"}) as stack:
        assert "listens on 127.0.0.1 only" in stack.said()
        assert stack.ragstone("ingest", str(corpus)).returncode == 0
        made = stack.ragstone("keys", "create", "me", "--role", "admin")
        secret = made.stdout.strip()
        assert read(secret).id, made.stderr
        until(lambda: refused(stack), 2.0)
        assert stack.ragstone("ask", "When was the red shed built?").returncode == 0
        (corpus / "barn.md").write_text("# The barn\n\nThe barn is blue.\n")
        sent = stack.ragstone("ingest", str(corpus))
        assert sent.returncode == 0, sent.stderr
        evaluated = stack.ragstone("eval", "--questions", str(questions), "--no-judge", timeout_s=300)
        assert evaluated.returncode == 0, evaluated.stdout + evaluated.stderr
        assert stack.ragstone("status").returncode == 0

        stack.environment["RAGSTONE_KEY"] = "rs_0_" + "0" * 64
        wrong = stack.ragstone("ask", "When was the red shed built?")
        assert wrong.returncode == 1
        assert "RAGSTONE_KEY" in wrong.stderr
        stack.environment["RAGSTONE_KEY"] = secret
        assert stack.ragstone("ask", "When was the red shed built?").returncode == 0

        catalog_url = stack.catalog_url
        # Another machine's command line: the same gateway, but not its state folder.
        stack.environment |= {"RAGSTONE_STATE_DIR": str(tmp_path / "elsewhere"), "RAGSTONE_KEY": ""}
        far = stack.ragstone("ask", "When was the red shed built?", "--url", stack.base_url)
        assert far.returncode == 1
        assert "set RAGSTONE_KEY" in far.stderr

        catalog = Catalog(catalog_url)
        with catalog.read() as tx:
            left = tx.exec_driver_sql("SELECT count(*) FROM api_keys WHERE internal").scalar_one()
            stored = keys.find(tx, read(secret).id)
        catalog.close()
        assert left == 0
        assert stored is not None
        for log in (tmp_path / "state" / "logs").iterdir():
            written = log.read_text(errors="replace")
            assert read(secret).secret not in written
            assert stored.hash not in written
