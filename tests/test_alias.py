"""Old scripts: ``import mxnet`` finds minigluon, in child processes too."""

import os
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import pytest

import minigluon

ROOT = Path(minigluon.__file__).parents[1]


@pytest.fixture
def run_script(tmp_path):
    """Runs a program text by ``minigluon run`` in a process of its own."""

    def run(text, *arguments, options=(), **more):
        script = tmp_path / "old_script.py"
        script.write_text(textwrap.dedent(text))
        return minigluon_command("run", *options, str(script), *arguments, **more)

    return run


def minigluon_command(*arguments, **more):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-m", "minigluon", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd=more.pop("cwd", ROOT),
        **more,
    )


def check(result):
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_modules_are_the_same_under_both_names(run_script):
    check(
        run_script("""
            import mxnet as mx
            import mxnet.ndarray as nd
            import mxnet.nd.sparse
            from mxnet import autograd, gluon, init
            from mxnet.gluon import nn, loss as gloss
            import minigluon

            assert mx is minigluon
            assert nd is minigluon.ndarray is mx.nd
            assert mxnet.nd.sparse is minigluon.ndarray.sparse
            assert nn is minigluon.gluon.nn and gloss is minigluon.gluon.loss
            assert init is minigluon.initializer
            assert nn.Dense is minigluon.gluon.nn.Dense
        """)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_layer_autograd", "sparse_linear_regression"])
def test_a_program_prints_the_same_whether_it_says_mxnet_or_minigluon(run_script, name):
    example = ROOT / "examples" / f"{name}.py"
    if not example.exists():
        pytest.skip("the examples come with the project's source only")
    old = run_script(example.read_text().replace("minigluon", "mxnet"))
    check(old)
    new = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=True)
    assert old.stdout == new.stdout


@pytest.mark.slow
def test_modules_keep_their_own_specs(run_script):
    check(
        run_script("""
            import importlib, mxnet, mxnet.context
            assert mxnet.__spec__.name == "minigluon"
            assert mxnet.context.__spec__.name == "minigluon.context"
            importlib.reload(mxnet.name)
        """)
    )


@pytest.mark.slow
def test_pickles_hold_under_both_names(run_script):
    check(
        run_script("""
            import pickle
            import mxnet as mx
            import minigluon

            assert pickle.loads(pickle.dumps(mx.cpu(1))) == minigluon.cpu(1)
            old = b"cmxnet.context\\nContext\\n(S'cpu'\\nI1\\ntR."
            assert type(pickle.loads(old)) is minigluon.Context
        """)
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_children_of_multiprocessing_find_mxnet(run_script, method):
    if sys.platform == "win32" and method != "spawn":
        pytest.skip("this system only spawns")
    check(
        run_script(
            """
            import multiprocessing
            import sys
            import mxnet as mx

            def child(queue, ctx):
                import mxnet, minigluon
                queue.put((mxnet is minigluon, isinstance(ctx, mxnet.Context)))

            if __name__ == "__main__":
                start = multiprocessing.get_context(sys.argv[1])
                queue = start.Queue()
                process = start.Process(target=child, args=(queue, mx.cpu()))
                process.start()
                assert queue.get(timeout=60) == (True, True)
                process.join()
                assert process.exitcode == 0
            """,
            method,
        )
    )


@pytest.mark.slow
def test_subprocesses_find_mxnet_wherever_they_run(run_script, tmp_path):
    check(
        run_script(
            """
            import subprocess, sys
            program = "import mxnet, mxnet.context, minigluon; assert mxnet is minigluon"
            subprocess.run([sys.executable, "-c", program], check=True, cwd=sys.argv[1])
            """,
            str(tmp_path),
        )
    )


@pytest.mark.slow
def test_a_script_sees_its_arguments_and_its_folder(run_script, tmp_path):
    (tmp_path / "beside.py").write_text("value = 3\n")
    check(
        run_script(
            """
            import sys, os
            import beside
            assert beside.value == 3
            assert sys.argv[1:] == ["--help", "-x", "--gpu-as-cpu"]
            assert sys.path[0] == os.path.dirname(os.path.realpath(__file__))
            assert __name__ == "__main__"
            assert sys.modules["__main__"].__dict__ is globals()
            """,
            "--help",
            "-x",
            "--gpu-as-cpu",
        )
    )


@pytest.mark.slow
def test_gpu_as_cpu_sets_the_setting_for_the_script(run_script):
    text = "import mxnet as mx; assert mx.context.num_gpus() == 1"
    check(run_script(text, options=["--gpu-as-cpu"]))


GPU_SCRIPT = """
import mxnet as mx
from mxnet import autograd, gluon, nd

net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(4, activation="relu"), gluon.nn.Dense(1))
net.initialize(ctx=mx.gpu())
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
data = nd.ones((2, 3), ctx=mx.gpu())
with autograd.record():
    loss = gluon.loss.L2Loss()(net(data), nd.ones((2, 1)).as_in_context(mx.gpu()))
loss.backward()
trainer.step(2)
module = mx.mod.Module(mx.sym.Variable("data") * 2, label_names=None, context=mx.gpu())
"""


@pytest.mark.slow
def test_a_script_that_names_a_gpu_runs_on_the_cpu_with_one_warning(run_script):
    result = run_script(GPU_SCRIPT, options=["--gpu-as-cpu"])
    check(result)
    assert result.stderr.count("UserWarning") == 1


@pytest.mark.slow
def test_a_script_that_names_a_gpu_is_told_what_to_do(run_script):
    result = run_script(GPU_SCRIPT)
    assert result.returncode == 1
    assert "minigluon run --gpu-as-cpu" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["import sys; sys.exit(7)", "import sys; sys.exit('no')", "1 / 0", "x = (", "pass"]
)
def test_exit_code_and_messages_are_those_of_plain_python(run_script, tmp_path, text):
    result = run_script(text)
    plain = subprocess.run(
        [sys.executable, str(tmp_path / "old_script.py")], capture_output=True, text=True
    )
    assert (result.returncode, result.stderr) == (plain.returncode, plain.stderr)


