import pytest

pytest.importorskip("starlette", reason="the extra `studio` is not installed")

from gode.data.example import load_example
from gode.discovery import fit
from gode.discovery.quality import Verdict
from gode.studio.verdicts import headline, place_of


def test_sliders_show_constants_as_the_text_has_them():
    example = load_example("growth")
    found = fit("u' = C*u - C*u^2", example.t, example.u)
    candidate = found.candidates[0]
    shown = {constant.place: constant.value for constant in found.equation.constants}
    for i, value in enumerate(candidate.equation.constants):
        place, scale = place_of(candidate, i)
        assert scale * value == pytest.approx(shown[place])
    assert found.quality.verdict is Verdict.GOOD
    assert headline(found) == "A likely law"
