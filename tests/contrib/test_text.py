"""Tokens, vocabularies and word vectors; what differs from MXNet says so."""

from collections import Counter

import numpy as np
import pytest

from minigluon import nd
from minigluon.contrib import text
from minigluon.contrib.text.vocab import Vocabulary

COUNTS = Counter(["a", "b", "b", "c", "c", "c", "some_word$"])


def test_tokens_are_counted_between_delimiters():
    counted = text.utils.count_tokens_from_str(" Life is great ! \n life is good . \n")
    assert counted == {"is": 2, "Life": 1, "great": 1, "!": 1, "life": 1, "good": 1, ".": 1}


def test_delimiters_are_patterns_and_a_counter_is_counted_on():
    before = Counter({"x": 3})
    counted = text.utils.count_tokens_from_str(
        r"*Life*is*great*!*\n*life*is*good*.*\n", r"\*", r"\\n", True, before
    )
    assert counted is before
    assert counted == {"x": 3, "life": 2, "is": 2, "great": 1, "!": 1, "good": 1, ".": 1}


@pytest.mark.parametrize(
    ("kwargs", "tokens"),
    [
        ({}, ["<unk>", "c", "b", "a", "some_word$"]),
        ({"most_freq_count": 2}, ["<unk>", "c", "b"]),
        ({"most_freq_count": 0}, ["<unk>"]),
        ({"min_freq": 2, "reserved_tokens": ["<pad>", "b"]}, ["<unk>", "<pad>", "b", "c"]),
        ({"unknown_token": "a"}, ["a", "c", "b", "some_word$"]),
    ],
)
def test_tokens_are_numbered_by_frequency_after_the_reserved_ones(kwargs, tokens):
    vocabulary = Vocabulary(COUNTS, **kwargs)
    assert vocabulary.idx_to_token == tokens
    assert vocabulary.token_to_idx == {token: k for k, token in enumerate(tokens)}
    assert len(vocabulary) == len(tokens)
    assert vocabulary.reserved_tokens == kwargs.get("reserved_tokens")


def test_tokens_and_numbers_are_translated_singly_and_in_lists():
    vocabulary = Vocabulary(COUNTS)
    assert vocabulary.to_indices("c") == 1
    assert vocabulary.to_indices(["c", "other"]) == [1, 0]
    assert vocabulary.to_tokens(1) == "c"
    assert vocabulary.to_tokens([1, 0]) == ["c", "<unk>"]


@pytest.mark.parametrize("index", [9, -1, 1.0, "1"])
def test_a_number_without_a_token_is_a_value_error(index):
    with pytest.raises(ValueError, match="Token index"):
        Vocabulary(COUNTS).to_tokens([index])


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((COUNTS,), {"min_freq": 0}, "min_freq"),
        ((COUNTS,), {"reserved_tokens": ["x", "x"]}, "duplicate"),
        ((COUNTS,), {"reserved_tokens": ["<unk>"]}, "cannot contain `unknown_token`"),
        (({"a": 1},), {}, "collections.Counter"),
    ],
)
def test_vocabularies_that_make_no_sense_are_refused(args, kwargs, words):
    with pytest.raises(AssertionError, match=words):
        Vocabulary(*args, **kwargs)


@pytest.fixture
def vectors(tmp_path):
    """Makes an embedding of a file with this text."""

    def make(content="a 0.1 0.2 0.3\nb 1 2 3\nc 4 5 6\n", **kwargs):
        path = tmp_path / "vectors.txt"
        path.write_text(content)
        return text.embedding.CustomEmbedding(str(path), **kwargs)

    return make


def test_an_embedding_has_the_tokens_of_its_file_behind_the_unknown_one(vectors):
    embedding = vectors()
    assert embedding.idx_to_token == ["<unk>", "a", "b", "c"]
    assert embedding.vec_len == 3
    wanted = np.array([[0, 0, 0], [0.1, 0.2, 0.3], [1, 2, 3], [4, 5, 6]], np.float32)
    np.testing.assert_array_equal(embedding.idx_to_vec.asnumpy(), wanted)


def test_headers_and_repeated_tokens_are_left_out_with_a_warning(vectors):
    with pytest.warns(UserWarning) as told:
        embedding = vectors("3 3\na 1 2 3\nb 1 2 3\nb 7 8 9\n<unk> 5 5 5\n")
    assert "likely a header" in str(told[0].message)
    assert "line 4" in str(told[1].message)
    np.testing.assert_array_equal(embedding.idx_to_vec.asnumpy(), [[5, 5, 5], [1, 2, 3], [1, 2, 3]])


def test_the_delimiter_may_be_another_one_and_tokens_have_spaces(vectors):
    embedding = vectors("a\t1\t2\nb c\t3\t4\n", elem_delim="\t")
    assert embedding.get_vecs_by_tokens("b c").asnumpy().tolist() == [3, 4]


def test_unknown_tokens_have_the_vector_asked_for(vectors):
    embedding = vectors(init_unknown_vec=nd.ones, unknown_token="?")
    assert embedding.get_vecs_by_tokens("zz").asnumpy().tolist() == [1, 1, 1]
    assert embedding.to_tokens(0) == "?"