@pytest.mark.slow
def test_a_missing_script_is_named_and_ends_with_two():
    result = minigluon_command("run", "nowhere.py")
    assert result.returncode == 2
    assert "nowhere.py" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_a_module_that_is_missing_is_an_import_error_under_its_own_name(run_script):
    check(
        run_script("""
            try:
                import mxnet.no_such_module
            except ModuleNotFoundError as error:
                assert error.name == "mxnet.no_such_module"
            else:
                raise SystemExit("imported")
        """)
    )


@pytest.mark.slow
def test_alias_from_code_serves_this_process_and_its_children():
    program = textwrap.dedent("""
        import minigluon
        minigluon.alias()
        minigluon.alias()
        import mxnet, subprocess, sys
        assert mxnet is minigluon
        subprocess.run([sys.executable, "-c", "import mxnet"], check=True)
    """)
    check(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT))


@pytest.mark.slow
def test_alias_refuses_when_another_mxnet_is_loaded(tmp_path):
    (tmp_path / "mxnet.py").write_text("")
    program = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import mxnet, minigluon
        try:
            minigluon.alias()
        except minigluon.MXNetError as error:
            assert {str(tmp_path)!r} in str(error)
        else:
            raise SystemExit("accepted")
    """)
    check(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT))


@pytest.mark.slow
def test_a_module_is_run_by_its_name(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "beside.py").write_text("import mxnet; name = mxnet.__name__\n")
    (package / "__main__.py").write_text(
        "import sys\nfrom .beside import name\nassert __package__ == 'package'\n"
        "assert sys.modules['__main__'].__dict__ is globals()\n"
        "print(name, __name__, sys.argv[1:], sys.argv[0] == __file__)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, "-m", "minigluon", "run", "-m", "package", "-m", "--help"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    check(result)
    assert result.stdout == "minigluon __main__ ['-m', '--help'] True\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nowhere_to_be_found", "minigluon.rnn"])
def test_a_module_that_cannot_be_run_ends_with_two(name):
    result = minigluon_command("run", "-m", name)
    assert result.returncode == 2
    assert f"no module {name} to run" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.fixture
def environment(tmp_path):
    """A virtual environment's python with minigluon on its path; runs the command line in it."""
    root = tmp_path / "environment"
    venv.EnvBuilder(with_pip=False, symlinks=True).create(root)
    python = root / "bin" / "python"
    (site,) = root.glob("lib/python*/site-packages")
    paths = [str(ROOT), *(p for p in sys.path if p.endswith("site-packages"))]
    (site / "there.pth").write_text("\n".join(paths))
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*arguments):
        return subprocess.run(
            [python, *arguments], capture_output=True, text=True, env=plain, cwd=tmp_path
        )

    return run, site


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="looks for bin/python")
def test_an_environment_can_be_given_the_alias_and_get_rid_of_it(environment):
    run, site = environment
    check(run("-m", "minigluon", "alias", "install"))
    check(run("-m", "minigluon", "alias", "install"))
    program = "import mxnet, mxnet.gluon.nn as nn, minigluon; assert mxnet is minigluon; nn.Dense"
    check(run("-c", program))
    check(run("-m", "minigluon", "alias", "remove"))
    assert not (site / "mxnet.py").exists()
    assert run("-c", "import mxnet").returncode == 1
    assert "no alias" in run("-m", "minigluon", "alias", "remove").stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="looks for bin/python")
def test_an_environment_with_a_real_mxnet_is_left_alone(environment):
    run, site = environment
    (site / "mxnet").mkdir()
    (site / "mxnet" / "__init__.py").write_text("")
    result = run("-m", "minigluon", "alias", "install")
    assert result.returncode == 2
    assert str(site / "mxnet") in result.stderr
    assert "Traceback" not in result.stderr
    assert not (site / "mxnet.py").exists()
