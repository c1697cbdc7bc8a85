import pytest

from minigluon.gluon.model_zoo import model_store


def test_the_default_root_follows_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    assert model_store.default_root() == str(tmp_path / "models")
    with pytest.raises(FileNotFoundError, match=str(tmp_path / "models")):
        model_store.get_model_file("vgg11")


def test_unpublished_names_are_refused_with_the_names_there_are():
    with pytest.raises(
        ValueError, match=r"Pretrained model for nope is not available(.|\n)*vgg19_bn"
    ):
        model_store.short_hash("nope")


def test_purge_deletes_parameters_and_nothing_else(tmp_path):
    (tmp_path / "a.params").touch()
    (tmp_path / "b.txt").touch()
    model_store.purge(str(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["b.txt"]
