"""A fuzzer is a function of a random generator that tries one thing, and raises `Finding` if something is wrong."""


class Finding(AssertionError):
    """Something that a user must never see: a wrong number, a traceback, a crash, a lost file."""


def require(condition: bool, message: str) -> None:
    if not condition:
        raise Finding(message)
