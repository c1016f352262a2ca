"""The syntax of SGF (FF[4]): values in brackets, properties, nodes, and the main line of a game."""

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
_CHARSET = re.compile(rb"CA\s*\[\s*([A-Za-z0-9_.:-]{1,40})\s*\]")
_USUAL_CHARSET = "latin-1"  # if CA is missing
_EXCERPT = 30


def escape(text: str) -> str:
    """The text as it stands between brackets, on one line."""
    return _OTHER_SPACE.sub(" ", text).replace("\\", "\\\\").replace("]", "\\]")


def decode(content: bytes) -> str:
    """The text of a file that is not in UTF-8: in the character set that CA names, else Latin-1."""
    named = _CHARSET.search(content)
    try:
        return content.decode(named[1].decode() if named else _USUAL_CHARSET, errors="replace")
    except (LookupError, ValueError):  # unknown, or not a text encoding
        return content.decode(_USUAL_CHARSET)


def main_lines(text: str) -> list[list[Node]]:
    """The nodes of each game in the file without its variations: the first of every branching.

    Raises:
        ValueError: when that cannot be read, with a sentence.
    """
    games: list[list[Node]] = []
    place, depth, is_main = 0, 0, True
    while token := _TOKEN.match(text, place):
        place = token.end()
        if token["mark"] == "(":
            if depth == 0:
                games.append([])
                is_main = True
            depth += 1
        elif token["mark"] == ")":
            depth, is_main = depth - 1, False  # what comes after the end of a line is a variation
            if depth == 0 and not text[place:].lstrip().startswith("("):
                break
        elif not games:
            break
        elif is_main:
            _add_token(games[-1], token)
    if depth or not games:
        rest = text[place:].strip()[:_EXCERPT]
        where = f"cannot be read from {rest!r} on" if rest else "ends in the middle: a ) is missing"
        raise ValueError(f"the SGF {where}")
    if not all(games):
        raise ValueError("the SGF holds no game: no node begins with ;")
    return games


def _add_token(nodes: list[Node], token: re.Match[str]) -> None:
    """Begins a node, or adds a property to the last one."""
    if token["mark"] == ";":
        nodes.append({})
    elif nodes:
        key = re.sub("[a-z]", "", token["key"])  # older files write Black for B
        values = [_unescape(value) for value in _VALUES.findall(token["values"])]
        nodes[-1].setdefault(key, []).extend(values)
    else:
        raise ValueError(f"the SGF has {token['key']} outside of a node; a node begins with ;")


def _unescape(value: str) -> str:
    """A backslash keeps what follows it, and joins lines; other white space is a space."""
    kept = _ESCAPED.sub(lambda match: "" if match[1][0] in "\r\n" else match[1], value)
    return _OTHER_SPACE.sub(" ", kept)
