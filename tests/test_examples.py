"""Every example is a whole program that runs and prints what it promises."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"

pytestmark = pytest.mark.slow


def run(name, *arguments):
    """The finished process of an example, run as a user would run it."""
    environment = {**os.environ, "MXNET_STORAGE_FALLBACK_LOG_VERBOSE": "1"}
    return subprocess.run(
        [sys.executable, str(FOLDER / name), *arguments],
        capture_output=True,
        text=True,
        env=environment,
    )


def output(name, *arguments):
    """What the example prints, when it ends well."""
    result = run(name, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def accuracy(text):
    """The number behind ``test accuracy:``."""
    return float(re.search(r"test accuracy: ([\d.]+)", text).group(1))


def test_two_layer_autograd_agrees_with_the_chain_rule():
    text = output("two_layer_autograd.py")
    assert "They agree with the chain rule by hand." in text
    assert any(float(number) for number in re.findall(r"-?[\d.]+e?-?\d*", text.split("\n", 2)[2]))


def test_sparse_linear_regression_learns_the_function():
    text = output("sparse_linear_regression.py")
    errors = [float(error) for error in re.findall(r"'mse', ([\d.]+)", text)]
    assert len(errors) == 10
    assert errors[-1] < 1 < errors[0]


def test_sparse_symbol_tour_prints_what_its_comments_say():
    comments = re.findall(r"^ *print\(.*?((?:\n +# .*)+|  # .*)$", source(), re.MULTILINE)
    expected = "\n".join(
        line.split("# ", 1)[1] for comment in comments for line in comment.strip().split("\n")
    )
    lines = [line.rstrip() for line in output("sparse_symbol_tour.py").split("\n")]
    assert "\n".join(lines).strip() == expected


def source():
    return (FOLDER / "sparse_symbol_tour.py").read_text()


def test_sparse_symbol_tour_shows_dispatch_and_fallback():
    messages = run("sparse_symbol_tour.py").stderr
    for line in ("node 2 dot", "fcompute_ex", "input 0: csr", "input 1: row_sparse"):
        assert line in messages
    assert "Storage type fallback" not in messages


def test_hybridize_gives_the_gradients_of_eager_code():
    assert "6 gradients are equal" in output("hybridize.py")


def test_digits_are_told_apart():
    pytest.importorskip("sklearn")
    assert accuracy(output("digits_sparse.py")) >= 0.93


def test_adult_incomes_are_told_apart(data_folder):
    assert accuracy(output("adult_logistic.py", "--data", str(data_folder))) >= 0.845


def test_adult_without_its_files_says_where_they_are_published(tmp_path):
    result = run("adult_logistic.py", "--data", str(tmp_path))
    assert result.returncode == 1
    assert "a9a is not in" in result.stderr
    assert "LIBSVM data collection" in result.stderr
    assert "Traceback" not in result.stderr


RECOMMENDERS = ["sparse_linear_classification", "factorization_machine", "wide_deep"]


@pytest.mark.parametrize(
    ("name", "least"), [*zip(RECOMMENDERS, (0.84, 0.76, 0.88), strict=True)], ids=RECOMMENDERS
)
def test_recommenders_learn_and_go_on_where_they_were_saved(name, least, tmp_path):
    saved = str(tmp_path / "model")
    whole = output(f"{name}.py", "--epochs", "3").splitlines()
    assert float(whole[-1].split()[-1]) >= least
    output(f"{name}.py", "--epochs", "2", "--checkpoint", saved)
    rest = output(f"{name}.py", "--epochs", "3", "--checkpoint", saved, "--resume", "2")
    assert rest.splitlines() == whole[2:]


def test_matrix_factorization_learns_and_goes_on_where_it_was_saved(tmp_path):
    saved = str(tmp_path / "model")
    whole = output("matrix_factorization.py", "--epochs", "4").splitlines()
    assert float(whole[-1].split()[-1]) <= 0.65
    output("matrix_factorization.py", "--epochs", "3", "--checkpoint", saved)
    rest = output(
        "matrix_factorization.py", "--epochs", "4", "--checkpoint", saved, "--resume", "3"
    )
    assert rest.splitlines() == whole[3:]


def test_published_files_of_people_are_read_by_the_wide_and_deep_program(data_folder):
    text = output("wide_deep.py", "--data", str(data_folder), "--epochs", "1")
    assert float(text.split()[-1]) >= 0.84


def last_number(text):
    """The number the last line ends in."""
    return float(text.split()[-1])


def test_lenet_tells_small_digits():
    assert last_number(output("lenet.py")) >= 0.97


def test_lenet_reads_published_files(data_folder):
    assert last_number(output("lenet.py", "--data", str(data_folder), "--epochs", "2")) >= 0.96


def test_an_lstm_learns_to_add_what_is_marked():
    assert last_number(output("lstm_adding.py", "--epochs", "7")) < 0.02


def test_an_autoencoder_beats_principal_components():
    *_, ours, linear = output("autoencoder.py", "--epochs", "30").splitlines()
    assert last_number(ours) < last_number(linear)


def test_saved_layers_help_another_net():
    _, loaded, nothing = output("transfer.py").splitlines()
    assert last_number(loaded) > last_number(nothing) > 0.8


def test_gluon_learns_from_csr_data():
    assert last_number(output("gluon_sparse.py", "--epochs", "2")) >= 0.82
