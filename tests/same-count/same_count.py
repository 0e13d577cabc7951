"""Counts the instructions of programs with fixed CPU models, and compares them with counts.tsv.

same_count.py TALLY [--update] [--host] [--only NAME] [--repeat N] [--vary] [--tried-only]

With --cpu-model x86-64-v2 and x86-64-v3, --repeatable, --environment fixed and --clock counted, the counts must be the
same on every machine. A row applies to the versions of packages that it names: other versions are skipped by name.
--update adds the rows that are missing, unless the runs of --repeat differ, and the name of this processor to the rows
that agree. --host also prints the counts with the real processor. --vary: each run has another environment, another name
of its directory, and every second one starts without address randomisation. Exit code 1: a count differs; 77: nothing
could be compared. --tried-only: 77, too, if a count differs on a processor that no row names. If a count differs, the
output lists what the program read that may differ, and the files that it opened, with their checksums.
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
table = os.path.join(here, "counts.tsv")
models = ["x86-64-v2", "x86-64-v3"]
libc = ["libc6"]
python = "/usr/bin/python3.11"

# Name: command, standard input, packages whose versions matter in addition to the C library's.
programs = {
    "bzip2": (["/bin/bzip2", "-c", "numbers"], None, ["bzip2", "libbz2-1.0"]),
    "gzip": (["/bin/gzip", "-nc", "numbers"], None, ["gzip"]),
    "xz": (["/usr/bin/xz", "-T1", "-1", "-c", "numbers"], None, ["xz-utils", "liblzma5"]),
    "sort": (["/usr/bin/sort", "--parallel=1", "-S", "8M", "numbers"], None, ["coreutils"]),
    "awk": (["/usr/bin/mawk", "{ s += length($0); n[substr($0, 1, 2)]++ } END { print s, length(n) }", "numbers"], None,
            ["mawk"]),
    # Without -init it searches the user in /etc/passwd, for a file of settings in the home directory.
    "sqlite3": (["/usr/bin/sqlite3", "-init", "/dev/null", ":memory:"],
                "create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<3000) "
                "insert into t select x*7919%3001, 'row'||x from c; select sum(a), max(b) from t where b like '%9%';",
                ["sqlite3", "libsqlite3-0", "libreadline8", "libtinfo6", "zlib1g"]),
    "perl": (["/usr/bin/perl", "-e", "my %h; $h{$_ % 997} .= $_ for 1..9000; print scalar(keys %h), length(join '', "
              "sort values %h), \"\\n\""], None, ["perl-base", "libcrypt1"]),
    "python3": ([python, "-P", "-s", "-S", "-B", "-c", "print(sum(len(str(i)) for i in range(9000)))"], None,
                ["python3.11-minimal", "libpython3.11-minimal", "libexpat1", "zlib1g"]),
    "openssl": (["/usr/bin/openssl", "dgst", "-sha256", "numbers"], None, ["openssl", "libssl3"]),
    "jq": (["/usr/bin/jq", "-c", "[range(2000)] | map(. * 3) | add"], "null", ["jq", "libjq1", "libonig5"]),
    # Without -nostdinc it searches directories of headers.
    "gcc": (["/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "-quiet", "-O2", "-nostdinc", "-fpreprocessed", "-o", "/dev/null",
             "records.i"], None, ["cpp-12", "libisl23", "libmpc3", "libmpfr6", "libgmp10", "libzstd1", "zlib1g"]),
}
for name in ["strings", "matrix", "records", "numbers"]:
    programs["own " + name] = (["./" + name + "_program"], None, ["gcc-12"])


# The dynamic linker would search its cache, which names all libraries of the machine.
common_variables = {"LD_LIBRARY_PATH": "/lib/x86_64-linux-gnu"}
# A variable is given to the program that needs it alone: each one makes all programs execute more instructions.
variables = {"python3": {"PYTHONPATH": "/proc/self/cwd/modules"},
             # The administrator may have changed /etc/ssl/openssl.cnf.
             "openssl": {"OPENSSL_CONF": "/dev/null"}}


def default_signals():
    """gzip, xz and sort install a handler only for a signal that is not ignored, as it is in background jobs."""
    for one in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(one, signal.SIG_DFL)


def run(words, **options):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options).stdout


def version_of(package):
    try:
        return run(["dpkg-query", "-W", "-f", "${Version}", package])
    except (OSError, subprocess.CalledProcessError):
        return ""


def small_numbers(folder):
    """How many device and inode numbers are at most 256, of what Python asks about when it starts: they need no memory."""
    paths = ["/usr/lib/python3.11", "/usr/lib/python3.11/os.py", "/usr/lib/python3.11/lib-dynload", folder,
             os.path.join(folder, "modules"), os.path.join(folder, "modules/encodings")]
    found = [os.stat(path) for path in paths if os.path.exists(path)]
    return sum(number <= 256 for one in found for number in (one.st_dev, one.st_ino))


def processor():
    facts = {}
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            key, _, value = line.partition(":")
            facts.setdefault(key.strip(), value.strip())
    name = facts["model name"].replace(",", "")  # names are separated by commas
    try:
        with open("/sys/class/dmi/id/sys_vendor", encoding="utf-8") as file:
            machine = " in QEMU" if file.read().strip() == "QEMU" else ""
    except OSError:
        machine = ""
    return f"{name} ({facts['cpu family']}/{facts['model']}/{facts['stepping']}){machine}"


def prepare(folder):
    """Writes the input, and compiles the programs of this directory."""
    with open(os.path.join(folder, "numbers"), "w", encoding="ascii") as file:
        value = 1
        for _ in range(6000):
            value = value * 48271 % 2147483647
            file.write(f"{value % 100000} {value:x}\n")
    # Python lists the directories of its modules, in which other packages have files, too.
    encodings = os.path.join(folder, "modules", "encodings")
    os.makedirs(encodings)
    for name in ["__init__", "aliases", "utf_8"]:
        if os.path.exists(f"/usr/lib/python3.11/encodings/{name}.py"):
            shutil.copy(f"/usr/lib/python3.11/encodings/{name}.py", encodings)
    if os.path.exists(python):
        run([python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "modules"], cwd=folder)
    compiler = shutil.which("gcc-12")
    if compiler is None:
        return
    for name in ["strings", "matrix", "records", "numbers"]:
        source = os.path.join(here, "programs", name + ".c")
        run([compiler, "-O2", "-o", os.path.join(folder, name + "_program"), source, "-lm"])
    # The path of the source would be in the preprocessed text.
    shutil.copy(os.path.join(here, "programs", "records.c"), folder)
    run([compiler, "-E", "-P", "-o", "records.i", "records.c"], cwd=folder)


sources_read = {}  # of each program, in its last run


def described(path):
    """The path of a file with what it contains."""
    if os.path.isdir(path):
        return f"{path}: {len(os.listdir(path))} entries"
    try:
        with open(path, "rb") as file:
            content = file.read() if os.path.isfile(path) else b""
    except OSError as error:
        return f"{path}: {error.strerror}"
    return f"{path}: {len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()[:16]}"


def files_of(program, folder):
    """The files that a native run opens or searches for, outside of its directory."""
    strace = shutil.which("strace")
    if strace is None:
        return ["unknown: strace is not installed"]
    words, text, _ = programs[program]
    trace = os.path.join(os.path.dirname(folder), "trace")
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C", "TZ": "UTC0",
                   "TERM": "dumb"} | common_variables | variables.get(program, {})
    subprocess.run([strace, "-f", "-s", "1000", "-e", "trace=%file,connect", "-o", trace, *words], cwd=folder, check=False,
                   env=environment, input=text or "", text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    paths = set()
    with open(trace, encoding="utf-8", errors="replace") as file:
        for line in file:
            paths.update(re.findall(r'"(/[^"]+)"', line))
    # The linker searches for libraries in directories that do not exist.
    return [described(path) for path in sorted(paths) if os.path.exists(path) and not path.startswith(("/proc/", "/dev/"))]


def explain(program, folder):
    """Prints what may have made a count differ."""
    def name(code):
        return "" if code is None else f"{code['function'] or '?'} of {code['file']}"
    for one in sources_read.get(program, []):
        by = " < ".join(filter(None, [name(one["first"]), name(one["caller"])]))
        print(f"    read {one['source']}, {one['count']:,} times, answered by {one['answer'] or 'the machine'}; first {by}")
    for line in files_of(program, folder):
        print(f"    file {line}")


def count(tally, model, program, folder, number=0):
    """`number`: of the variation; 0: none."""
    words, text, _ = programs[program]
    result = os.path.join(os.path.dirname(folder), "result.json")
    own = common_variables | variables.get(program, {})
    command = [tally, "stat", "-q", "--backend", "engine", "--cpu-model", model, "--repeatable",
               "--environment", ",".join(["fixed", *own]), "--clock", "counted", "-e", "instructions",
               "--format", "json", "-o", result, "--", *words]
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/nonexistent", "TALLY_CACHE_DIR": ""} | own
    if number > 0:
        environment |= {"VARIATION": "x" * (97 * number), "LANG": "en_GB.UTF-8", "USER": "u" * number}
        another = folder + "-" + "n" * (3 * number)
        if not os.path.exists(another):
            shutil.copytree(folder, another)
        folder = another
        if number % 2 == 1 and shutil.which("setarch"):
            command = [shutil.which("setarch"), "-R", *command]
    # A file, because the number of reads of a pipe varies.
    with tempfile.TemporaryFile("w+") as given:
        given.write(text or "")
        given.seek(0)
        done = subprocess.run(command, cwd=folder, env=environment, stdin=given, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False, preexec_fn=default_signals)
    if done.returncode != 0:
        return None, done.stderr.strip().split("\n")[0]
    with open(result, encoding="utf-8") as file:
        found = json.load(file)
    total = found["events"][0]
    sources_read[program] = found["runs"][0].get("nondeterminism", [])
    return (total["value"], "") if total["trust"] == "exact" else (None, f"{total['trust']}: {total['reason']}")


def read_rows():
    rows = {}
    if os.path.exists(table):
        with open(table, encoding="utf-8") as file:
            for line in file:
                if not line.startswith("#"):
                    program, versions, model, value, agreed = line.rstrip("\n").split("\t")
                    rows[program, versions, model] = [int(value), agreed.split(", ")]
    return rows


def write_rows(rows):
    with open(table, "w", encoding="utf-8") as file:
        file.write("# Instructions with --cpu-model and --repeatable: same_count.py --update writes this file.\n")
        file.write("# program\tversions\tCPU model\tinstructions\tprocessors that agreed\n")
        for (program, versions, model), (value, agreed) in sorted(rows.items()):
            file.write(f"{program}\t{versions}\t{model}\t{value}\t{', '.join(agreed)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tally")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--vary", action="store_true")
    parser.add_argument("--tried-only", action="store_true")
    options = parser.parse_args()
    options.tally = os.path.abspath(options.tally)
    rows, here_is = read_rows(), processor()
    equal = different = 0
    print(f"processor: {here_is}; kernel {os.uname().release}")
    # Some programs read the name of their directory: it has the same length on every machine.
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch:
        folder = os.path.join(scratch, "work")
        os.mkdir(folder)
        prepare(folder)
        for program, (words, _, packages) in programs.items():
            if options.only and options.only != program:
                continue
            path = words[0] if words[0].startswith("/") else os.path.join(folder, words[0])
            versions = " ".join(f"{package}={version_of(package)}" for package in [*packages, *libc])
            if not os.path.exists(path) or any(not version_of(package) for package in [*packages, *libc]):
                print(f"{program}: skipped: not installed ({versions})")
                continue
            if program == "python3":
                versions += f" small-file-numbers={small_numbers(folder)}"
            for model in models:
                counts = {count(options.tally, model, program, folder, i if options.vary else 0)
                          for i in range(options.repeat)}
                (value, why), row = min(counts, key=str), rows.get((program, versions, model))
                if len(counts) > 1:
                    different += row is not None
                    print(f"{program}: {model}: the runs differ: {sorted(counts, key=str)}")
                    explain(program, folder)
                elif value is None:
                    print(f"{program}: {model}: skipped: {why}")
                elif row is None:
                    print(f"{program}: {model}: {value:,}: skipped: no row for {versions}")
                    if options.update:
                        rows[program, versions, model] = [value, [here_is]]
                elif row[0] == value:
                    equal += 1
                    print(f"{program}: {model}: {value:,}: equal; agreed: {', '.join(row[1])}")
                    if options.update and here_is not in row[1]:
                        row[1].append(here_is)
                else:
                    different += 1
                    print(f"{program}: {model}: {value:,} instead of {row[0]:,} ({', '.join(row[1])})")
                    explain(program, folder)
            if options.host:
                print(f"{program}: host: {count(options.tally, 'host', program, folder)[0] or 0:,}")
    if options.update:
        write_rows(rows)
    print(f"{equal} equal, {different} different")
    if different and options.tried_only and all(here_is not in agreed for _, agreed in rows.values()):
        print(f"skipped: nobody has compared {here_is} yet")
        return 77
    return 1 if different else 0 if equal else 77


sys.exit(main())
