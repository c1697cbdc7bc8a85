"""AlexNet (Krizhevsky, 2014)."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...block import HybridBlock
from ..model_store import with_parameters

__all__ = ["AlexNet", "alexnet"]


class AlexNet(HybridBlock):
    """Five convolutions and three dense layers, for images of 224x224.

    Parameters
    ----------
    classes : number of outputs.

    Examples
    --------
    >>> AlexNet(classes=10).output
    Dense(None -> 10, linear)
    """

    def __init__(self, classes: int = 1000, **kwargs: Any):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            with self.features.name_scope():
                self.features.add(
                    nn.Conv2D(64, 11, strides=4, padding=2, activation="relu"),
                    nn.MaxPool2D(3, 2),
                    nn.Conv2D(192, 5, padding=2, activation="relu"),
                    nn.MaxPool2D(3, 2),
                    nn.Conv2D(384, 3, padding=1, activation="relu"),
                    nn.Conv2D(256, 3, padding=1, activation="relu"),
                    nn.Conv2D(256, 3, padding=1, activation="relu"),
                    nn.MaxPool2D(3, 2),
                    nn.Flatten(),
                    nn.Dense(4096, activation="relu"),
                    nn.Dropout(0.5),
                    nn.Dense(4096, activation="relu"),
                    nn.Dropout(0.5),
                )
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The scores of all classes."""
        return self.output(self.features(x))


def alexnet(
    pretrained: bool = False, ctx: Any = None, root: str | None = None, **kwargs: Any
) -> AlexNet:
    """AlexNet; ``pretrained`` parameters are read from ``root``."""
    return with_parameters(AlexNet(**kwargs), pretrained, "alexnet", ctx, root)
