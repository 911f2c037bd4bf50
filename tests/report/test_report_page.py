"""The page in a real browser."""

from collections.abc import Callable
from pathlib import Path

import pytest
from chromium_page import Browser

from comseclab.report import build
from comseclab.report.charts import CHARTS

MARKUP = "<script>hacked=1</script>\"'&<img src=x onerror=hacked=2>"


def test_every_chart_is_drawn_without_an_error_or_a_request(demo: Path, browser: Browser) -> None:
    page = demo / "report.html"
    browser.open(page)
    for chart in CHARTS:
        drawn = browser.run(f"document.querySelector('#chart-{chart.name} .wide svg').getBoundingClientRect().toJSON()")
        assert drawn["width"] > 600
        assert drawn["height"] > 80
        shapes = f"document.querySelectorAll('#chart-{chart.name} .wide svg g path').length"
        assert browser.run(shapes) > 3, chart.name
    assert browser.console() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [page.as_uri()]


def test_the_verdict_and_the_table_come_first(demo: Path, browser: Browser) -> None:
    browser.open(demo / "report.html")
    top = browser.run("document.querySelector('.verdict').innerText")
    assert "On ethernet" in top.replace("\u00a0", " ")
    assert browser.run("document.querySelectorAll('.main-table')[0].querySelectorAll('tbody tr').length") == 15
    assert browser.run("document.querySelector('.verdict').getBoundingClientRect().bottom") < 900


@pytest.mark.parametrize("width", [320, 375, 768])
def test_no_sideways_scrolling(demo: Path, browser: Browser, width: int) -> None:
    browser.open(demo / "report.html", width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    kind = "narrow" if width < 640 else "wide"
    assert browser.run(f"document.querySelector('#chart-loss .{kind}').getBoundingClientRect().width") > 250


def test_paper_shows_everything_in_light_colours(demo: Path, browser: Browser) -> None:
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.open(demo / "report.html", 690, media="print", features=dark)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("getComputedStyle(document.documentElement).backgroundColor") == "rgb(254, 254, 253)"
    assert browser.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert browser.run("document.querySelectorAll('details:not([open])').length") == 0
    ends = "[...document.querySelectorAll('table, figure svg')].map(part => part.getBoundingClientRect().right)"
    assert browser.run(f"Math.max(...{ends})") <= 691
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run("document.querySelectorAll('details[open]').length") == 0


def test_dark_scheme_reaches_the_charts(demo: Path, browser: Browser) -> None:
    browser.open(demo / "report.html", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    fill = "getComputedStyle(document.querySelector('#chart-latency-boxes .wide text')).fill"
    dark = browser.run(fill)
    browser.open(demo / "report.html", features=[{"name": "prefers-color-scheme", "value": "light"}])
    assert dark != browser.run(fill)
    assert browser.run("document.querySelectorAll('figure svg [fill^=\"#\"]').length") == 0


def test_marks_tell_their_numbers(demo: Path, browser: Browser) -> None:
    browser.open(demo / "report.html")
    text, hidden = browser.run(
        "(mark => { const box = mark.getBoundingClientRect(); const tip = document.querySelector('#tip'); "
        "mark.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: box.x, clientY: box.y})); "
        "return [tip.innerText, tip.hidden]; })(document.querySelector('#chart-ratio-to-baseline .wide [aria-label]'))"
    )
    assert "pairs of trials" in text
    assert hidden is False


def test_accessible_names(demo: Path, browser: Browser) -> None:
    browser.open(demo / "report.html")
    assert browser.run("document.querySelectorAll('main').length") == 1
    assert browser.run("document.querySelectorAll('h1').length") == 1
    assert browser.run("document.documentElement.lang") == "en"
    assert browser.run("[...document.querySelectorAll('th')].every(head => head.scope)")
    named = "[...document.querySelectorAll('figure svg')].every(svg => svg.getAttribute('aria-labelledby').split(' ')"
    assert browser.run(f"{named}.every(id => svg.querySelector('#' + id).textContent.length > 5))")
    repeated = (
        "document.querySelectorAll('[id]').length - new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size"
    )
    assert browser.run(repeated) == 0


def test_text_in_the_page_keeps_its_contrast(demo: Path, browser: Browser) -> None:
    """WCAG 2: at least 4.5 to 1 for text, in both schemes."""
    for scheme in ("light", "dark"):
        browser.open(demo / "report.html", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for token in ("ink", "quiet", "limit"):
            style = "getComputedStyle(document.documentElement)"
            colours = [browser.run(f"{style}.getPropertyValue('--{name}')") for name in ("ground", token)]
            light, dark = sorted(map(luminance, colours), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (scheme, token)


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2)."""
    parts = [int(colour.strip()[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_names_from_outside_stay_text(written: Callable[..., Path], browser: Browser) -> None:
    run = written(plan=MARKUP, topic=f"/{MARKUP}", protection=MARKUP, reason=MARKUP)
    browser.open(build(run))
    assert browser.run("typeof hacked") == "undefined"
    assert browser.run("document.querySelectorAll('main img').length") == 0
    assert browser.run("document.querySelector('h1').innerText") == MARKUP
    assert browser.run("document.body.innerText").count(MARKUP) > 5
    assert browser.run("document.querySelectorAll('figure svg').length") == 2 * len(CHARTS)
    assert browser.console() == []
