import pytest

from benchmark_laws import benchmark_structures, corpus_structures
from gode.errors import FileError
from gode.prior import known_laws, read_corpus
from gode.prior.corpus import fields


def test_the_corpus_holds_hundreds_of_laws_of_many_fields() -> None:
    laws = known_laws()
    assert len(laws) >= 300
    assert len(fields(laws)) >= 10
    assert sum(len(law.skeleton.parts) > 1 for law in laws) >= 100


def test_no_law_of_a_benchmark_is_in_the_corpus() -> None:
    forbidden = benchmark_structures()
    found = {
        f"{law.field}, {law.name}": forbidden[structure]
        for law in known_laws()
        for structure in corpus_structures(law.skeleton, law.n_inputs)
        if structure in forbidden
    }
    assert found == {}


def test_a_benchmark_law_is_recognised_whatever_its_constants_states_and_signs() -> None:
    forbidden = benchmark_structures()
    text = """
    logistic: n' = C*n*(1 - n/C)
    Lotka-Volterra, the predator first: y' = C*x*y - C*y; x' = C*x - C*x*y
    oscillator as a pair: v' = C*x - C*v; x' = v
    forced Duffing oscillator: C*x'' + C*x' + C*x + C*x^3 = F
    """
    for law in read_corpus(text, "laws"):
        assert any(s in forbidden for s in corpus_structures(law.skeleton, law.n_inputs)), law.name


def test_names_without_an_equation_are_inputs_and_f_is_the_first() -> None:
    (law,) = read_corpus("room: T' = C*(W - T) + C*F", "laws")
    assert law.skeleton.inputs == ("F", "W")
    assert law.n_inputs == 2


def test_every_name_occurs_once_in_its_field() -> None:
    names = [(law.field, law.name) for law in known_laws()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[growth]\n\nfirst: u' = C*u\nbad: u' = C*", "laws, line 4"),
        ("pair: x' = C*y; y' = C*x; x' = C", "the state x needs one equation, got 2"),
        ("# nothing\n", "holds no law"),
        ("third: u''' = C", "above order 2"),
    ],
)
def test_a_bad_line_is_named_with_what_to_write(text: str, part: str) -> None:
    with pytest.raises(FileError, match=part):
        read_corpus(text, "laws")
