"""Classes that can be asked for by name: ``create("adam", learning_rate=0.1)``."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

from .base import ArgumentError

_REGISTRY: dict[type, dict[str, type]] = {}


def get_registry(base_class: type) -> dict[str, type]:
    """A copy of the names that stand for subclasses of ``base_class``."""
    return dict(_REGISTRY.get(base_class, ()))


def get_register_func(base_class: type, nickname: str) -> Callable[..., type]:
    """A decorator that lets ``create`` find a class by its lower-cased name.

    Registering another class under a taken name warns and replaces it.
    """
    known = _REGISTRY.setdefault(base_class, {})

    def register(klass: type, name: str | None = None) -> type:
        """Let ``create`` find ``klass`` by its own name, or by ``name``."""
        if not (isinstance(klass, type) and issubclass(klass, base_class)):
            raise ArgumentError(
                f"Can only register subclass of {base_class.__name__}\n  received  {klass!r}\n"
                f"  expected  a class derived from {base_class.__name__}\n"
                f"  fix       class Mine({base_class.__name__}): ..."
            )
        key = (klass.__name__ if name is None else name).lower()
        taken = known.get(key)
        if taken is not None and taken is not klass:
            warnings.warn(
                f"New {nickname} {klass.__module__}.{klass.__name__} registered with name {key} is"
                f" overriding existing {nickname} {taken.__module__}.{taken.__name__}",
                UserWarning,
                stacklevel=2,
            )
        known[key] = klass
        return klass

    return register


def get_alias_func(base_class: type, nickname: str) -> Callable[..., Callable[[type], type]]:
    """A decorator factory: ``@alias("acc", "accurate")`` gives a class more names."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases: str) -> Callable[[type], type]:
        """A decorator that lets ``create`` find a class by each of ``aliases``."""

        def reg(klass: type) -> type:
            for name in aliases:
                register(klass, name)
            return klass

        return reg

    return alias


def get_create_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """A function that makes an object of a registered class.

    It takes a name and constructor arguments, an object (given back as it is), or the text
    ``dumps`` or ``json.dumps(get_config())`` makes of one.
    """
    known = _REGISTRY.setdefault(base_class, {})

    def create(*args: Any, **kwargs: Any) -> Any:
        """Make an object of a registered class by name, JSON text or configuration."""
        if args:
            name, args = args[0], args[1:]
        else:
            name = kwargs.pop(nickname, None)
        if isinstance(name, base_class):
            if args or kwargs:
                raise ArgumentError(
                    f"{nickname} is already an instance. Additional arguments are invalid\n"
                    f"  received  {type(name).__name__} object, {args}, {kwargs}\n"
                    "  expected  the object alone, or a name with arguments\n"
                    f"  fix       drop the arguments or give the name of the {nickname}"
                )
            return name
        if isinstance(name, dict):
            return create(**name)
        if not isinstance(name, str):
            raise ArgumentError(
                f"{nickname} must be of string type\n  received  {name!r:.200}\n"
                f"  expected  a name, a configuration or a {base_class.__name__} object\n"
                f"  fix       pass one of {', '.join(sorted(known))}"
            )
        if not args and not kwargs:
            if name.startswith("["):
                name, kwargs = json.loads(name)
            elif name.startswith("{"):
                return create(**json.loads(name))
        klass = known.get(name.lower())
        if klass is None:
            raise ArgumentError(
                f"{name} is not registered. Please register with {nickname}.register first\n"
                f"  received  {name!r}\n  expected  one of {', '.join(sorted(known))}\n"
                f"  fix       check the spelling, or decorate the class with @{nickname}.register"
            )
        return klass(*args, **kwargs)

    return create
