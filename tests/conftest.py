"""For all tests: Hypothesis without a clock, since compiling makes first examples slow."""

from hypothesis import settings

settings.register_profile("tesuji", deadline=None)
settings.load_profile("tesuji")
