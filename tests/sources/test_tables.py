"""Tables of people: CSV in its dialects, JSON lines and Parquet."""

import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoequiv.errors import DataError
from egoequiv.sources.tables import read_table


def written(folder: Path, text: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "t,x,name\n0.5,1,a\n1.5,2,b\n",
        "t;x;name\r\n0.5;1;a\r\n1.5;2;b\r\n",
        "t\tx\tname\n0.5\t1\ta\n1.5\t2\tb",
        "t x name\n0.5 1  a\n1.5 2 b \n",
        "t, x, name\n0.5, 1, a\n1.5, 2, b\n",
        "\ufefft,x,name\n0.5,1,a\n1.5,2,b\n",
        "# made by hand\n\nt,x,name\n# more\n0.5,1,a\n1.5,2,b\n",
        "#t,x,name\n0.5,1,a\n1.5,2,b\n",
        "# a drive\n# t x name\n0.5 1 a\n1.5 2 b\n",
        't,x,name\n0.5,1,"a"\n1.5,2,b,\n',
    ],
)
def test_dialects(tmp_path: Path, text: str) -> None:
    table = read_table(written(tmp_path, text))
    assert list(table.columns) == ["t", "x", "name"]
    np.testing.assert_array_equal(table.numbers("t"), [0.5, 1.5])
    np.testing.assert_array_equal(table.numbers("x"), [1, 2])
    assert table.numbers("x").dtype == np.int64
    assert table.texts("name") == ["a", "b"]


def test_utf_16_quoted_newlines_and_unicode(tmp_path: Path) -> None:
    text = 'x,name\n1,"two\nlines, and # a comma"\n2,日本\n'
    for encoding in ("utf-8", "utf-16"):
        table = read_table(written(tmp_path, text.encode(encoding)))
        assert table.texts("name") == ["two\nlines, and # a comma", "日本"]
        assert table.lines.tolist() == [3, 4]


def test_long_stamps_keep_their_digits_and_dates_are_times(tmp_path: Path) -> None:
    path = written(tmp_path, "t,d,x\n1403636579763555584,2024-05-01T00:00:00.25Z,\n1403636579763555585,2024-05-01,2\n")
    table = read_table(path)
    assert table.numbers("t").tolist() == [1403636579763555584, 1403636579763555585]
    assert table.times("d").tolist() == [1714521600250000000, 1714521600000000000]
    np.testing.assert_array_equal(table.numbers("x"), [np.nan, 2])


def test_json_lines_flatten_objects_and_leave_lists_out(tmp_path: Path) -> None:
    text = '{"pose": {"x": 1, "y": 2.5}, "joints": [1, 2], "f": "a"}\n\n{"pose": {"x": 3}, "f": "b"}\n'
    table = read_table(written(tmp_path, text, "log.jsonl"))
    assert list(table.columns) == ["pose.x", "pose.y", "f"]
    assert table.numbers("pose.x").tolist() == [1, 3]
    np.testing.assert_array_equal(table.numbers("pose.y"), [2.5, np.nan])
    assert "joints" in table.notes[0]


def test_parquet_with_structs_times_lists_and_bytes(tmp_path: Path) -> None:
    columns = {
        "t": pa.array([1, 2], pa.timestamp("us")),
        "p": pa.array([{"x": 1.0}, {"x": 2.0}]),
        "l": pa.array([[1.0], [2.0]]),
        "b": pa.array([b"1", b"2"]),
        "n": pa.array([1, None]),
        "d": pa.array(["a", "b"]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    table = read_table(tmp_path / "log.parquet")
    assert table.numbers("t").tolist() == [1000, 2000]
    assert table.numbers("p.x").tolist() == [1, 2]
    np.testing.assert_array_equal(table.numbers("n"), [1, np.nan])
    assert table.texts("d") == ["a", "b"]
    assert "l, b" in table.notes[0]


def test_a_cut_last_line_is_a_note_and_many_broken_ones_are_refused(tmp_path: Path) -> None:
    whole = "x,y\n" + "1,2\n" * 30
    table = read_table(written(tmp_path, whole + "1"))
    assert len(table) == 30
    assert "line 32 has 1 cells, expected 2" in table.notes[0]
    assert "cut short" in read_table(written(tmp_path, whole + '1,"2')).notes[0]
    with pytest.raises(DataError, match="line 2 has 4 cells, expected 2: are there decimal commas"):
        read_table(written(tmp_path, "x,y\n1,5,2,5\n1,6,2,5\n"))


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"0.1,1,2\n0.2,1,2\n", "has no header"),
        (b"x,x\n1,2\n", "two columns of the name 'x'"),
        (bytes(100), "zero bytes"),
        (b"x,y\n\xe9,2\n", "UTF-8"),
        (pickle.dumps({"x": [1]}), "a pickle"),
        (b"\x1f\x8b123", "a gzip file"),
    ],
)
def test_what_is_no_table_is_named(tmp_path: Path, contents: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as raised:
        read_table(written(tmp_path, contents))
    assert "\n" not in str(raised.value)


def test_a_zip_under_any_name_is_refused(tmp_path: Path) -> None:
    for name in ("log.csv", "log.jsonl", "log.parquet"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("a", "x,y\n1,2\n")
        with pytest.raises(DataError, match=name):
            read_table(tmp_path / name)
    with pytest.raises(DataError, match="cannot be read"):
        read_table(tmp_path / "none.csv")


@pytest.mark.parametrize("text", ["[1, 2]\n[3]\n", "x,y\n1,2\n3,4\n", "[" * 100_000 + "\n" + "{" * 9 + "\n"])
def test_lines_that_are_no_objects(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match="line 1 is not a JSON object"):
        read_table(written(tmp_path, text, "log.jsonl"))


def test_values_that_are_no_numbers_are_named_with_their_place(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, "x;y\n1,5;a\n2,5;b\n"))
    with pytest.raises(DataError, match=r"log\.csv, line 2, column 'x': '1,5' has a decimal comma"):
        table.numbers("x")
    with pytest.raises(DataError, match=r"log\.csv, line 2, column 'y': expected a number, found 'a'"):
        table.numbers("y")


def test_a_text_that_is_too_large_for_memory_is_refused_by_its_size(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n1,2\n")
    os.truncate(path, 2**36)
    with pytest.raises(DataError, match=r"log\.csv has 68,719,476,736 bytes, expected at most .* write it as Parquet"):
        read_table(path)


@pytest.mark.parametrize("end", ["", '"'])
def test_a_quote_that_swallows_rows_is_counted(tmp_path: Path, end: str) -> None:
    rows = [f"{k},{k},ok" for k in range(200)]
    rows[20] = '20,20,"tes'
    rows[180] = f"180,180,ok{end}"
    (tmp_path / "log.csv").write_text("\n".join(["a,b,c", *rows, ""]))
    count, where = (160, "a cell") if end else (179, "line 22")
    with pytest.raises(DataError, match=rf"{where}: a quote without its end takes {count} lines"):
        read_table(tmp_path / "log.csv")
    rows = [f"{k},{k},ok" for k in range(200)]
    rows[190] = '190,190,"tes'
    (tmp_path / "log.csv").write_text("\n".join(["a,b,c", *rows, ""]))
    table = read_table(tmp_path / "log.csv")
    assert len(table) == 190
    assert any("9 lines left out" in note for note in table.notes)


def test_a_cell_may_have_several_lines(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text('a,b\n1,"one\ntwo\nthree"\n2,x\n')
    table = read_table(tmp_path / "log.csv")
    assert (len(table), table.notes) == (2, ())
