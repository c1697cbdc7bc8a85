import pytest

from minigluon.gluon.contrib.data import IntervalSampler, text


def test_an_interval_sampler_comes_back_for_what_it_left_out():
    sampler = IntervalSampler(13, 3)
    assert list(sampler) == [0, 3, 6, 9, 12, 1, 4, 7, 10, 2, 5, 8, 11]
    assert len(sampler) == 13


def test_without_rollover_there_is_one_pass():
    sampler = IntervalSampler(13, 3, rollover=False)
    assert list(sampler) == [0, 3, 6, 9, 12]
    assert len(sampler) == 5


def test_an_interval_longer_than_the_data_is_refused():
    with pytest.raises(
        AssertionError, match="Interval 5 must be smaller than or equal to length 3"
    ):
        IntervalSampler(3, 5)


@pytest.fixture
def wiki(tmp_path):
    """A folder with a small text in the published format."""
    (tmp_path / "wiki.train.tokens").write_text(
        " = Title = \n\n the cat sat on the mat \n a dog ran . \n\n"
    )
    (tmp_path / "wiki.valid.tokens").write_text(" the dog sat <unk> here \n")
    return str(tmp_path)


def test_text_is_cut_into_sequences_as_mxnet_does(wiki):
    data = text.WikiText2(root=wiki, seq_len=4)
    assert data.vocabulary.idx_to_token == [
        "<unk>", "<eos>", "=", "the", ".", "Title", "a", "cat", "dog", "mat", "on", "ran", "sat",
    ]  # fmt: skip
    assert len(data) == 3
    words, later = data[0]
    assert words.asnumpy().tolist() == [2, 5, 2, 1]
    assert later.asnumpy().tolist() == [5, 2, 1, 3]
    assert data.frequencies["the"] == 2


def test_another_segment_is_read_with_the_same_vocabulary(wiki):
    vocab = text.WikiText2(root=wiki).vocabulary
    data = text.WikiText2(root=wiki, segment="validation", vocab=vocab, seq_len=3)
    assert [x.asnumpy().tolist() for x in data[0]] == [[3, 8, 12], [8, 12, 0]]


def test_text_that_is_not_there_is_asked_for(wiki):
    with pytest.raises(FileNotFoundError, match=r"wiki\.test\.tokens not found(.|\n)*wikitext-103"):
        text.WikiText103(root=wiki, segment="test")
    with pytest.raises(ValueError, match=r"segment='nope'(.|\n)*validation"):
        text.WikiText2(root=wiki, segment="nope")
