"""What the laws over the operator table share."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import cases
from operators import CASES

TABLE = sorted(CASES)


def for_every_operator(names=TABLE, **options):
    """Run a law ``(case, data)`` on cases of each operator; a tenth of the profile's examples.

    The options are those of `picks.Pick`.
    """

    def decorate(law):
        @pytest.mark.parametrize("name", names)
        @settings(max_examples=max(2, settings.default.max_examples // 10))
        @given(data=st.data())
        def run(name, data):
            law(data.draw(cases(CASES, name, **options), label="case"), data)

        run.__name__ = run.__qualname__ = law.__name__
        run.__doc__ = law.__doc__
        run.__module__ = law.__module__
        return run

    return decorate
