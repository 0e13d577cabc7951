#!/usr/bin/env python3
"""Prints the SPDX 2.3 document of a release: tally, and what it is linked with, by the table of licences/README.md.

usage: sbom.py LICENCES VERSION COMMIT EPOCH FILE...

FILE: the released programs and libraries; the document has what is linked with them, with the versions of the installed
Debian packages, and the SHA-256 of each file. EPOCH: seconds since 1970, the date of the document.
"""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys


def rows(licences):
    """The rows of the table of libraries: name, SPDX expression, names of the programs, Debian package."""
    with open(licences, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if line.startswith("| ") and len(cells) == 5 and cells[0] != "library":
                yield cells[:4]


def version_of(package):
    """The version of an installed Debian package; NOASSERTION elsewhere."""
    if package == "g++":
        package = "libstdc++-" + subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True).stdout.strip() + "-dev"
    try:
        found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    except FileNotFoundError:
        return "NOASSERTION"
    return found.stdout if found.returncode == 0 else "NOASSERTION"


def is_linked_with(programs, names):
    """Whether one of the released files is in the table's column: all programs, or by name."""
    return re.search(r"\ball\b|\bpages\b", programs) or any(f"`{name}`" in programs for name in names)


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    licences, version, commit, epoch, *files = sys.argv[1:]
    names = {re.sub(r"\.so\..*", ".so", os.path.basename(file)) for file in files}
    created = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    unknown = "NOASSERTION"
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"tally-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/tally-{version}-{commit}",
        "creationInfo": {"created": created, "creators": ["Tool: tally-package"]},
        "documentDescribes": ["SPDXRef-tally"],
        "packages": [{
            "SPDXID": "SPDXRef-tally",
            "name": "tally",
            "versionInfo": version,
            "downloadLocation": unknown,
            "filesAnalyzed": False,
            "licenseConcluded": "MIT",
            "licenseDeclared": "MIT",
            "copyrightText": "Copyright (c) 2026 the tally authors",
        }],
        "files": [],
        "relationships": [],
        "hasExtractedLicensingInfos": [{
            "licenseId": "LicenseRef-public-domain",
            "extractedText": "In the public domain; see the notice in licences/.",
        }],
    }
    for name, licence, programs, package in rows(licences):
        if not is_linked_with(programs, names):
            continue
        document["packages"].append({
            "SPDXID": identifier(name),
            "name": name,
            "versionInfo": version_of(package),
            "downloadLocation": unknown,
            "filesAnalyzed": False,
            "licenseConcluded": licence,
            "licenseDeclared": licence,
            "copyrightText": unknown,
            "comment": f"in {programs}; Debian package {package}",
        })
        document["relationships"].append({
            "spdxElementId": "SPDXRef-tally",
            "relatedSpdxElement": identifier(name),
            "relationshipType": "CONTAINS" if "pages" in programs else
                                "STATIC_LINK" if "static" in programs or "header" in programs else "DYNAMIC_LINK",
        })
    for file in sorted(files):
        with open(file, "rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
            content.seek(0)
            sha1 = hashlib.file_digest(content, "sha1").hexdigest()
        spdx_id = identifier("file-" + os.path.basename(file))
        document["files"].append({
            "SPDXID": spdx_id,
            "fileName": "./" + os.path.basename(file),
            "fileTypes": ["BINARY"],
            "checksums": [{"algorithm": "SHA1", "checksumValue": sha1}, {"algorithm": "SHA256", "checksumValue": digest}],
            "licenseConcluded": unknown,
            "licenseInfoInFiles": [unknown],
            "copyrightText": unknown,
        })
        document["relationships"].append({
            "spdxElementId": "SPDXRef-tally", "relatedSpdxElement": spdx_id, "relationshipType": "CONTAINS"})
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
