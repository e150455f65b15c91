"""Remembered results: computed once for each owner and key, and forgotten together with the owner."""

import copy
import gc
import pickle
import weakref
from dataclasses import dataclass

from poinsot._memo import is_known, memo, set_known
from poinsot.world import Description

CALLS = []


@dataclass(frozen=True, eq=False)
class Owner:
    name: str


@dataclass(frozen=True, eq=False)
class Result:
    owner: Owner
    key: int


@memo
def result(owner: Owner, key: int) -> Result:
    CALLS.append((owner.name, key))
    return Result(owner, key)


def test_a_result_is_computed_once_for_each_owner_and_key():
    CALLS.clear()
    a, b = Owner("a"), Owner("b")
    assert result(a, 1) is result(a, 1)
    assert result(a, 2) is not result(a, 1)
    assert result(b, 1).owner is b
    assert CALLS == [("a", 1), ("a", 2), ("b", 1)]


def test_results_that_refer_to_their_owner_are_forgotten_with_it():
    owner = Owner("a")
    gone = weakref.ref(result(owner, 1))
    del owner
    gc.collect()
    assert gone() is None


def test_copies_and_pickles_start_with_nothing():
    owner = Owner("a")
    first = result(owner, 1)
    for other in (copy.deepcopy(owner), pickle.loads(pickle.dumps(owner))):
        assert other.name == "a"
        assert result(other, 1) is not first


def test_a_cached_property_can_be_set_once_it_is_known():
    description = Description()
    assert not is_known(description, "field")
    set_known(description, "field", "known")
    assert is_known(description, "field")
    assert description.field == "known"


def test_a_class_can_be_the_owner_and_does_not_share_with_its_base():
    @memo
    def name(cls: type) -> str:
        return cls.__name__

    class Derived(Owner):
        pass

    assert [name(Owner), name(Derived), name(Derived)] == ["Owner", "Derived", "Derived"]
