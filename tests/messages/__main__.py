"""Write messages.txt anew: `python -m messages` in the folder tests. Read what has changed."""

from messages.provoke import SNAPSHOT, everything, written

SNAPSHOT.write_text(written(everything()), "utf-8")
print(f"{SNAPSHOT.name} is written: read what git diff shows of it.")
