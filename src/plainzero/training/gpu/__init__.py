"""A run on a GPU: its generator, its learner, and the default settings."""
