from minigluon import ops  # noqa: F401  (declares the operators)
from minigluon.core.graph import Node, by_age, substitute, topological, variable
from minigluon.core.op import registry

PLUS = registry["elemwise_add"].call()


def add(left, right, name=""):
    return (Node(PLUS, (left, right), name), 0)


def names(nodes):
    return [node.name for node in nodes]


def test_the_order_is_depth_first_from_left_to_right():
    a, b, c = variable("a"), variable("b"), variable("c")
    head = add(add(a, b, "left"), add(c, a, "right"), "head")
    assert names(topological([head])) == ["a", "b", "left", "c", "right", "head"]


def test_each_node_comes_once_though_many_heads_share_it():
    a = variable("a")
    left, right = add(a, a, "left"), add(a, a, "right")
    assert names(topological([left, right, left, None])) == ["a", "left", "right"]


def test_ordering_by_age_puts_inputs_before_what_is_made_of_them():
    a, b = variable("a"), variable("b")
    first = add(a, b, "first")
    second = add(b, first, "second")
    order = by_age([second, first])
    assert names(order) == ["a", "b", "first", "second"]


def test_long_chains_do_not_exhaust_the_stack():
    entry = variable("x")
    for _ in range(5_000):
        entry = add(entry, entry)
    assert len(topological([entry])) == len(by_age([entry])) == 5_001


def test_substitution_copies_only_what_lies_above_what_is_replaced():
    a, b, c = variable("a"), variable("b"), variable("c")
    kept = add(b, b, "kept")
    head = add(a, kept, "head")
    (new,) = substitute([head], {a: c})
    assert new[0].inputs == (c, kept)
    assert head[0].inputs == (a, kept)
    assert substitute([kept], {a: c}) == [kept]


def test_substitution_reaches_every_use_once():
    a, c = variable("a"), variable("c")
    inner = add(a, a, "inner")
    first, second = substitute([add(inner, inner, "x"), add(inner, a, "y")], {a: c})
    assert first[0].inputs[0] is not inner
    assert first[0].inputs[0][0] is second[0].inputs[0][0]
