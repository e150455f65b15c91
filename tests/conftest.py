"""What all tests share."""

from hypothesis import settings

# The first example may compile a kernel, so no time limit for one; derandomised, so that a run can be repeated.
settings.register_profile("poinsot", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("poinsot")
