"""Range: what a CalendarPicker says and holds for the first and the last of its days."""

from chatkit.flowjson.build.kinds import Flag
from chatkit.flowjson.build.piece import Piece, piece
from chatkit.flowjson.property import Property, Shape

RANGE = Shape(
    "range",
    "One value for the first day and one for the last.",
    (
        Property("start-date", "text", "For the first day."),
        Property("end-date", "text", "For the last day."),
    ),
)


@piece(RANGE)
class Range(Piece):
    """One value for the first day of a stay and one for the last.

    >>> Range("Arrival", "Departure").to_json()
    {'start-date': 'Arrival', 'end-date': 'Departure'}
    """

    start_date: str | Flag
    end_date: str | Flag
