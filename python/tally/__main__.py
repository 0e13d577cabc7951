"""python3 -m tally SCRIPT [arguments]: runs a script in a region with the script's name."""
import sys

from . import _script
from ._library import Error, load

if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.exit("usage: python3 -m tally SCRIPT [arguments]\n"
             "Runs a script in a region with the script's name; `tally stat --from-script` does the same.")
try:
    library = load()
except Error as error:
    sys.exit(f"tally: {error}")
_script.run(library)
