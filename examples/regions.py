"""What do Python's own ways to join texts cost? Regions in Python, by the C functions of libtally.

    TALLY_OUTPUT=table python3 regions.py                   on a machine with a PMU
    TALLY_EVENTS=instructions tally stat -- python3 regions.py      on x86-64 anywhere

What Python executes to call the two functions is a part of every region: the region "nothing" shows how much.
"""
import contextlib
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libtally.so.0")
library.tally_error.restype = ctypes.c_char_p
uncounted = set()


@contextlib.contextmanager
def region(name):
    counted = library.tally_region_begin(name.encode()) == 0
    if not counted and not uncounted:
        uncounted.add(name)
        print(f"regions are not counted: {library.tally_error().decode()}; run it under `tally stat`", file=sys.stderr)
    try:
        yield
    finally:
        if counted:
            library.tally_region_end(name.encode())


words = [str(i) for i in range(1000)]
for _ in range(10):
    with region("nothing"):
        pass
    with region("join"):
        text = ",".join(words)
    with region("add"):
        text = ""
        for word in words:
            text += "," + word
print(len(text))
