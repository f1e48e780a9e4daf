"""E-mails: head, words and attachments, and what is broken or hostile in them."""

from email.message import EmailMessage

import pytest

from services.ingestor.adapters.parsers.eml import ATTACHMENTS_MAX
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.places import place_of
from tests.unit.ingestor.workbooks import read, sheet_xml, workbook


def mail(subject: str = "Offer", body: str = "Please see the offer.\n") -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "Ann <ann@x.example>", "bob@x.example"
    message["Date"] = "Fri, 01 Mar 2024 09:30:00 +0100"
    message.set_content(body)
    return message


def test_a_mail_is_a_head_and_its_words() -> None:
    found = read(mail().as_bytes(), "offer.eml")
    assert found.text == (
        "# Offer\n\nFrom: Ann <ann@x.example>\nTo: bob@x.example\nDate: 2024-03-01 09:30\n\nPlease see the offer.\n\n"
    )
    assert found.title == "Offer"
    assert place_of(found.places, 0, 5) == "message"


def test_attachments_are_read_by_their_own_parsers_with_their_own_places() -> None:
    message = mail()
    sheet = workbook({"Prices": sheet_xml({1: ["name", "price"], 2: ["Soup", 4.5]})})
    message.add_attachment(sheet, maintype="application", subtype="octet-stream", filename="prices.xlsx")
    message.add_attachment("# Terms\n\nThirty days.\n", subtype="markdown", filename="terms.md")
    found = read(message.as_bytes(), "offer.eml")
    at = found.text.index("Soup")
    assert place_of(found.places, at, at + 4) == "attachment prices.xlsx, sheet Prices, row 2"
    assert "## Attachment terms.md\n\n### Terms\n\nThirty days." in found.text
    at = found.text.index("Thirty")
    assert place_of(found.places, at, at + 4) == "attachment terms.md"
    assert "Attachments: prices.xlsx, terms.md" in found.text


def test_an_attachment_that_cannot_be_read_fails_alone() -> None:
    message = mail()
    message.add_attachment(b"MZ\x90", maintype="application", subtype="octet-stream", filename="virus.exe")
    message.add_attachment(b"PK\x03\x04 broken", maintype="application", subtype="zip", filename="broken.xlsx")
    message.add_attachment("Still here.", filename="note.txt")
    found = read(message.as_bytes(), "m.eml")
    assert "Still here." in found.text
    assert "virus.exe" in (found.warning or "")
    assert "broken.xlsx" in (found.warning or "")


def test_forwarded_mails_are_read_within_limits() -> None:
    message = mail("level 0", "Words of level 0.\n")
    for level in range(1, 9):
        outer = mail(f"level {level}", f"Words of level {level}.\n")
        outer.add_attachment(message)
        message = outer
    found = read(message.as_bytes(), "deep.eml")
    assert "Words of level 8." in found.text
    assert "Words of level 7." in found.text
    assert "Words of level 0." not in found.text
    assert "level" in (found.warning or "")


def test_too_many_attachments_are_said() -> None:
    message = mail()
    for n in range(ATTACHMENTS_MAX + 3):
        message.add_attachment(f"Number {n}.", filename=f"{n}.txt")
    found = read(message.as_bytes(), "many.eml")
    assert f"Number {ATTACHMENTS_MAX - 1}." in found.text
    assert f"Number {ATTACHMENTS_MAX}." not in found.text
    assert f"the first {ATTACHMENTS_MAX} were read" in (found.warning or "")


def test_an_html_mail_keeps_all_its_words() -> None:
    message = EmailMessage()
    message["Subject"] = "News"
    message["From"] = "a@x.example"
    message.set_content(
        "<table><tr><td><h2>Hours</h2><p>Open from nine.</p></td></tr></table><style>x{}</style><p hidden>spam</p>",
        subtype="html",
    )
    found = read(message.as_bytes(), "n.eml")
    assert "## Hours\n\nOpen from nine." in found.text
    assert "spam" not in found.text


def test_the_fuller_way_of_saying_it_is_read() -> None:
    message = mail(body="Open in a browser.")
    message.add_alternative(f"<p>{'The whole letter. ' * 200}</p>", subtype="html")
    assert "The whole letter." in read(message.as_bytes(), "n.eml").text
    message = mail()
    message.add_alternative("<p>Please <b>see</b> the offer.</p>", subtype="html")
    assert "**" not in read(message.as_bytes(), "n.eml").text


@pytest.mark.parametrize(
    "raw",
    [
        b"Subject: =?utf-8?B?broken?=\nContent-Type: text/plain; charset=no-such\n\nCaf\xe9 is open today, come in.\n",
        b"From: <<<>>>,\nContent-Transfer-Encoding: base64\n\nCaf\xc3\xa9 is open today\n",
        b'From: x\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n\nCaf\xe9 is open today, come in.\n',
        b"Date: never\nSubject: " + b"(" * 5000 + b"\n\nCaf\xc3\xa9 is open today\n",
        b"From: x\nContent-Type: multipart/mixed\n\nCaf\xc3\xa9 is open today\n",
        b"Subject: x\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        b"Caf=C3=A9 is op=en today=ZZ\n",
    ],
)
def test_broken_mails_are_read_as_far_as_they_go(raw: bytes) -> None:
    words = read(raw, "b.eml").text
    assert "Café" in words


def test_what_is_no_mail_says_so() -> None:
    with pytest.raises(RagstoneError, match="no headers of an e-mail"):
        read(b"Just a text without any header.\n", "a.eml")


def test_a_line_of_dashes_makes_no_heading_of_a_mail() -> None:
    found = read(mail(body="Best,\nAnn\n-- \nAnn's shop\n\n# 5 rooms\n\n    indented\n").as_bytes(), "a.eml")
    assert "Ann\n\\--\nAnn's shop" in found.text
    assert "\\# 5 rooms" in found.text


def test_names_of_attachments_are_names_and_no_paths() -> None:
    message = mail()
    message.add_attachment("Words.", filename="../../etc/passwd.txt")
    assert "## Attachment passwd.txt" in read(message.as_bytes(), "a.eml").text
