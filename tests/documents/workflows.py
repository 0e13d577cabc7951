#!/usr/bin/env python3
"""Executes the CI files of docs/guides/ci.md as the services do, without these: the suite, the steps of the GitHub file and
the script of the GitLab file, in a repository with a C program. They must pass if nothing changed, fail for +1.1 %, and name
the function in the comment.

usage: workflows.py ROOT TALLY
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile

import yaml

PROGRAM = """__attribute__((noinline)) static unsigned parse(unsigned n) {
  unsigned x = n;
  for (unsigned i = 0; i < STEPS; i++) x = x * 1103515245 + 12345;
  return x;
}
__attribute__((noinline)) static unsigned render(unsigned n) {
  unsigned x = 0;
  for (unsigned i = 0; i < 100000; i++) x += i ^ n;
  return x;
}
int main(void) { return render(parse(1)) == 0; }
"""
# In place of the programs of the services: each writes what it was asked to `log`, and what it was to post to `posted`.
STUBS = {
    "gh": """echo "gh $*" >>"$STUBS/log"; cp "${@: -1}" "$STUBS/posted" """,
    "apt-get": """echo "apt-get $*" >>"$STUBS/log" """,
    "curl": """echo "curl $*" >>"$STUBS/log"
case "$*" in
  *.tar.xz) cp "$STUBS/tally.tar.xz" "$TALLY.tar.xz" ;;
  *per_page*) cat "$STUBS/notes" ;;
  *) for word; do case $word in body@*) cp "${word#body@}" "$STUBS/posted" ;; esac; done
     echo '[{"id": 7, "body": "<!-- tally --> old"}]' >"$STUBS/notes" ;;
esac""",
}


def run(script, folder, variables, shell=("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")):
    """Executes a script in a clean environment; the exit code and the output."""
    done = subprocess.run([*shell, script], cwd=folder, env=variables, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, check=False)
    return done.returncode, done.stdout


def blocks(text):
    return {name: body for name, body in re.findall(r"<!-- workflow: (\w+) -->\n```\w+\n(.*?)```\n", text, re.S)}


class Service:
    """A repository with two commits, and a service that checks out the second one."""

    def __init__(self, top, tally, suite):
        self.top, self.repository, self.stubs = top, f"{top}/repository", f"{top}/stubs"
        os.makedirs(f"{self.stubs}/bin")
        os.makedirs(self.repository)
        for name, body in STUBS.items():
            with open(f"{self.stubs}/bin/{name}", "w", encoding="utf-8") as file:
                file.write("#!/bin/bash\n" + body + "\n")
            os.chmod(file.name, 0o755)
        with open(f"{self.stubs}/notes", "w", encoding="utf-8") as file:
            file.write("[]\n")
        self.suite = suite
        # The archive of a release: here with a link to the built command.
        name = "tally-0.9.0-linux-x86_64"
        os.makedirs(f"{top}/{name}/bin")
        os.symlink(os.path.realpath(tally), f"{top}/{name}/bin/tally")
        subprocess.run(["tar", "-C", top, "-cJf", f"{self.stubs}/tally.tar.xz", name], check=True)
        with open(f"{self.stubs}/tally.tar.xz", "rb") as file:
            self.checksum = hashlib.sha256(file.read()).hexdigest()
        self.variables = {"PATH": f"{self.stubs}/bin:{os.environ['PATH']}", "HOME": top, "STUBS": self.stubs,
                          "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "test",
                          "GIT_CONFIG_KEY_1": "user.email", "GIT_CONFIG_VALUE_1": "test@localhost",
                          "TALLY_SHA256": self.checksum}
        self.git("init -q -b main .")
        self.commit(20000)

    def git(self, words):
        code, output = run(f"git {words}", self.repository, self.variables)
        assert code == 0, output

    def commit(self, steps):
        files = {"prog.c": PROGRAM, "tally-bench.toml": self.suite,
                 "Makefile": f"prog: prog.c\n\tgcc -O1 -g -DSTEPS={steps} -o prog prog.c\n"}
        for name, body in files.items():
            with open(f"{self.repository}/{name}", "w", encoding="utf-8") as file:
                file.write(body)
        self.git("add . && git commit -q --allow-empty -m change")

    def posted(self):
        with open(f"{self.stubs}/posted", encoding="utf-8") as file:
            return file.read()

    def log(self):
        with open(f"{self.stubs}/log", encoding="utf-8") as file:
            return file.read()

    def checkout(self):
        run(f"rm -rf {self.top}/checkout {self.top}/before {self.top}/temp; mkdir {self.top}/temp", self.top, self.variables)
        self.git(f"worktree prune && git worktree add -q -f --detach {self.top}/checkout HEAD")
        return f"{self.top}/checkout"


def run_github(service, text):
    """The exit code of the first step that failed, 0 if none did."""
    workflow = yaml.safe_load(text)
    folder, path, failed = service.checkout(), f"{service.top}/temp/path", 0
    variables = {**workflow["env"], **service.variables, "RUNNER_TEMP": f"{service.top}/temp", "GITHUB_PATH": path}
    for step in workflow["jobs"]["counts"]["steps"]:
        if "run" not in step or (failed and "always()" not in step.get("if", "")):
            continue
        code, output = run(step["run"], folder, {**variables, "PULL_REQUEST": "12"})
        if code != 0 and not step.get("continue-on-error"):
            failed = failed or code
        print(f"github: {step['name']}: exit code {code}\n{output}")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                variables["PATH"] = ":".join(file.read().split() + [service.variables["PATH"]])
    return failed


def run_gitlab(service, text):
    job = yaml.safe_load(text)["counts"]
    folder = service.checkout()
    variables = {**{name: str(value) for name, value in job["variables"].items()}, **service.variables,
                 "CI_MERGE_REQUEST_IID": "12", "CI_API_V4_URL": "https://localhost/api", "CI_PROJECT_ID": "3",
                 "TALLY_TOKEN": "secret"}
    # The archive is unpacked in /opt, which a test must not write.
    script = "\n".join(job["before_script"] + job["script"]).replace("/opt", f"{service.top}/temp")
    code, output = run(script, folder, variables)
    print(f"gitlab: script: exit code {code}\n{output}")
    after, output = run("\n".join(job["after_script"]), folder, variables)
    print(f"gitlab: after_script: exit code {after}\n{output}")
    assert after == 0, "the comment failed"
    return code


def main():
    root, tally = sys.argv[1:]
    with open(f"{root}/docs/guides/ci.md", encoding="utf-8") as file:
        found = blocks(file.read())
    suite = found["suite"].replace('"./prog", "--benchmark"', '"./prog"')
    for name, execute in (("github", run_github), ("gitlab", run_gitlab)):
        with tempfile.TemporaryDirectory() as top:
            service = Service(top, tally, suite)
            service.commit(20000)
            assert execute(service, found[name]) == 0, f"{name}: an unchanged program must pass"
            assert "passed" in service.posted(), service.posted()
            # 8,800 of 800,000 instructions.
            service.commit(22200)
            assert execute(service, found[name]) == 1, f"{name}: +1.1 % must fail"
            assert "failed: instructions:u" in service.posted() and "parse" in service.posted(), service.posted()
            update = "--edit-last --create-if-none" if name == "github" else "-X PUT"
            assert update in service.log(), "the second comment replaces the first one"


if __name__ == "__main__":
    main()
