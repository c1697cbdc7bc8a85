import re
from html.parser import HTMLParser

import pytest

import minigluon as mx
from minigluon.__main__ import main


class Balanced(HTMLParser):
    """Checks that what is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def net():
    data = mx.sym.var("data", stype="csr")
    weight = mx.sym.var("weight", stype="row_sparse", shape=(100, 2))
    return mx.sym.reshape(mx.sym.sparse.dot(data, weight, name="score"), shape=(-1,), name="flat")


def test_the_page_is_whole_and_needs_nothing_else():
    text = str(mx.viz.html(net(), shape={"data": (4, 100)}))
    checker = Balanced()
    checker.feed(text)
    assert checker.open == []
    assert "@" not in re.sub(r"@media", "", text)
    assert not re.search(r"(src|href)=|https?://|@import|url\(", text)


def test_nodes_show_shapes_storages_and_dispatch():
    text = str(mx.viz.html(net(), shape={"data": (4, 100)}))
    for shown in ("(4, 100) csr", "weight (100, 2) row_sparse", "fcompute_ex", "(8,)"):
        assert shown in text


def test_fallbacks_are_marked_with_what_they_cost():
    data = mx.sym.var("data", stype="csr")
    text = str(mx.viz.html(mx.sym.reshape(data, shape=(-1,)), shape={"data": (512, 512)}))
    assert "falls back: 1.0 MB of dense copies" in text


def test_names_cannot_break_the_page():
    name = "</script><b>\"x'"
    text = str(mx.viz.html(mx.sym.exp(mx.sym.var(name), name=name), title=name))
    assert "</script><b>" not in text
    assert text.count("</script>") == 1


def test_a_notebook_shows_the_page_in_a_frame():
    shown = mx.viz.html(net())._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<script>" not in shown


def test_the_command_line_writes_a_page(tmp_path, capsys):
    path = tmp_path / "model-symbol.json"
    net().save(str(path))
    main(["show", str(path), "--shape", "data=4,100"])
    written = tmp_path / "model-symbol.html"
    assert capsys.readouterr().out.strip() == str(written)
    assert "(4, 2)" in written.read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [["--shape", "data=x"], ["--shape", "data=1,2,3"]])
def test_the_command_line_says_what_is_wrong_with_a_shape(tmp_path, capsys, arguments):
    path = tmp_path / "model-symbol.json"
    net().save(str(path))
    with pytest.raises(SystemExit):
        main(["show", str(path), *arguments])
    assert "error" in capsys.readouterr().err
