from commands import gode, refused


def test_grammars_are_listed_and_printed():
    listed = gode("grammars").output
    assert "second-order" in listed
    assert "systems" in listed
    assert "%template u' = {sentence}" in gode("grammars", "first-order").output


def test_an_unknown_grammar_is_one_sentence():
    assert "nowhere" in refused("grammars", "nowhere")
