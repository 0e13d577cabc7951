"""Runs a Python script as the interpreter would, in a region with the script's name: `tally stat --from-script` starts
this file, and `python3 -m tally SCRIPT` imports it. It needs no other file of the package."""
import builtins
import ctypes
import os
import signal
import sys
import types


def load_library():
    """Returns libtally. Ends with the exit code 125 if it is not found."""
    here = os.path.dirname(os.path.abspath(__file__))
    chosen = os.environ.get("TALLY_LIBRARY")
    # A build tree, an unpacked archive, the system.
    places = [os.path.join(here, "libtally.so.0"), os.path.join(here, "../../lib/libtally.so.0"), "libtally.so.0"]
    for place in [chosen] if chosen else places:
        try:
            return ctypes.PyDLL(place)
        except OSError as error:
            why = str(error)
    sys.stderr.write(f"tally: cannot load libtally: {why}\n       install the package libtally0, or set TALLY_LIBRARY to "
                     "the path of libtally.so.0\n")
    sys.exit(125)


def _full_name(script):
    """Returns the name that the interpreter gives to a script: since Python 3.9, with the current directory."""
    is_full = os.path.isabs(script) or sys.version_info < (3, 9)
    return script if is_full else os.path.join(os.getcwd(), script)


def _compiled(script):
    try:
        with open(script, "rb") as file:
            text = file.read()
    except OSError as error:
        # The message and exit code of the interpreter.
        sys.stderr.write(f"{sys.executable}: can't open file {script!r}: [Errno {error.errno}] "
                         f"{error.strerror}\n")
        sys.exit(2)
    return compile(text, script, "exec", dont_inherit=True)


def _main_module(script):
    main = types.ModuleType("__main__")
    main.__file__ = script
    main.__cached__ = None
    main.__builtins__ = builtins
    main.__annotations__ = {}
    sys.modules["__main__"] = main
    return main


def _report(error, traceback):
    """Prints an exception as if the script were the outermost caller. Ends the process if Ctrl-C ended the script."""
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)
    if isinstance(error, KeyboardInterrupt):
        sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(1)


def run(library):
    """Runs the script sys.argv[1] with the arguments after it."""
    del sys.argv[0]
    script = sys.argv[0]
    begin, end = library.tally_region_begin, library.tally_region_end
    begin.argtypes = end.argtypes = [ctypes.c_char_p]
    name = os.fsencode(os.path.basename(script))
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    try:
        full_name = _full_name(script)
        code = _compiled(full_name)
        names = vars(_main_module(full_name))
        begin(name)
        try:
            exec(code, names)
        finally:
            end(name)
    except SystemExit:
        raise
    except BaseException as error:
        traceback = error.__traceback__.tb_next
        while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
            traceback = traceback.tb_next
        _report(error, traceback)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python3 _script.py SCRIPT [arguments]")
    run(load_library())
