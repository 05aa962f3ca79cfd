"""Parquet: columns with types, and maybe the index that pandas has put among them."""

from __future__ import annotations

from io import BytesIO

import pandas as pd

from chatkit.errors import InputError
from chatkit.files.table import Row, Table


def read(data: bytes) -> Table:
    """Read a file. Its rows count from 1.

    Raises:
        InputError: It is broken.
    """
    try:  # the types of Arrow: whole numbers stay whole numbers beside an empty cell
        frame = pd.read_parquet(BytesIO(data), dtype_backend="pyarrow")
    except Exception as error:  # noqa: BLE001  pyarrow raises anything over a broken file
        raise InputError(f"This is no Parquet file that can be read ({error!r:.100}).") from None
    named = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(named) if named else frame
    columns = [frame.iloc[:, place].astype(object) for place in range(frame.shape[1])]
    cells = [column.where(column.notna(), None).tolist() for column in columns]
    rows = [Row(number, row) for number, row in enumerate(zip(*cells, strict=True), 1)]
    return Table("Parquet", [Row(0, list(map(str, frame.columns))), *rows], titled=False)
