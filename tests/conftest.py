"""For all tests: Hypothesis without a clock, since compiling makes first examples slow."""

from hypothesis import settings

settings.register_profile("plainzero", deadline=None)
settings.load_profile("plainzero")


def pytest_addoption(parser):
    parser.addoption(
        "--needs-browser",
        action="store_true",
        help="fail where the page's tests would be skipped for want of a browser or of the page",
    )
    parser.addoption(
        "--needs-gnugo",
        action="store_true",
        help="fail where the tests against GNU Go would be skipped for want of it",
    )
