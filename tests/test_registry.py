"""Classes asked for by name."""

import pytest

from minigluon import registry


class Animal:
    def __init__(self, legs=4):
        self.legs = legs


register = registry.get_register_func(Animal, "animal")
alias = registry.get_alias_func(Animal, "animal")
create = registry.get_create_func(Animal, "animal")


@alias("feline")
@register
class Cat(Animal):
    pass


@pytest.mark.parametrize("name", ["cat", "Cat", "FELINE"])
def test_names_and_aliases_are_found_in_any_case(name):
    assert type(create(name)) is Cat


@pytest.mark.parametrize(
    "asked",
    ['["cat", {"legs": 3}]', '{"animal": "cat", "legs": 3}', {"animal": "cat", "legs": 3}],
)
def test_text_and_configurations_are_read(asked):
    assert create(asked).legs == 3


def test_arguments_go_to_the_class():
    assert create("cat", 3).legs == create("cat", legs=3).legs == create(animal="cat", legs=3).legs


def test_an_object_passes_through():
    cat = Cat()
    assert create(cat) is cat


def test_the_registry_is_handed_out_as_a_copy():
    registry.get_registry(Animal).clear()
    assert registry.get_registry(Animal) == {"cat": Cat, "feline": Cat}
