"""The measurements of `plainzero bench`; other programs run in separate processes (`peers`)."""
