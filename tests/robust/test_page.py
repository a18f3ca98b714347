"""What stands in a file stays text: from the header of a table to the page about it."""

from html.parser import HTMLParser

from commands import gode

EVIL = "<script>alert(1)</script>"


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.names, self.words = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)

    def handle_data(self, data):
        self.words += data


def page_of(folder, header):
    rows = "\n".join(f"{0.2 * i},{0.8**i!r}" for i in range(20))
    data = folder / "<img src=x>.csv"
    data.write_text(f't,"{header}"\n{rows}\n')
    result = gode("fit", "u' = C*u", data, "--u", header, "--out", folder / "result")
    assert result.exit_code == 0, result.output
    (written,) = (folder / "result").glob("*.html")
    return written.read_text()


def test_a_script_in_a_header_stays_text_in_the_page(tmp_path):
    for name in ("plain", "evil"):
        (tmp_path / name).mkdir()
    plain, evil = page_of(tmp_path / "plain", "mass"), page_of(tmp_path / "evil", EVIL)
    assert EVIL not in evil
    assert EVIL in Tags(evil).words
    assert "img" not in Tags(evil).names
    assert Tags(evil).names.count("script") == Tags(plain).names.count("script")
