import pytest

import minigluon as mx
from minigluon import kvstore


@pytest.mark.parametrize(
    "name", ["local", "device", "local_allreduce_cpu", "local_update_cpu", "foo", ""]
)
def test_any_name_gives_a_local_store_of_that_type(name):
    store = kvstore.create(name)
    assert type(store) is kvstore.KVStore
    assert (store.type, store.rank, store.num_workers) == (name, 0, 1)


def test_the_type_is_the_name_in_lower_case():
    assert kvstore.create("LOCAL").type == "local"
    assert kvstore.create().type == "local"


def test_a_name_is_a_string():
    with pytest.raises(TypeError, match="name must be a string"):
        kvstore.create(None)


@pytest.mark.parametrize("name", ["dist", "dist_sync", "dist_async", "Dist_Device_Sync"])
def test_distributed_names_say_what_is_missing(name):
    with pytest.raises(mx.MXNetError, match="'dist' extra, which is not built yet"):
        kvstore.create(name)


def test_nccl_needs_gpus():
    with pytest.raises(mx.MXNetError, match="nccl"):
        kvstore.create("nccl")


def test_mx_kv_is_the_module():
    assert mx.kv is kvstore
