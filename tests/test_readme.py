import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_in_the_readme_runs_and_finds_its_equation():
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    assert printed.startswith("u' = ")
    assert "u^2" in printed.splitlines()[0]


def test_the_readme_is_short_and_names_files_that_exist():
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 125  # with the tables of results
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert (README.parent / link).exists(), link
