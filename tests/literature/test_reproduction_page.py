"""The page of a reproduction in a real browser."""

from pathlib import Path

import pytest
from chromium_page import Browser


def test_everything_is_shown_without_an_error_or_a_request(page: Path, browser: Browser) -> None:
    browser.open(page)
    for number in range(3, 11):
        drawn = browser.run(f"document.querySelector('#chart-figure-{number} .wide svg').getBoundingClientRect().width")
        assert drawn > 600, number
    assert browser.console() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [page.as_uri()]
    assert browser.run("document.querySelectorAll('.conclusions > li').length") == 27
    for number, cells in ((1, 27), (2, 27), (3, 27), (4, 81)):
        assert browser.run(f"document.querySelectorAll('#table-{number} tbody td').length") == cells
    first = browser.run("document.querySelector('#table-1 tbody td').innerText").split("\n")
    assert first[0].replace("\u202f", "") == "41609 ± 13231"
    assert "median" in first[2]


def test_the_verdict_comes_first(page: Path, browser: Browser) -> None:
    browser.open(page)
    top = browser.run("document.querySelector('.verdict').innerText")
    assert "Of its 27 conclusions: 14 confirmed, 13 changed." in top.replace("\u00a0", " ")
    assert "10.1016/j.robot.2017.11.002" in browser.run("document.querySelector('header').innerText")


@pytest.mark.parametrize("width", [320, 375, 768])
def test_no_sideways_scrolling(page: Path, browser: Browser, width: int) -> None:
    browser.open(page, width)
    browser.run("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert browser.run("document.documentElement.scrollWidth") <= width
    kind = "narrow" if width < 640 else "wide"
    assert browser.run(f"document.querySelector('#chart-figure-6 .{kind}').getBoundingClientRect().width") > 250


def test_every_anchor_leads_somewhere(page: Path, browser: Browser) -> None:
    browser.open(page)
    missing = (
        "[...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.getAttribute('href'))).length"
    )
    assert browser.run(missing) == 0
    files = browser.run("[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))")
    beside = [name for name in files if not name.startswith(("#", "https:", "trials/", "report.html", ".."))]
    assert len(beside) > 20
    assert [name for name in beside if not (page.parent / name).is_file()] == []


def test_paper_shows_everything(page: Path, browser: Browser) -> None:
    browser.open(page, 690, media="print")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("document.querySelectorAll('details:not([open])').length") == 0
    ends = "[...document.querySelectorAll('table, figure svg')].map(part => part.getBoundingClientRect().right)"
    assert browser.run(f"Math.max(...{ends})") <= 691
    browser.run("dispatchEvent(new Event('afterprint'))")


def test_accessible_names(page: Path, browser: Browser) -> None:
    browser.open(page)
    assert browser.run("[...document.querySelectorAll('th')].every(head => head.scope)")
    named = "[...document.querySelectorAll('figure svg')].every(svg => svg.getAttribute('aria-labelledby').split(' ')"
    assert browser.run(f"{named}.every(id => svg.querySelector('#' + id).textContent.length > 5))")
    names = browser.run("[...document.querySelectorAll('[id]')].map(part => part.id)")
    assert len(names) == len(set(names))
