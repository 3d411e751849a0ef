#!/usr/bin/env python3
"""The site in a browser without a screen, from a file and from a server: browser.py SOURCE SITE.

Search finds a type and leads to its page; the navigation opens; no page of a few is wider than the window at three widths. Pictures of
them are left in SITE/../looked_at. Needs chromium and selenium (Debian: chromium-driver python3-selenium).
"""

import contextlib
import functools
import http.server
import sys
import threading
from pathlib import Path

WIDTHS = (375, 768, 1280)
PAGES = ("index.html", "using/clusters.html", "plugins/kinetic.html", "reference/deck/potential.html", "benchmarks.html", "gallery.html")


@contextlib.contextmanager
def served(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def wait(driver, what, seconds=20):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, seconds).until(what)


def results(driver):
    return driver.find_elements("css selector", "#site-search-results a")


def check_search(driver, root):
    from selenium.webdriver.common.keys import Keys

    driver.set_window_size(1280, 900)
    driver.get(f"{root}/using/clusters.html")  # not the first page: links must be right from a folder, too
    box = driver.find_element("id", "site-search")
    box.send_keys("lennard_jones cut")
    found = wait(driver, results)
    assert any("reference/deck/potential.html#lennard_jones" in a.get_attribute("href") for a in found), [a.text for a in found]
    box.clear()
    box.send_keys("zzzqqq")
    wait(driver, lambda d: "Nothing found for" in d.find_element("id", "site-search-results").text)
    box.clear()
    box.send_keys("lennard_jones")
    wait(driver, results)
    box.send_keys(Keys.ENTER)
    wait(driver, lambda d: "clusters.html" not in d.current_url and "lennard_jones" in d.page_source)


def check_navigation(driver, root):
    driver.get(f"{root}/index.html")
    driver.find_element("partial link text", "Plugins").click()
    wait(driver, lambda d: d.find_element("css selector", ".dropdown.show .dropdown-menu, .dropdown-menu.show").is_displayed())
    entry = next(a for a in driver.find_elements("css selector", ".dropdown-menu a") if a.get_attribute("href").endswith("plugins/kinetic.html"))
    entry.click()
    wait(driver, lambda d: d.current_url.endswith("plugins/kinetic.html"))


def check_widths(driver, root, pictures):
    pictures.mkdir(exist_ok=True)
    for page in PAGES:
        for width in WIDTHS:
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
            driver.get(f"{root}/{page}")
            driver.save_screenshot(str(pictures / f"{page.replace('/', '_')[:-5]}_{width}.png"))
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, f"{page} is {wide} pixels wide in a window of {width}"
            small = driver.execute_script("return parseFloat(getComputedStyle(document.querySelector('[role=main] p')).fontSize)")
            assert small >= 14, f"{page}: text of {small} pixels"
            keys = driver.execute_script("return [...document.querySelectorAll('table.keys')].map(t => [t.scrollWidth, t.clientWidth])")
            assert bool(keys) == page.startswith("reference/deck/"), f"{page} has {len(keys)} tables of keys"
            if width < 768:  # a phone: the meaning of a key stands below it
                assert all(inside <= seen for inside, seen in keys), f"{page}: tables of keys are cut at {width} pixels: {keys}"
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def main():
    site = Path(sys.argv[2]).resolve() / "site"
    try:
        import selenium  # noqa: F401

        missing = "" if Path("/usr/bin/chromedriver").exists() else "chromedriver"
    except ImportError:
        missing = "selenium"
    if missing or not (site / "index.html").exists():
        print(f"SKIPPED: the site in a browser: there is no {missing or 'site (docs.site makes it)'} (Debian: chromium-driver python3-selenium)")
        return 77
    driver = browser()
    try:
        with served(site) as server:
            for root in (site.as_uri(), server):
                check_search(driver, root)
                check_navigation(driver, root)
        check_widths(driver, site.as_uri(), site.parent / "looked_at")
    finally:
        driver.quit()
    print(f"search and navigation from a file and from a server, {len(PAGES)} pages at {len(WIDTHS)} widths")
    return 0


if __name__ == "__main__":
    sys.exit(main())
