import json
import re
import xml.etree.ElementTree as ET
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

from gode.discovery import fit
from gode.errors import FileError
from gode.report.page import discovery_page, notebook_summary, write_page
from gode.report.record import fit_table

EVIL = "<script>alert(1)</script>"
WORSE = "a\"b'<img src=http://evil.example/x onerror=alert(1)> $x$ & [m]"
XMLNS = re.compile(r'xmlns(:\w+)?="[^"]*"')


class Reader(HTMLParser):
    """Collects tags, attributes and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.ids = Counter(), [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_data(self, data):
        self.text.append(data)

    @property
    def words(self):
        return " ".join(self.text)


def labelled(found, **labels):
    dataset = replace(found.prepared.dataset, labels=labels)
    return replace(found, prepared=replace(found.prepared, dataset=dataset))


@pytest.fixture(scope="module")
def text(growth):
    return discovery_page(growth, title="Yeast in a flask")


def only_its_own_script_runs(text: str) -> bool:
    """Whether one script can run, which the policy of the page names by its hash; the others are values."""
    own = (files("gode.report") / "templates" / "plot.js").read_text(encoding="utf-8")
    digest = b64encode(sha256(own.encode()).digest()).decode()
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.DOTALL)
    running = [body for kind, body in scripts if "application/json" not in kind]
    return running == [own] and f"script-src 'sha256-{digest}'" in text


def test_the_column_of_runs_is_told_in_words(growth):
    page = discovery_page(labelled(growth, run="ID"), title="Patients")
    assert "The runs are told apart by ID." in Reader(page).words


def test_only_the_script_that_draws_the_plots_may_run(text):
    assert only_its_own_script_runs(text)
    for name in ("fit", "front", "residuals", "phase"):
        (values,) = re.findall(rf'id="values-{name}">(.*?)</script>', text, re.DOTALL)
        assert json.loads(values)[0]["series"]
    assert text.count('class="still"') == 4  # without the script, and printed, pictures are there


def test_the_data_of_the_page_can_be_saved_from_it(text, growth):
    (values,) = re.findall(r'id="data-0">(.*?)</script>', text, re.DOTALL)
    assert json.loads(values) == fit_table(growth)


def test_page_asks_for_nothing_from_outside(text):
    read = Reader(text)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(read.tags)
    places = [v for name, v in read.attributes if name.split(":")[-1] in ("href", "src", "action", "data")]
    assert places  # the marks of the pictures
    assert all(place.startswith("#") for place in places)
    assert not re.search(r"url\((?!#)|@import", text)
    bare = re.sub(r"<pre\b.*?</pre>|<script>.*?</script>", "", text, flags=re.DOTALL)
    assert "//" not in XMLNS.sub("", bare)
    assert "default-src 'none'" in text


def test_page_is_well_formed(text):
    read = Reader(text)
    assert len(read.ids) == len(set(read.ids)), "ids of different pictures meet"
    for piece in re.findall(r"<(?:svg|math)\b.*?</(?:svg|math)>", text, re.DOTALL):
        ET.fromstring(piece)
    references = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    assert references <= set(read.ids)
    assert read.tags["svg"] == 4  # solution, phase portrait, residuals, front
    assert "viewport" in text


def test_page_says_what_was_found(growth, text):
    words = Reader(text).words
    assert "Yeast in a flask" in words
    assert str(growth.equation) in words
    for heading in ("Constants", "What the data cannot decide", "Residuals", "Smoothing", "To repeat it"):
        assert heading in words
    for constant in growth.equation.constants:
        assert f"{constant.error:.2g}" in words
    assert len(growth.equations) > 2
    for rms in growth.equations["rms"][1:3]:
        assert f"{rms:.3f} noise" in words
    assert "gode.discover(t, u, order=1" in words
    assert "gode discover data.csv --order 1" in words
    assert "strongly correlated" in words


def test_all_text_is_escaped(growth):
    found = labelled(growth, t=EVIL, u=WORSE)
    text = discovery_page(found, title=EVIL)
    read = Reader(text)
    assert "img" not in read.tags
    assert only_its_own_script_runs(text)
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert read.words.count(EVIL) >= 3  # title, heading, summary, axis
    assert WORSE in read.words
    for piece in re.findall(r"<(?:svg|math)\b.*?</(?:svg|math)>", text, re.DOTALL):
        ET.fromstring(piece)


@pytest.mark.parametrize("name", ["pendulum", "duffing", "driven", "implicit"])
def test_every_kind_of_discovery_gets_a_page(name, request, tmp_path):
    found = request.getfixturevalue(name)
    path = found.report(tmp_path / "deep" / "out.html")
    words = Reader(path.read_text(encoding="utf-8")).words
    assert str(found.equation) in words
    assert "no other was tried" in words
    assert "gode.fit(" in words


def test_acceleration_alone_and_exact_data_get_a_page(tmp_path):
    t = np.linspace(0.0, 10.0, 100)
    found = fit("u'' = C*u", t, acceleration=-4 * np.cos(2 * t), initial=[1.0, 0.0])
    words = Reader(write_page(found, tmp_path / "a.html").read_text(encoding="utf-8")).words
    assert "as well as numbers can tell" in words
    assert "--acceleration acceleration --initial 1,0" in words


def test_a_path_that_cannot_be_written_gets_a_sentence(growth, tmp_path):
    with pytest.raises(FileError, match=r"cannot be written \(Is a directory\)"):
        growth.report(tmp_path)


def test_notebook_summary_shows_equation_constants_and_rivals(growth, pendulum):
    text = notebook_summary(growth)
    assert text.startswith("<div>")
    assert "<math" in text
    assert f"cannot tell it from {len(growth.ties) - 1} others" in text
    assert "cannot tell" not in notebook_summary(pendulum)
    assert growth._repr_html_() == text
    assert growth._repr_latex_() == rf"$\displaystyle {growth.equation.latex()}$"


def test_unknown_error_bars_are_called_unknown(growth):
    best = growth.candidates[0]
    blind = replace(best, covariance=np.full_like(best.covariance, np.nan), rms=np.inf)
    text = discovery_page(replace(growth, candidates=[blind, *growth.candidates[1:]]), title="blind")
    words = Reader(text).words
    assert words.count("unknown") >= 2
    assert "No linear model could be compared" in words
    assert "± nan" not in words


def test_no_criterion_is_less_than_the_least(growth):
    first, second, *rest = growth.candidates
    named = replace(growth, candidates=[second, first, *rest])  # a near tie that is simpler, say
    text = discovery_page(named, title="named")
    assert not re.search(r"criterion -\d|<td>-\d+\.\d</td>", text)


def test_one_equation_alone_has_no_front(pendulum):
    words = Reader(discovery_page(pendulum, title="one")).words
    assert "Accuracy against complexity" not in words


@pytest.mark.parametrize("names", [("run 0", "run 1"), ("Ann $x", "Bob <b>")])
def test_runs_are_named_the_same_everywhere(driven, names):
    given = names if names[0] != "run 0" else ()
    dataset = replace(driven.prepared.dataset, names=given)
    found = replace(driven, prepared=replace(driven.prepared, dataset=dataset))
    read = Reader(discovery_page(found, title="two runs"))
    assert [read.text.count(name) for name in names] == [4, 4]  # initial values, two pictures, smoothing
    assert "run 2" not in read.words
    assert ("run 0" in read.words) == (not given)


@pytest.mark.slow
def test_the_page_of_a_hundred_thousand_samples_is_small(tmp_path, rng):
    t = np.linspace(0.0, 200.0, 100_000)
    u = np.exp(-0.01 * t) * np.cos(2 * t) + 0.05 * rng.standard_normal(len(t))
    path = fit("u'' = C*u' + C*u", t, u).report(tmp_path / "dense.html")
    assert path.stat().st_size < 2_000_000
    read = Reader(path.read_text(encoding="utf-8"))
    assert "img" not in read.tags
    assert re.search(r"means of \d\d samples, whose", read.words)


def test_a_poor_result_looks_poor_first_of_all(pendulum):
    good = discovery_page(pendulum, title="one")
    assert good.index("✓") < good.index("<h2>")
    dataset = pendulum.prepared.dataset
    found = fit("u'' = C*u", dataset.runs[0].t, dataset.runs[0].observed[0])  # neither damping nor sine
    text = discovery_page(replace(found, causes=("the <b> is wrong",)), title="poor")
    before = text[: text.index("<h2>")]
    assert "Do not rely on this equation" in before
    assert "times the noise" in before
    assert "The &lt;b&gt; is wrong." in before
    assert "✓" not in text
    assert "Do not rely on this equation" in notebook_summary(found)
    assert "times the noise" in found.plot().get_suptitle()
    assert "times the noise" not in pendulum.plot().get_suptitle()


def test_what_is_not_supported_is_called_no_finding(growth):
    words = Reader(discovery_page(replace(growth, supported=False), title="guess")).words
    assert "No finding" in words
    assert "the best guess, not a finding" in words


def test_remarks_on_the_way_it_was_found_are_told(growth):
    words = Reader(
        discovery_page(replace(growth, remarks=("order 2 was tried as well",)), title="remark")
    ).words
    assert "Order 2 was tried as well." in words


def test_forms_that_people_use_are_not_named_where_nothing_was_found():
    t = np.linspace(0.0, 10.0, 40)
    nothing = fit("u' = C*u", t, np.full(40, 3.0))
    assert "doubling time" not in discovery_page(nothing, title="A constant")
    growing = fit("u' = C*u", t, np.exp(0.2 * t) + 0.01 * np.sin(70 * t))
    assert "doubling time" in discovery_page(growing, title="Growth")
