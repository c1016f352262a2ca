"""The syntax of SGF (FF[4]): properties with values in brackets, nodes, and the main line."""

import re

Node = dict[str, list[str]]
"""The values of each property, unescaped."""

_VALUE = r"\[((?:\\.|[^\]\\])*)\]"
_TOKEN = re.compile(
    rf"\s*(?:(?P<mark>[();])|(?P<key>[A-Za-z]+)(?P<values>(?:\s*{_VALUE})+))", re.DOTALL
)
_VALUES = re.compile(_VALUE, re.DOTALL)
_ESCAPED = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)
_OTHER_SPACE = re.compile(r"[\t\n\v\f\r]")
_EXCERPT = 30


def escape(text: str) -> str:
    """The text as it stands between brackets, on one line."""
    return _OTHER_SPACE.sub(" ", text).replace("\\", "\\\\").replace("]", "\\]")


def main_line(text: str) -> list[Node]:
    """The nodes of the first game without its variations: all that come before the first `)`.

    Raises:
        ValueError: when that cannot be read, with a sentence.
    """
    nodes: list[Node] = []
    place = 0
    while token := _TOKEN.match(text, place):
        place = token.end()
        if token["mark"] == ")":
            break
        if token["mark"] == ";":
            nodes.append({})
        elif token["key"] and nodes:
            key = re.sub("[a-z]", "", token["key"])  # older files write Black for B
            values = [_unescape(value) for value in _VALUES.findall(token["values"])]
            nodes[-1].setdefault(key, []).extend(values)
        elif token["key"]:
            raise ValueError(f"the SGF has {token['key']} outside of a node; a node begins with ;")
    else:
        rest = text[place:].strip()[:_EXCERPT]
        where = f"cannot be read from {rest!r} on" if rest else "ends in the middle: a ) is missing"
        raise ValueError(f"the SGF {where}")
    if not nodes:
        raise ValueError("the SGF holds no game: no node begins with ;")
    return nodes


def _unescape(value: str) -> str:
    """A backslash keeps what follows it, and joins lines; other white space is a space."""
    kept = _ESCAPED.sub(lambda match: "" if match[1][0] in "\r\n" else match[1], value)
    return _OTHER_SPACE.sub(" ", kept)
