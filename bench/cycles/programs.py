"""The programs of ./dev bench cycles, and their inputs."""

import json
import os
import random
import shutil


def write_inputs(directory):
    """The same inputs on every machine."""
    dice = random.Random(7)
    words = ["".join(dice.choices("etaoinshrdlucmfw", k=dice.randint(2, 9))) for _ in range(4000)]
    lines = [" ".join(words[int(dice.paretovariate(0.8)) % 4000] for _ in range(9)) for _ in range(60000)]
    text = "\n".join(lines) + "\n"
    records = [{"id": i, "name": words[i % 4000], "values": [dice.randint(0, 9999) for _ in range(5)]}
               for i in range(12000)]
    functions = []
    for i in range(28):
        body = "".join(f"  case {k}: a += b * {dice.randint(2, 99)} ^ (c >> {dice.randint(1, 9)}); "
                       f"if (a > {dice.randint(9, 9999)}) c -= t[{k}]; break;\n" for k in range(9))
        functions.append(f"int f{i}(int a, int b, int c, int *t) {{\n for (int i = 0; i < b; i++) switch (t[i] % 9) {{\n"
                         f"{body} }}\n return a + {f'f{i - 1}(b, c, a, t)' if i else 'c'};\n}}\n")
    files = {"text": text[:3_000_000], "short": text[:1_000_000], "tiny": text[:200_000], "json": json.dumps(records),
             "c.c": "".join(functions),
             "py": "s = 0\nfor i in range(1500000):\n    s += i * 3 % 7\nprint(s)\n",
             "pl": "my (%h, $s); for my $i (1 .. 600000) { $h{$i % 5000} .= 'x'; $s += length $h{$i % 77} } print $s;\n",
             "sql": "create table t (a integer, b text);\nwith recursive n(i) as (select 1 union all select i + 1 from n "
                    "where i < 150000) insert into t select i * 7919 % 10007, 'v' || i from n;\ncreate index x on t (a);"
                    "\nselect count(*), sum(length(b)) from t where a % 3 = 1;\nselect a, count(*) from t group by a "
                    "order by 2 limit 3;\n"}
    for name, content in files.items():
        with open(os.path.join(directory, name), "w") as file:
            file.write(content)


def programs(directory, build):
    """(name, command, whether hot blocks are taken from it), with programs of Debian by their full paths."""
    def at(name): return os.path.join(directory, name)
    own = build + "/bench_programs"
    rows = [("bzip2", ["bzip2", "-c", at("short")], True),
            ("gzip", ["gzip", "-c", at("text")], True),
            ("xz -1", ["xz", "-1", "-T1", "-c", at("text")], True),
            ("python3", ["python3", at("py")], True),
            ("perl", ["perl", at("pl")], True),
            ("sqlite3", ["sqlite3", ":memory:", ".read " + at("sql")], True),
            ("gcc -O2", ["gcc", "-O2", "-S", "-o", "/dev/null", at("c.c")], True),
            ("openssl", ["openssl", "dgst", "-sha512", *[at("text")] * 25], True),
            ("sort", ["sort", "--parallel=1", *[at("text")] * 6], True),
            ("jq", ["jq", "-c", "[.[] | select(.id % 3 == 0) | {name, sum: (.values | add)}] | length", at("json")], True),
            ("awk", ["awk", "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w] * length(w); print s }",
                     at("text")], True),
            ("grep", ["grep", "-cE", r"(.)(.)(.).*\3\2\1", at("tiny")], True),
            ("sed", ["sed", "-E", r"s/([a-f]+)([^ ]*)( .*)/\2\1\3/; s/(.*) (.*)/\2 \1/", at("short")], False),
            ("b2sum", ["b2sum", *[at("text")] * 40], False),
            ("wc -m", ["wc", "-mwL", *[at("text")] * 6], False),
            ("matmul, rows", [own, "rows", "700"], False),
            ("matmul, columns", [own, "columns", "450"], False),
            ("sort of numbers", [own, "sort", "1500000"], False),
            ("chase 512 KiB", [own, "chase", "512", "4000"], False),
            ("chase 64 MiB", [own, "chase", "65536", "1"], False)]
    found = []
    for name, command, hot in rows:
        path = shutil.which(command[0], path="/usr/bin:/bin") if "/" not in command[0] else command[0]
        if path:
            found.append((name, [path, *command[1:]], hot))
        else:
            print(f"  skipped: {name} is not installed")
    return found
