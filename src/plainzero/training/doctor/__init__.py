"""Why a run does not learn: `diagnose` runs the checks of `learning` and `selfplay`."""
