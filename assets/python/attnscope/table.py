"""Results as rows: for a notebook as HTML, for pandas as a frame."""
import html
import importlib
from typing import Any, Dict, List

Row = Dict[str, Any]
MOST_ROWS = 200  # that a notebook shows


def cell(value: Any) -> str:
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return html.escape(text)


def html_table(rows: List[Row], caption: str = "") -> str:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    head = "".join(f"<th>{cell(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell(row.get(column))}</td>" for column in columns) + "</tr>" for row in rows[:MOST_ROWS])
    more = f"<p>{len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><caption>{cell(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


class Table:
    """What has rows."""

    def rows(self) -> List[Row]:
        raise NotImplementedError

    def caption(self) -> str:
        return ""

    def frame(self) -> Any:
        """A pandas DataFrame of the rows. ImportError: pandas is not installed (pip install pandas)."""
        return importlib.import_module("pandas").DataFrame(self.rows())

    def _repr_html_(self) -> str:
        return html_table(self.rows(), self.caption())
