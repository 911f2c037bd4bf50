"""The page of an attack run in a real browser."""

from itertools import pairwise
from pathlib import Path

import pytest
from chromium_page import Browser
from made_up_attacks import NAMES, VERDICTS, matrix, write_attacks

from comseclab.attack.verdict import Verdict
from comseclab.report.attack import build

CELL = "fastdds_all-encrypt_reliable_cdr_default_modify"
MARKUP = "<script>hacked=1</script>\"'&<img src=x onerror=hacked=2>"


def test_everything_is_shown_without_an_error_or_a_request(built: Path, browser: Browser) -> None:
    browser.open(built)
    assert browser.run("document.querySelectorAll('h1').length") == 1
    assert browser.run("document.querySelector('#chart-cost-protection .wide svg').getBoundingClientRect().width") > 600
    assert browser.console() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [built.as_uri()]


def test_no_heading_is_missing_between_two_levels(built: Path, browser: Browser) -> None:
    browser.open(built)
    levels = browser.run("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(one => +one.tagName[1])")
    assert len(set(levels)) == 3
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_matrix_shows_every_cell_by_sign_and_pattern(built: Path, browser: Browser) -> None:
    browser.open(built)
    cells = browser.run(
        "[...document.querySelectorAll('[aria-label=Matrix] a.v')].map(cell => [cell.getAttribute('aria-label'), "
        "cell.querySelector('.sign').innerText, getComputedStyle(cell).background])"
    )
    told = {label.split(",")[0]: sign for label, sign, _ in cells}
    expected = {f"{attack} on {stack} {protection}: {verdict.value}"
                for (stack, protection), verdicts in VERDICTS.items()
                for attack, verdict in zip(NAMES, verdicts, strict=True)}  # fmt: skip
    assert set(told) == expected
    signs = {label.rpartition(": ")[2]: sign for label, sign in told.items()}
    assert len(set(signs.values())) == len(signs) == len(Verdict)
    patterns = {label.rpartition(": ")[2].split(",")[0]: background for label, _, background in cells}
    drawn = [patterns[word] for word in patterns if word != "not applicable"]
    assert len(set(drawn)) == len(drawn)


def test_the_claims_show_how_every_cell_stands(built: Path, browser: Browser) -> None:
    browser.open(built)
    told = browser.run(
        "[...document.querySelectorAll('[aria-label=Claims] a.v')].map(cell => cell.getAttribute('aria-label'))"
    )
    assert len(told) == len(NAMES) * len(VERDICTS)
    assert "insider-publish on fastdds all-encrypt: claimed and refuted; succeeded, 2 of 3, a race" in told
    assert "modify on fastdds all-encrypt: claimed, not shown; disrupted, 0 of 3" in told
    assert "replay on fastdds all-encrypt: not claimed; not shown, 0 of 3" in told
    assert "drop on zenoh mtls: not claimed; succeeded, 3 of 3" in told


def test_a_race_shows_its_count(built: Path, browser: Browser) -> None:
    browser.open(built)
    races = browser.run("[...document.querySelectorAll('[aria-label=Matrix] a.v small')].map(one => one.innerText)")
    assert races == ["2/3"]


def test_a_cell_opens_its_evidence(built: Path, browser: Browser) -> None:
    browser.open(built)
    assert browser.run("document.querySelectorAll('details[open]').length") == 0
    browser.run(f"document.querySelector('[aria-label=Matrix] a[href=\"#{CELL}\"]').click()")
    assert browser.run(f"document.getElementById('{CELL}').getBoundingClientRect().height") > 100
    text = browser.run(f"document.getElementById('{CELL}').innerText").replace("\u00a0", " ")
    for part in (
        "whose bytes its writer did not send",
        "disrupted is what happened",
        "in 0 of 3 valid trials",
        "the same attack without protection worked, noticed or not, in 3 of 3 valid trials",
        "fastdds 2.9.1",
        "comseclab attack runs/x --only middleware=fastdds,protection=all-encrypt --attack modify",
        "seed 4711",
        "during 2/48",
        "5 altered messages delivered",
        "to a victim: station-subscriber: sample lost",
    ):
        assert part in text


def test_evidence_links_lead_to_files(built: Path, browser: Browser) -> None:
    browser.open(built)
    links = browser.run("[...document.querySelectorAll('.files a')].map(link => link.getAttribute('href'))")
    names = {Path(link).name for link in links}
    assert {"record.json", "spec.json", "wire.pcapng.gz", "delivered.txt", "injected.hex"} == names
    assert all((built.parent / link).is_file() for link in links)


def test_every_link_within_the_page_has_a_target(built: Path, browser: Browser) -> None:
    browser.open(built)
    lost = "[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.hash.slice(1))"
    assert browser.run(f"{lost}.filter(name => !document.getElementById(name))") == []


@pytest.mark.parametrize("width", [320, 768])
def test_no_sideways_scrolling(built: Path, browser: Browser, width: int) -> None:
    browser.open(built, width)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_paper_shows_all_evidence(built: Path, browser: Browser) -> None:
    browser.open(built, 690, media="print")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("document.querySelectorAll('details:not([open])').length") == 0
    browser.run("dispatchEvent(new Event('afterprint'))")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_signs_keep_their_contrast(built: Path, browser: Browser, scheme: str) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1 for text; of what succeeded, on the colour of its cell."""
    browser.open(built, features=[{"name": "prefers-color-scheme", "value": scheme}])
    ground, ink = browser.run(
        "(cell => [getComputedStyle(cell).backgroundColor, getComputedStyle(cell.querySelector('.sign')).color])"
        "(document.querySelector('[aria-label=Matrix] a.succeeded'))"
    )
    light, dark = sorted((_luminance(ground), _luminance(ink)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def _luminance(colour: str) -> float:
    """WCAG's relative luminance of `rgb(r, g, b)`."""
    parts = [int(part) / 255 for part in colour[4:-1].split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_from_outside_stays_text(tmp_path: Path, browser: Browser) -> None:
    changed = matrix()
    changed.cells[0].text = changed.cells[0].again = changed.plan = MARKUP
    browser.open(build(write_attacks(tmp_path / "run", changed)))
    assert browser.run("window.hacked") is None
    assert MARKUP in browser.run("document.querySelector('h1').innerText")


def test_without_costs_the_page_says_how_to_get_them(tmp_path: Path, browser: Browser) -> None:
    browser.open(build(write_attacks(tmp_path / "run")))
    assert "comseclab run" in browser.run("document.querySelector('[aria-labelledby=cost]').innerText")
