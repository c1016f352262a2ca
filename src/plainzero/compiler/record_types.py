"""Records whose fields are attributes, in plain Python as in compiled code."""

from typing import Any

import numpy as np


class Record(np.void):  # type: ignore[misc]
    """An element of a structured array: a reference into it, not a copy."""

    def __getattribute__(self, name: str) -> Any:
        """The field of that name, or else NumPy's own attribute."""
        fields = np.void.__getattribute__(self, "dtype").fields
        return self[name] if name in fields else np.void.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Writes a field; other names are an error."""
        names = self.dtype.names or ()
        if name not in names:
            raise AttributeError(f"no field {name!r}; the fields are {', '.join(names)}")
        self[name] = value


def record_dtype(**fields: Any) -> np.dtype[Any]:
    """A record type of the named fields; a pair is an element type and a length."""
    columns = [
        (name, kind[0], (kind[1],)) if isinstance(kind, tuple) else (name, kind)
        for name, kind in fields.items()
    ]
    return np.dtype((Record, np.dtype(columns, align=True)))
