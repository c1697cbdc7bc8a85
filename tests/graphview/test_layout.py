from hypothesis import given
from hypothesis import strategies as st

from minigluon.graphview.layout import ROW_GAP, place


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 12))
    sizes = [(draw(st.integers(10, 200)), draw(st.integers(10, 90))) for _ in range(count)]
    edges = []
    for below in range(1, count):
        sources = draw(st.sets(st.integers(0, below - 1), max_size=3))
        edges += [(above, below) for above in sources]
    return sizes, edges


@given(graphs())
def test_boxes_never_lie_over_each_other(graph):
    sizes, edges = graph
    centres = place(sizes, edges).centres
    for i, ((x, y), (w, h)) in enumerate(zip(centres, sizes, strict=True)):
        for (u, v), (a, b) in zip(centres[:i], sizes[:i], strict=True):
            assert abs(x - u) >= (w + a) / 2 - 1e-6 or abs(y - v) >= (h + b) / 2 - 1e-6


@given(graphs())
def test_edges_lead_down_from_box_to_box(graph):
    sizes, edges = graph
    placed = place(sizes, edges)
    for (above, below), way in zip(edges, placed.ways, strict=True):
        assert placed.centres[above][1] + ROW_GAP <= placed.centres[below][1]
        assert [y for _, y in way] == sorted(y for _, y in way)
        assert way[0][0] == placed.centres[above][0]
        assert way[-1][0] == placed.centres[below][0]


@given(graphs())
def test_everything_is_inside_the_drawing(graph):
    sizes, edges = graph
    placed = place(sizes, edges)
    for (x, y), (w, h) in zip(placed.centres, sizes, strict=True):
        assert -1e-6 <= x - w / 2 <= x + w / 2 <= placed.width + 1e-6
        assert -1e-6 <= y - h / 2 <= y + h / 2 <= placed.height + 1e-6


def test_a_chain_stands_in_a_line():
    centres = place([(50, 20)] * 4, [(0, 1), (1, 2), (2, 3)]).centres
    assert len({x for x, _ in centres}) == 1


def test_nothing_is_placed_nowhere():
    assert place([], []).centres == []
