from click.testing import CliRunner

from gode.cli import main


def run(*words: str):
    return CliRunner().invoke(main, list(words))


def test_the_demonstration_ends_with_an_equation_and_a_picture(tmp_path):
    result = run("demo", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "u' = 0.6" in result.output
    assert "95 % interval" in result.output
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_grammars_are_listed_and_printed():
    assert "second-order" in run("grammars").output
    assert "%template u' = {sentence}" in run("grammars", "first-order").output


def test_models_are_listed():
    result = run("model", "list")
    assert result.exit_code == 0
    assert "implicit" in result.output


def test_an_error_is_one_sentence_with_exit_code_2():
    result = run("grammars", "nowhere")
    assert result.exit_code == 2
    assert result.stderr.startswith("gode: ")
    assert "Traceback" not in result.output


def test_help_names_the_commands():
    text = run("--help").output
    assert all(word in text for word in ("demo", "grammars", "model", "train"))
