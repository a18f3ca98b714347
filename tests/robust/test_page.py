"""What stands in a file stays text: from the header of a table to the page about it."""

from html.parser import HTMLParser

from commands import gode

EVIL = "<script>alert(1)</script>"


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.names, self.words = set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)

    def handle_data(self, data):
        self.words += data


def test_a_script_in_a_header_stays_text_in_the_page(tmp_path):
    rows = "\n".join(f"{0.2 * i},{0.8**i!r}" for i in range(20))
    data = tmp_path / "<img src=x>.csv"
    data.write_text(f't,"{EVIL}"\n{rows}\n')
    words = ["fit", "u' = C*u", data, "--u", EVIL, "--out", tmp_path / "result"]
    result = gode(*words)
    assert result.exit_code == 0, result.output
    (written,) = (tmp_path / "result").glob("*.html")
    page = written.read_text()
    assert EVIL not in page
    assert EVIL in Tags(page).words
    assert not {"script", "img"} & Tags(page).names
