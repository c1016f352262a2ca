"""Makes `python -m plainzero.cli` an alias of `plainzero`."""

import sys

from plainzero.cli.main import main

sys.exit(main())
