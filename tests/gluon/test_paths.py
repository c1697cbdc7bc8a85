"""Every module path below ``mxnet.gluon`` that scripts import leads to the same objects."""

import importlib

import pytest

from minigluon import gluon

# module -> names; each is the object of that name in the package the module is in
PATHS = {
    "block": "Block HybridBlock SymbolBlock Parameter ParameterDict DeferredInitializationError",
    "parameter": "Parameter ParameterDict Constant DeferredInitializationError tensor_types",
    "trainer": "Trainer",
    "nn.activations": "Activation ELU GELU LeakyReLU PReLU SELU Swish",
    "nn.basic_layers": "Dense Dropout Embedding Flatten HybridLambda HybridSequential Lambda "
    "Sequential BatchNorm BatchNormReLU GroupNorm InstanceNorm LayerNorm",
    "nn.conv_layers": "Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose "
    "AvgPool1D AvgPool2D AvgPool3D GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D "
    "GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D MaxPool1D MaxPool2D MaxPool3D "
    "ReflectionPad2D",
    "rnn.rnn_cell": "BidirectionalCell DropoutCell GRUCell HybridRecurrentCell "
    "HybridSequentialRNNCell LSTMCell ModifierCell RNNCell RecurrentCell ResidualCell "
    "SequentialRNNCell ZoneoutCell",
    "rnn.rnn_layer": "GRU LSTM RNN",
    "data.dataloader": "DataLoader",
    "data.dataset": "ArrayDataset Dataset RecordFileDataset SimpleDataset",
    "data.sampler": "BatchSampler FilterSampler RandomSampler Sampler SequentialSampler",
    "data.vision.datasets": "CIFAR10 CIFAR100 FashionMNIST ImageFolderDataset "
    "ImageRecordDataset MNIST",
    "model_zoo.vision.alexnet": "AlexNet alexnet",
    "model_zoo.vision.densenet": "DenseNet densenet121",
    "model_zoo.vision.inception": "Inception3 inception_v3",
    "model_zoo.vision.mobilenet": "MobileNet MobileNetV2 mobilenet1_0",
    "model_zoo.vision.resnet": "BasicBlockV1 BottleneckV2 ResNetV1 ResNetV2 get_resnet",
    "model_zoo.vision.squeezenet": "SqueezeNet squeezenet1_1",
    "model_zoo.vision.vgg": "VGG get_vgg vgg11_bn",
    "contrib.nn.basic_layers": "Concurrent HybridConcurrent Identity PixelShuffle2D "
    "SparseEmbedding SyncBatchNorm",
    "contrib.rnn.rnn_cell": "LSTMPCell VariationalDropoutCell",
    "contrib.rnn.conv_rnn_cell": "Conv1DRNNCell Conv2DLSTMCell Conv3DGRUCell",
    "contrib.cnn.conv_layers": "DeformableConvolution ModulatedDeformableConvolution",
    "contrib.data.sampler": "IntervalSampler",
    "contrib.estimator.estimator": "Estimator",
    "contrib.estimator.batch_processor": "BatchProcessor",
    "contrib.estimator.event_handler": "TrainBegin BatchEnd CheckpointHandler LoggingHandler",
}
ALONE = [
    "data.vision.transforms",
    "loss",
    "utils",
    "model_zoo.model_store",
    "contrib.data.text",
    "data.vision",
]


@pytest.mark.parametrize("path", PATHS)
def test_modules_hold_the_objects_of_their_package(path):
    module = importlib.import_module(f"{gluon.__name__}.{path}")
    package = importlib.import_module(f"{gluon.__name__}.{path}".rpartition(".")[0])
    for name in PATHS[path].split():
        assert getattr(module, name) is getattr(package, name), name


# the function `alexnet` hides its module, in MXNet too
@pytest.mark.parametrize("path", sorted({*PATHS, *ALONE} - {"model_zoo.vision.alexnet"}))
def test_modules_are_attributes_of_gluon(path):
    found = gluon
    for part in path.split("."):
        found = getattr(found, part)
    assert found is importlib.import_module(f"{gluon.__name__}.{path}")
