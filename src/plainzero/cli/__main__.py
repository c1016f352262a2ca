"""`python -m plainzero.cli` is `plainzero`."""

import sys

from plainzero.cli.main import main

sys.exit(main())
