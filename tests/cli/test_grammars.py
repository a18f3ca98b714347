from commands import gode, refused


def test_grammars_are_listed_and_printed():
    assert "second-order" in gode("grammars").output
    assert "%template u' = {sentence}" in gode("grammars", "first-order").output


def test_an_unknown_grammar_is_one_sentence():
    assert "nowhere" in refused("grammars", "nowhere")
