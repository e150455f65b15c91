"""Errors that carry what they are about, so that a reader of files can point at the line and need not parse prose."""

from collections.abc import Iterator
from contextlib import contextmanager


class FieldError(ValueError):
    """A value that does not fit. The message stands alone; the attributes say the same to a program.

    field: the name of the field, "joint.damping" for a field within a field; "" if the error is about all of the owner.
    owner: the name of the body or element; "" if only the caller knows it.
    """

    def __init__(self, message: str, field: str = "", owner: str = "") -> None:
        super().__init__(message)
        self.field, self.owner = field, owner


class UnknownNameError(KeyError):
    """Nothing has this `name`; `owner`: the body or element that refers to it, "" if only the caller knows it."""

    def __init__(self, message: str, name: str = "", owner: str = "") -> None:
        super().__init__(message)
        self.name, self.owner = name, owner

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0])


@contextmanager
def about(owner: str = "", field: str = "") -> Iterator[None]:
    """Make an error that is raised within one about this field of this owner, unless it names its own owner."""
    try:
        yield
    except FieldError as error:
        if not error.owner:
            error.owner, error.field = owner, ".".join(name for name in (field, error.field) if name)
        raise
    except UnknownNameError as error:
        error.owner = error.owner or owner
        raise
    except ValueError as error:
        raise FieldError(str(error), field, owner) from error
