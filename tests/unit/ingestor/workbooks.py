"""Small Excel workbooks and EPUB books, written as the zip files of XML that they are."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.documents import Extracted
from tests.unit.ingestor.fake_documents import incoming
from tests.unit.ingestor.fakes import TimeUp

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_HIDDEN = ' state="hidden"'
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def read(data: bytes | str, filename: str, media_type: str = "application/octet-stream") -> Extracted:
    """The file as the parsers read it."""
    raw = data.encode() if isinstance(data, str) else data
    return FileParsers(50_000_000, TimeUp).parse(incoming("doc", filename=filename, media_type=media_type), raw)


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """A zip file of these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def column_name(n: int) -> str:
    """A, B, …, Z, AA, … for 0, 1, …"""
    return (column_name(n // 26 - 1) if n >= 26 else "") + chr(65 + n % 26)


def sheet_xml(rows: Mapping[int, Any], merged: Sequence[str] = (), extra: str = "") -> str:
    """A sheet with these rows, by their numbers from 1 on.

    A cell is a text, a number, a truth, nothing, or a number with the number of its format.
    """
    lines = []
    for number, cells in rows.items():
        inner = "".join(_cell(f"{column_name(n)}{number}", cell) for n, cell in enumerate(cells) if cell is not None)
        lines.append(f'<row r="{number}">{inner}</row>')
    joint = f"<mergeCells>{''.join(f'<mergeCell ref={quoteattr(one)}/>' for one in merged)}</mergeCells>"
    data = f"<sheetData>{''.join(lines)}{extra}</sheetData>"
    return f'<worksheet xmlns="{_MAIN}">{data}{joint if merged else ""}</worksheet>'


def _cell(at: str, value: Any) -> str:
    if isinstance(value, bool):
        return f'<c r="{at}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{at}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    number, style = value if isinstance(value, tuple) else (value, 0)
    return f'<c r="{at}" s="{style}"><v>{number}</v></c>'


def workbook(sheets: Mapping[str, str], formats: Sequence[str] = (), hidden: Sequence[str] = ()) -> bytes:
    """A workbook of these sheets; cells name the formats by 1, 2, …"""
    names = list(sheets)
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"{_HIDDEN if name in hidden else ""}/>'
        for n, name in enumerate(names, start=1)
    )
    links = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(names) + 1)
    )
    codes = "".join(
        f'<numFmt numFmtId="{163 + n}" formatCode={quoteattr(code)}/>' for n, code in enumerate(formats, start=1)
    )
    styles = '<xf numFmtId="0"/>' + "".join(f'<xf numFmtId="{163 + n}"/>' for n in range(1, len(formats) + 1))
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_SHEET_TYPE}.worksheet+xml"/>'
        for n in range(1, len(names) + 1)
    )
    members = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEET_TYPE}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><numFmts>{codes}</numFmts>'
        f"<cellXfs>{styles}</cellXfs></styleSheet>",
    }
    for n, name in enumerate(names, start=1):
        members[f"xl/worksheets/sheet{n}.xml"] = sheets[name]
    return zipped(members)


def book(chapters: Mapping[str, str], first_is_contents: bool = False, locked: str | None = None) -> bytes:
    """An EPUB of these pages, in this order."""
    items = "".join(
        f'<item id="c{n}" href={quoteattr(name)} media-type="application/xhtml+xml"'
        f"{' properties=' + quoteattr('nav') if first_is_contents and n == 0 else ''}/>"
        for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="EPUB/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "EPUB/content.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Mill</dc:title><dc:language>en</dc:language>'
        f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    if locked:
        members["META-INF/encryption.xml"] = (
            '<encryption><CipherData xmlns="http://www.w3.org/2001/04/xmlenc#">'
            f'<CipherReference URI="EPUB/{locked}"/></CipherData></encryption>'
        )
    return zipped(members | {f"EPUB/{name}": page for name, page in chapters.items()})
