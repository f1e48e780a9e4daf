"""Excel workbooks by python-calamine: each sheet a heading, its tables below, values as the sheet shows them."""

import datetime
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from services.ingestor.adapters.archives import checked_archive
from services.ingestor.adapters.parsers.xlsx_formats import WORKBOOK, Formats
from services.ingestor.adapters.parsers.xml_parts import unreadable
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.number_formats import plain_number, shown_date, shown_number
from services.ingestor.domain.stretches import Stretches, joined
from services.ingestor.domain.tables import Row, TableWriter, cell_text, sub_tables

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

MERGED_MAX = 100_000
"""Cells that are filled from merged ones; more are left blank."""

_NO_FORMATS: dict[int, str] = {}


def parse(data: bytes, name: str) -> Extracted:
    """Every sheet that a person sees; formulas by the values that the workbook holds for them."""
    archive = checked_archive(data, name)
    if WORKBOOK not in archive.namelist():
        raise unreadable(name, "it is no Excel workbook whatever its name says; send it under its real extension")
    formats = Formats(archive, name)
    from python_calamine import CalamineError

    try:
        return _extracted(data, name, formats)
    except CalamineError as error:
        raise unreadable(name, f"it is no whole Excel workbook ({str(error)[:150]}); is it damaged?") from error
    except BaseException as error:
        # A library in Rust that breaks off raises what is no Exception, and has no public name.
        if type(error).__name__ != "PanicException":
            raise
        raise unreadable(name, "it is no whole Excel workbook; open it in a spreadsheet program and save it") from error


def _extracted(data: bytes, name: str, formats: Formats) -> Extracted:
    from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    out, hidden, uncomputed = Stretches(), [], 0
    with CalamineWorkbook.from_filelike(io.BytesIO(data)) as workbook:
        for about in workbook.sheets_metadata:
            if about.typ != SheetTypeEnum.WorkSheet:
                continue
            if about.visible != SheetVisibleEnum.Visible:
                hidden.append(about.name)
                continue
            found = formats.of(about.name)
            uncomputed += found.uncomputed
            _write(out, about.name, _rows(workbook.get_sheet_by_name(about.name), found.rows))
    notes = (
        f"hidden sheets of {name} were left out: {', '.join(hidden)[:200]}" if hidden else None,
        f"{uncomputed:,} formulas of {name} hold no value; open it in a spreadsheet program and save it"
        if uncomputed
        else None,
    )
    return Extracted(text=out.text, markdown=True, warning=joined(notes), places=out.places)


def _write(out: Stretches, sheet: str, rows: Sequence[Row]) -> None:
    if not any(any(row.cells) for row in rows):
        return
    called = cell_text(sheet)
    out.add(f"# {called}\n\n", f"sheet {called}")
    writer = TableWriter(out, lambda number: f"sheet {called[:120]}, row {number}", level=1)
    for table in sub_tables(rows):
        writer.write(table)


def _rows(sheet: "CalamineSheet", formats: dict[int, dict[int, str]]) -> list[Row]:
    """The rows between the first and the last filled cell; what is merged downwards stands in each of its rows."""
    if sheet.start is None:
        return []
    first = sheet.start[0]
    rows = [
        Row(number + 1, [_shown(value, formats.get(number, _NO_FORMATS), n) for n, value in enumerate(values)])
        # The library leaves out blank rows above the first filled one, but no columns.
        for number, values in enumerate(sheet.to_python(skip_empty_area=False))
        if number >= first
    ]
    left = MERGED_MAX
    for (top, column), (bottom, _) in sheet.merged_cell_ranges or ():
        left -= bottom - top
        if left < 0:
            break
        for number in range(max(top, first) + 1, min(bottom, first + len(rows) - 1) + 1):
            cells, above = rows[number - first].cells, rows[max(top, first) - first].cells
            if isinstance(cells, list) and column < len(cells):
                cells[column] = above[column]
    return rows


def _shown(value: Any, formats: dict[int, str], column: int) -> str:
    if value == "":
        return ""
    if isinstance(value, str):
        return cell_text(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float | int):
        code = formats.get(column)
        return shown_number(value, code) if code else plain_number(value)
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return shown_date(value)
    return cell_text(str(value))
