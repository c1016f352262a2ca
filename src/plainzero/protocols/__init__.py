"""Protocols for game engines, GTP and Gomocup: PlainZero as an engine, and engines as agents."""