def test_reserved_tokens_have_the_unknown_vector_and_shift_no_others(vectors):
    """MXNet gives them no row, so that every vector belongs to another token."""
    embedding = vectors(reserved_tokens=["<pad>"])
    assert embedding.get_vecs_by_tokens("b").asnumpy().tolist() == [1, 2, 3]
    assert embedding.get_vecs_by_tokens("<pad>").asnumpy().tolist() == [0, 0, 0]
    assert embedding.idx_to_vec.shape == (5, 3)


def test_an_embedding_can_be_cut_to_a_vocabulary(vectors):
    words = Vocabulary(Counter(["b", "z", "z"]), reserved_tokens=["<pad>"])
    embedding = vectors(vocabulary=words)
    assert embedding.idx_to_token == ["<unk>", "<pad>", "z", "b"]
    np.testing.assert_array_equal(
        embedding.idx_to_vec.asnumpy(), [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 2, 3]]
    )


def test_small_letters_are_tried_when_asked(vectors):
    embedding = vectors()
    found = embedding.get_vecs_by_tokens(["B", "Q"], lower_case_backup=True)
    assert found.asnumpy().tolist() == [[1, 2, 3], [0, 0, 0]]
    assert embedding.get_vecs_by_tokens("B").asnumpy().tolist() == [0, 0, 0]


def test_vectors_are_replaced_singly_and_together(vectors):
    embedding = vectors()
    embedding.update_token_vectors("a", nd.array([9, 9, 9]))
    embedding.update_token_vectors(["b", "<unk>"], nd.array([[1, 1, 1], [2, 2, 2]]))
    np.testing.assert_array_equal(
        embedding.idx_to_vec.asnumpy(), [[2, 2, 2], [9, 9, 9], [1, 1, 1], [4, 5, 6]]
    )


@pytest.mark.parametrize(
    ("tokens", "new", "words"),
    [
        (["a", "zz"], nd.ones((2, 3)), "Token zz is unknown"),
        (["a", "b"], nd.ones((3,)), "must be a 2-D NDArray"),
        ("a", [1, 2, 3], "1-D or 2-D NDArray"),
        ("a", nd.ones((1, 2)), "length of new_vectors"),
    ],
)
def test_vectors_that_do_not_fit_change_nothing(vectors, tokens, new, words):
    embedding = vectors()
    before = embedding.idx_to_vec.asnumpy().copy()
    with pytest.raises(ValueError, match=words):
        embedding.update_token_vectors(tokens, new)
    np.testing.assert_array_equal(embedding.idx_to_vec.asnumpy(), before)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a 1 2\nb 1 2 3\n", "At line 2 .* token b is 3"),
        ("a 1 x\n", "line 1: not a number"),
        ("", "no vector in this file"),
    ],
)
def test_files_that_are_wrong_are_refused_with_the_line(vectors, content, words):
    with pytest.raises(ValueError, match=words):
        vectors(content)


def test_a_missing_file_is_named():
    with pytest.raises(ValueError, match=r"nowhere\.txt"):
        text.embedding.CustomEmbedding("nowhere.txt")


def test_embeddings_stand_side_by_side(vectors):
    one = vectors()
    other = vectors("b 7\t8\nq 1\t1\n".replace(" ", "\t"), elem_delim="\t")
    both = text.embedding.CompositeEmbedding(Vocabulary(Counter(["b", "b", "c"])), [one, other])
    np.testing.assert_array_equal(
        both.idx_to_vec.asnumpy(), [[0, 0, 0, 0, 0], [1, 2, 3, 7, 8], [4, 5, 6, 0, 0]]
    )
    with pytest.raises(AssertionError, match="vocabulary"):
        text.embedding.CompositeEmbedding(1, [one])
    with pytest.raises(AssertionError, match="token_embeddings"):
        text.embedding.CompositeEmbedding(Vocabulary(), [1])


def test_published_files_are_read_from_their_folder_and_never_fetched(tmp_path):
    folder = tmp_path / "glove"
    folder.mkdir()
    (folder / "glove.6B.50d.txt").write_text("a 1 2\nb 3 4\n")
    found = text.embedding.create(
        "glove", pretrained_file_name="glove.6B.50d.txt", embedding_root=str(tmp_path)
    )
    assert isinstance(found, text.embedding.GloVe)
    assert found.idx_to_token == ["<unk>", "a", "b"]
    with pytest.raises(KeyError, match=r"wiki\.simple\.vec is not there"):
        text.embedding.create("fasttext", embedding_root=str(tmp_path))


def test_names_of_published_files_are_listed():
    names = text.embedding.get_pretrained_file_names()
    assert "glove.840B.300d.txt" in names["glove"]
    assert text.embedding.get_pretrained_file_names("fasttext") == names["fasttext"]
    with pytest.raises(KeyError, match="embedding_name"):
        text.embedding.get_pretrained_file_names("nothing")
    with pytest.raises(AssertionError, match="not registered"):
        text.embedding.create("nothing")
