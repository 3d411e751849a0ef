"""The index of the site's search: every section of every page, as a script that also a page opened as a file may load."""

import json
import os
from html.parser import HTMLParser

HEADINGS = ("h1", "h2", "h3")
SILENT = ("script", "style")


class Sections(HTMLParser):
    """Collects (id of the heading, heading, text) of what stands in the page's main part."""

    def __init__(self):
        super().__init__()
        self.found, self.depth, self.heading, self.silent = [], 0, None, 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "div" and (self.depth or attributes.get("role") == "main"):
            self.depth += 1
        if self.depth and tag in HEADINGS:
            self.heading = tag
            self.found.append([attributes.get("id", ""), "", ""])
        self.silent += tag in SILENT

    def handle_endtag(self, tag):
        if tag == "div" and self.depth:
            self.depth -= 1
        if tag == self.heading:
            self.heading = None
        self.silent -= tag in SILENT

    def handle_data(self, text):
        if self.depth and not self.silent and self.found:
            self.found[-1][1 if self.heading else 2] += text + " "


def sections_of(path):
    parser = Sections()
    with open(path, encoding="utf-8") as file:
        parser.feed(file.read())
    return [(anchor, " ".join(title.split()), " ".join(text.split())) for anchor, title, text in parser.found]


def write(site):
    """Writes js/search_index.js of the site in the folder `site`; the number of sections."""
    index = []
    for folder, _, names in os.walk(site):
        for name in sorted(names):
            path = os.path.join(folder, name)
            page = os.path.relpath(path, site).replace(os.sep, "/")
            if not name.endswith(".html") or page in ("404.html",):
                continue
            sections = sections_of(path)
            first = sections[0][1] if sections else page
            for k, (anchor, title, text) in enumerate(sections):
                shown = title if k == 0 else f"{first}: {title}"
                index.append({"p": page if k == 0 else f"{page}#{anchor}", "t": shown, "b": text})
    os.makedirs(os.path.join(site, "js"), exist_ok=True)
    with open(os.path.join(site, "js", "search_index.js"), "w", encoding="utf-8") as file:
        file.write("window.cambium_index = " + json.dumps(index, ensure_ascii=False, separators=(",", ":")) + ";\n")
    return len(index)
