"""Set the clock of each Python process that has this folder in its PYTHONPATH to another day.

Kernels and subprocesses inherit it, so a notebook is run on that day from its first cell on.
The clock goes on from TODAY (ISO 8601); `time.monotonic` is not touched.
"""

import os

import time_machine

time_machine.travel(os.environ["TODAY"], tick=True).start()
