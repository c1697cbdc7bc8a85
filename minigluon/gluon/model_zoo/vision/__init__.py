"""``gluon.model_zoo.vision``: networks for images, by name.

Parameters are random until ``initialize``, or read from a local file with ``pretrained=True``.
"""

from __future__ import annotations

from typing import Any

from ....base import ArgumentError, four_lines
from .alexnet import AlexNet, alexnet
from .densenet import DenseNet, densenet121, densenet161, densenet169, densenet201
from .inception import Inception3, inception_v3
from .mobilenet import (
    MobileNet,
    MobileNetV2,
    get_mobilenet,
    get_mobilenet_v2,
    mobilenet0_5,
    mobilenet0_25,
    mobilenet0_75,
    mobilenet1_0,
    mobilenet_v2_0_5,
    mobilenet_v2_0_25,
    mobilenet_v2_0_75,
    mobilenet_v2_1_0,
)
from .resnet import (
    BasicBlockV1,
    BasicBlockV2,
    BottleneckV1,
    BottleneckV2,
    ResNetV1,
    ResNetV2,
    get_resnet,
    resnet18_v1,
    resnet18_v2,
    resnet34_v1,
    resnet34_v2,
    resnet50_v1,
    resnet50_v2,
    resnet101_v1,
    resnet101_v2,
    resnet152_v1,
    resnet152_v2,
)
from .squeezenet import SqueezeNet, squeezenet1_0, squeezenet1_1
from .vgg import (
    VGG,
    get_vgg,
    vgg11,
    vgg11_bn,
    vgg13,
    vgg13_bn,
    vgg16,
    vgg16_bn,
    vgg19,
    vgg19_bn,
)

__all__ = [
    "VGG",
    "AlexNet",
    "BasicBlockV1",
    "BasicBlockV2",
    "BottleneckV1",
    "BottleneckV2",
    "DenseNet",
    "Inception3",
    "MobileNet",
    "MobileNetV2",
    "ResNetV1",
    "ResNetV2",
    "SqueezeNet",
    "alexnet",
    "densenet121",
    "densenet161",
    "densenet169",
    "densenet201",
    "get_mobilenet",
    "get_mobilenet_v2",
    "get_model",
    "get_resnet",
    "get_vgg",
    "inception_v3",
    "mobilenet0_5",
    "mobilenet0_25",
    "mobilenet0_75",
    "mobilenet1_0",
    "mobilenet_v2_0_5",
    "mobilenet_v2_0_25",
    "mobilenet_v2_0_75",
    "mobilenet_v2_1_0",
    "resnet18_v1",
    "resnet18_v2",
    "resnet34_v1",
    "resnet34_v2",
    "resnet50_v1",
    "resnet50_v2",
    "resnet101_v1",
    "resnet101_v2",
    "resnet152_v1",
    "resnet152_v2",
    "squeezenet1_0",
    "squeezenet1_1",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
]

models = {
    "alexnet": alexnet,
    "densenet121": densenet121,
    "densenet161": densenet161,
    "densenet169": densenet169,
    "densenet201": densenet201,
    "inceptionv3": inception_v3,
    "mobilenet0.25": mobilenet0_25,
    "mobilenet0.5": mobilenet0_5,
    "mobilenet0.75": mobilenet0_75,
    "mobilenet1.0": mobilenet1_0,
    "mobilenetv2_0.25": mobilenet_v2_0_25,
    "mobilenetv2_0.5": mobilenet_v2_0_5,
    "mobilenetv2_0.75": mobilenet_v2_0_75,
    "mobilenetv2_1.0": mobilenet_v2_1_0,
    "resnet101_v1": resnet101_v1,
    "resnet101_v2": resnet101_v2,
    "resnet152_v1": resnet152_v1,
    "resnet152_v2": resnet152_v2,
    "resnet18_v1": resnet18_v1,
    "resnet18_v2": resnet18_v2,
    "resnet34_v1": resnet34_v1,
    "resnet34_v2": resnet34_v2,
    "resnet50_v1": resnet50_v1,
    "resnet50_v2": resnet50_v2,
    "squeezenet1.0": squeezenet1_0,
    "squeezenet1.1": squeezenet1_1,
    "vgg11": vgg11,
    "vgg11_bn": vgg11_bn,
    "vgg13": vgg13,
    "vgg13_bn": vgg13_bn,
    "vgg16": vgg16,
    "vgg16_bn": vgg16_bn,
    "vgg19": vgg19,
    "vgg19_bn": vgg19_bn,
}


def get_model(name: str, **kwargs: Any) -> Any:
    """The network called ``name``, in upper or lower case.

    Parameters
    ----------
    pretrained : read the published parameters from ``root``.
    classes : number of outputs.

    Raises
    ------
    ArgumentError : which lists the names there are.

    Examples
    --------
    >>> get_model("ResNet18_v1", classes=10).output
    Dense(512 -> 10, linear)
    """
    maker = models.get(name.lower())
    if maker is None:
        options = "\n\t".join(sorted(models))
        raise ArgumentError(
            four_lines(
                f"Model {name.lower()} is not supported. Available options are\n\t{options}",
                f"name={name!r}",
                "one of these",
                "check the spelling",
            )
        )
    return maker(**kwargs)
