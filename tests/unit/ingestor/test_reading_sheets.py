"""CSV files and Excel workbooks: tables with their header, rows as places, values as a person sees them."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingestor.domain.number_formats import plain_number, shown_date, shown_number
from services.ingestor.domain.stretches import Stretches
from services.ingestor.domain.tables import Row, TableWriter, cell_text, sub_tables
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.places import place_of
from tests.unit.ingestor.workbooks import read, sheet_xml, workbook, zipped

PRICES = "name;price;city\nSoup;4,50;Bern\nBread;1,20;Thun\n"


def test_a_csv_is_one_table_with_its_rows_as_places() -> None:
    found = read(PRICES, "prices.csv")
    assert found.text == ("| name | price | city |\n|---|---|---|\n| Soup | 4,50 | Bern |\n| Bread | 1,20 | Thun |\n\n")
    at = found.text.index("Bread")
    assert place_of(found.places, at, at + 5) == "row 3"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    rows = [["name", "note"], ["a", "b c"], ["d", "e f"]]
    found = read("\n".join(delimiter.join(row) for row in rows), "a.csv")
    assert "| name | note |" in found.text
    assert "| d | e f |" in found.text


def test_a_line_for_excel_that_names_the_delimiter_is_no_row() -> None:
    found = read("sep=;\na;b\n1,5;2,5\n", "a.csv")
    assert found.text.startswith("| a | b |")
    assert [place.label for place in found.places] == ["row 2", "row 3"]


def test_the_first_row_is_no_header_when_it_holds_data() -> None:
    assert read("1,2.5\n3,4.5\n", "a.csv").text.startswith("| column 1 | column 2 |\n|---|---|\n| 1 | 2.5 |")


def test_a_title_above_the_header_stays_above_the_table() -> None:
    found = read("Price list 2024,,\n\nname,price,city\nSoup,4,Bern\n", "a.csv")
    assert found.text.startswith("Price list 2024\n\n| name | price | city |\n")
    assert [place.label for place in found.places] == ["row 1", "row 3", "row 4"]


def test_cells_with_bars_and_newlines_stay_one_line() -> None:
    found = read('name,note\nada,"one | two\nthree"\n', "a.csv")
    assert "| ada | one \\| two three |\n" in found.text
    assert [place.label for place in found.places] == ["row 1", "row 2"]


def test_rows_that_do_not_fit_the_first_stay_as_they_are() -> None:
    found = read("1,2,3\na,b,c,d\na,b,c,d\n", "odd.csv")
    assert found.text == "1,2,3\na,b,c,d\na,b,c,d\n"
    assert "do not fit its first row" in (found.warning or "")
    assert found.places[-1].label == "row 3"


def test_a_longer_row_among_many_loses_nothing() -> None:
    found = read("a,b\n" + "1,2\n" * 20 + "3,4,extra\n", "a.csv")
    assert found.text.startswith("| a | b | column 3 |")
    assert "| 3 | 4 | extra |" in found.text


def test_a_quote_that_is_never_closed_costs_no_rows() -> None:
    found = read('name,quote\neve,"x\ny"\nada,"never closed\nbob,x\n', "a.csv")
    assert "| ada | never closed |\n| bob | x |" in found.text
    assert "| eve | x y |" in found.text
    assert "row 3" in (found.warning or "")


def test_a_field_of_megabytes_is_read() -> None:
    assert len(read('id,blob\n1,"' + "x" * 2_000_000 + '"\n', "a.csv").text) > 2_000_000


def test_zeros_in_a_csv_are_left_out() -> None:
    found = read(b"name,city\nada,Be\x00rn\nbob,Thun and Spiez\n", "a.csv")
    assert "| ada | Bern |" in found.text
    assert "zero bytes" in (found.warning or "")


def test_a_japanese_csv_is_read() -> None:
    found = read("名前,年齢,住所\n佐藤太郎,30,東京\n髙橋淳,35,名古屋\n".encode("cp932"), "a.csv")
    assert "| 髙橋淳 | 35 | 名古屋 |" in found.text


def test_four_hundred_columns_become_lines_under_a_heading() -> None:
    header = ",".join(f"c{n}" for n in range(400))
    found = read(header + "\n" + ",".join(f"v{n}" for n in range(400)) + "\n", "wide.csv")
    assert found.text.startswith("## Row 2: v0\n\nc0: v0\nc1: v1\n")
    assert "\nc399: v399\n" in found.text
    assert [place.label for place in found.places] == ["row 2"]


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), max_size=12)


@given(st.lists(st.lists(cells, min_size=2, max_size=5), min_size=1, max_size=6))
def test_every_row_is_one_line_and_every_cell_is_there(table: list[list[str]]) -> None:
    rows = [Row(n, [cell_text(cell) for cell in row]) for n, row in enumerate(table, start=1)]
    out = Stretches()
    TableWriter(out, lambda number: f"row {number}", level=1).write(rows)
    for row in rows:
        for cell in row.cells:
            assert cell.replace("|", "") in out.text.replace("\\", "").replace("|", "") or "\\" in cell
    filled = [row for row in rows if any(row.cells)]
    assert all(line.startswith("|") == line.endswith("|") or not line.startswith("|") for line in out.text.split("\n"))
    assert len({place.label for place in out.places}) == len(filled)


def test_a_workbook_is_headings_tables_and_rows() -> None:
    rows = {1: ["name", "price"], 2: ["Soup", 4.5], 3: ["Bread", 12.0]}
    found = read(workbook({"Prices": sheet_xml(rows), "Empty": sheet_xml({})}), "shop.xlsx")
    assert found.text == "# Prices\n\n| name | price |\n|---|---|\n| Soup | 4.5 |\n| Bread | 12 |\n\n"
    at = found.text.index("Bread")
    assert place_of(found.places, at, at + 5) == "sheet Prices, row 3"


def test_numbers_are_shown_in_their_formats() -> None:
    formats = ["0.0%", '#,##0.00 "€"', "yyyy-mm-dd", "[h]:mm", "0000"]
    rows = {1: ["share", "price", "day", "time", "code"], 2: [(0.153, 1), (1234.5, 2), (45352, 3), (1.5, 4), (7, 5)]}
    found = read(workbook({"S": sheet_xml(rows)}, formats), "a.xlsx")
    assert "| 15.3% | 1,234.50 € | 2024-03-01 | 36:00 | 0007 |" in found.text


def test_blank_rows_and_columns_part_tables_and_a_part_without_header_goes_on() -> None:
    rows = {
        2: ["a", "b", None, "x", "y"],
        3: ["1", "2", None, "3", "4"],
        4: ["5", "6", None, "7", "8"],
        6: ["9", "10", None, None, None],
    }
    found = read(workbook({"S": sheet_xml(rows)}), "a.xlsx")
    assert "| a | b |\n|---|---|\n| 1 | 2 |\n| 5 | 6 |\n" in found.text
    assert "| x | y |\n|---|---|\n| 3 | 4 |\n| 7 | 8 |\n" in found.text


def test_a_label_beside_a_blank_column_stays_with_its_value() -> None:
    band = [Row(1, ["Total", "", "42"]), Row(2, ["Tax", "", "8"])]
    assert [[row.cells for row in part] for part in sub_tables(band)] == [[["Total", "42"], ["Tax", "8"]]]


def test_a_cell_merged_downwards_stands_in_each_row() -> None:
    rows = {1: ["kind", "name"], 2: ["fruit", "apple"], 3: [None, "pear"]}
    found = read(workbook({"S": sheet_xml(rows, merged=["A2:A3"])}), "a.xlsx")
    assert "| fruit | pear |" in found.text


def test_hidden_sheets_are_left_out_and_named() -> None:
    shown, secret = sheet_xml({1: ["shown"]}), sheet_xml({1: ["secret"]})
    found = read(workbook({"Open": shown, "Salaries": secret}, hidden=["Salaries"]), "a.xlsx")
    assert "secret" not in found.text
    assert "Salaries" in (found.warning or "")


def test_formulas_give_the_value_that_is_held_and_a_warning_without_one() -> None:
    extra = '<row r="2"><c r="A2"><f>1+1</f><v>2</v></c><c r="B2"><f>A2*2</f></c></row>'
    found = read(workbook({"S": sheet_xml({1: ["a", "b"]}, extra=extra)}), "a.xlsx")
    assert "| 2 |" in found.text
    assert "1 formulas" in (found.warning or "")


def test_a_cell_far_out_is_refused_before_the_library_makes_room_for_it() -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    with pytest.raises(RagstoneError, match="lie too far apart") as caught:
        read(workbook({"S": sheet_xml({1: ["a"]}, extra=far)}), "far.xlsx")
    assert caught.value.code == ErrorCode.UNREADABLE_DOCUMENT


def test_what_is_no_workbook_says_so() -> None:
    with pytest.raises(RagstoneError, match="no Excel workbook"):
        read(zipped({"words.txt": "words"}), "a.xlsx")
    locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(RagstoneError, match="password"):
        read(locked, "locked.xlsx")


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1234567.0, "#,##0", "1,234,567"), (0.5, "0%", "50%"), (2.675, "0.00", "2.68"), (-3.0, "0;(0)", "(3)"),
        (-3.0, "#,##0.00", "-3.00"), (5.0, "[$€-407]#,##0.00", "€5.00"), (1.5, "0.0##", "1.5"),
        (0.0, '0;-0;"none"0', "none0"),
        (1.5, "# ?/?", "1.5"), (1e20, "0.00", "1e+20"), (3.0, "[>2]0;0.0", "3"), (2500000.0, "0.0,,", "2.5"),
        (3.0, ";;;", "3"), (0.1 + 0.2, "General", "0.3"), (float("nan"), "0", "nan"),
    ],
)  # fmt: skip
def test_number_formats(value: float, code: str, shown: str) -> None:
    assert shown_number(value, code) == shown


@given(st.floats(allow_nan=False, allow_infinity=False), st.text("#0?,.%;()\"'[]$€-_* eE/@yd", max_size=12))
def test_no_format_stops_a_number(value: float, code: str) -> None:
    assert shown_number(value, code) is not None
    assert plain_number(value)


def test_dates_and_times_as_people_write_them() -> None:
    assert shown_date(datetime.datetime(2024, 3, 1)) == "2024-03-01"
    assert shown_date(datetime.datetime(2024, 3, 1, 14, 30)) == "2024-03-01 14:30"
    assert shown_date(datetime.time(9, 5, 7)) == "09:05:07"
    assert shown_date(datetime.timedelta(hours=30, seconds=5)) == "30:00:05"
