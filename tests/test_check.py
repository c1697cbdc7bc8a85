"""``minigluon check`` finds what a program uses of mxnet that is not there, without running it."""

import json
import textwrap

import pytest

from minigluon import __main__ as command_line
from minigluon._check import check_file


@pytest.fixture
def found(tmp_path):
    """The lines and names that are reported for a program text."""

    def names(text):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text).lstrip("\n"))
        return [(finding.line, finding.name) for finding in check_file(str(script))]

    return names


@pytest.mark.parametrize(
    "line",
    [
        "mx.nd.not_an_op(1)",
        "print(f'{mx.nd.not_an_op}')",
        "x = [mx.nd.not_an_op for _ in range(3)]",
        "class A(mx.nd.not_an_op): pass",
        "@mx.nd.not_an_op\ndef f(): pass",
        "def f(a=mx.nd.not_an_op): pass",
        "lambda x: mx.nd.not_an_op(x)",
        "from mxnet.nd import not_an_op",
        "from mxnet.nd import not_an_op as fine",
    ],
)
def test_a_name_that_is_not_there_is_found_wherever_it_stands(found, line):
    assert found(f"import mxnet as mx\n{line}\n") == [(2, "mxnet.nd.not_an_op")]


def test_imports_are_followed_under_all_their_names(found):
    assert found(
        """
        import mxnet
        import mxnet.ndarray as nd
        from mxnet import gluon as g, autograd
        from mxnet.gluon import nn
        nd.nope
        g.nn.nope
        nn.nope
        mxnet.sym.nope
        autograd.record
        F = mxnet.sym
        F.nope
        """
    ) == [
        (5, "mxnet.ndarray.nope"),
        (6, "mxnet.gluon.nn.nope"),
        (7, "mxnet.gluon.nn.nope"),
        (8, "mxnet.sym.nope"),
        (11, "mxnet.sym.nope"),
    ]


def test_what_is_not_mxnet_is_left_alone(found):
    assert not found(
        """
        import numpy as np
        from . import sym
        np.nope, sym.nope
        import mxnet as mx
        def f(mx):
            return mx.nope
        def g():
            mx = 3
            return mx.nope
        x = mx.nd.zeros(3)
        x.nope
        mx.nd = 3
        """
    )


def test_a_name_bound_in_a_function_is_known_there_only(found):
    assert found(
        """
        def f():
            import mxnet as mx
            mx.nope
        mx.nope
        """
    ) == [(3, "mxnet.nope")]


def test_the_operators_of_a_hybrid_forward_are_checked(found):
    assert found(
        """
        class Net:
            def hybrid_forward(self, F, x):
                return F.relu(F.sofftmax(x))
        """
    ) == [(3, "mxnet.nd.sofftmax")]


def test_members_of_classes_are_checked(found):
    assert found(
        """
        import mxnet as mx
        mx.mod.Module.load, mx.mod.Module.laod, mx.optimizer.optimizer.SGD.create_state
        """
    ) == [(2, "mxnet.mod.Module.laod")]


def test_everything_a_star_binds_is_known(found):
    assert found("from mxnet.gluon.nn import *\nDense.nope\n") == [(2, "mxnet.gluon.nn.Dense.nope")]


def test_what_is_refused_is_reported_with_the_reason(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from mxnet.contrib import quantization as q\nq.quantize_model(1)\n")
    (finding,) = check_file(str(script))
    assert (finding.line, finding.name) == (2, "mxnet.contrib.quantization.quantize_model")
    assert "no int8 kernels" in finding.note


def test_similar_names_are_suggested(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import mxnet as mx\nmx.sym.Convolutoin\n")
    (finding,) = check_file(str(script))
    assert "Convolution" in finding.note


@pytest.mark.parametrize("text", ["print 'old'", "\0"])
def test_a_file_that_is_not_python_3_is_reported(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(text)
    (finding,) = check_file(str(script))
    assert finding.name == "the file"
    assert "cannot be read" in finding.note


def test_notebooks_are_read_cell_by_cell(tmp_path):
    notebook = tmp_path / "book.ipynb"
    sources = [
        ["# words"],
        ["%matplotlib inline\n", "!pip install mxnet\n", "import mxnet as mx"],
        ["mx.nd.array([1])\n", "mx.nope"],
    ]
    kinds = ["markdown", "code", "code"]
    cells = [{"cell_type": k, "source": s} for k, s in zip(kinds, sources, strict=True)]
    notebook.write_text(json.dumps({"cells": cells}))
    assert [str(f) for f in check_file(str(notebook))] == [
        f"{notebook}[3]:2: mxnet.nope: not supported"
    ]
    notebook.write_text("[]")
    assert "no notebook" in check_file(str(notebook))[0].note


def test_the_command_lists_findings_of_all_files_and_ends_with_one(tmp_path, capsys):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("import mxnet as mx\nmx.nd.array([1])\nraise SystemExit('it was run')\n")
    bad.write_text("import mxnet as mx\n\nmx.nope\n")
    assert command_line.main(["check", str(good)]) == 0
    assert capsys.readouterr().out == ""
    assert command_line.main(["check", str(good), str(bad), str(tmp_path / "none.py")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{bad}:3: mxnet.nope: not supported"
    assert "No such file" in lines[1]
