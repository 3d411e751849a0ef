"""How old the figures of a page are: the files in docs/measured that it links to, with date and commit."""

import json
import os
import re

LINKED = re.compile(r"\]\([^)\s]*measured/(\w+)\.json[^)]*\)")


def first_of(data, key):
    """The first value of a key, at any depth."""
    if isinstance(data, dict):
        if isinstance(data.get(key), str):
            return data[key]
        return next(filter(None, (first_of(value, key) for value in data.values())), None)
    return next(filter(None, (first_of(value, key) for value in data)), None) if isinstance(data, list) else None


def age_of(path):
    """'22 November 2026, commit 90c0b991' of a measured file, as far as it says."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    date, commit = first_of(data, "date"), first_of(data, "commit")
    match = re.search(r"\b[0-9a-f]{7,40}\b", commit or "")
    said = [date[:10]] if date else []
    return ", ".join(said + ([f"commit {match.group(0)[:8]}"] if match else [])) or "no date"


def note(text, root):
    """What is set below a page with this text; empty where it links to no measured file."""
    names = sorted(set(LINKED.findall(text)))
    told = [(name, os.path.join(root, "docs", "measured", name + ".json")) for name in names]
    rows = [f"{name} ({age_of(path)})" for name, path in told if os.path.exists(path)]
    if not rows:
        return ""
    return ('\n\n<p class="figures-age">Figures on this page were measured on: ' + "; ".join(rows) +
            '. Code may have changed since: the test <code>docs.measured</code> names every file that is older than its code.</p>\n')
