"""`python -m tesuji.cli` is `tesuji`."""

import sys

from tesuji.cli.main import main

sys.exit(main())
