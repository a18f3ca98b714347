from commands import gode


def test_models_are_listed():
    result = gode("model", "list")
    assert result.exit_code == 0
    assert "implicit" in result.output
    assert "systems" in result.output
