"""A Gomocup engine, correct or faulty: `python fake_gomocup.py FAULT [FILE]`.

It plays the first free point, row by row. From its second move on it has the given fault.
"""

import os
import sys
import time


def main(fault, file=""):
    if fault == "dies at once":
        print("a library is missing", file=sys.stderr)
        sys.exit(127)
    if fault == "never reads":
        time.sleep(600)
    if fault == "speaks first":
        print("MESSAGE welcome\nDEBUG 0\n\nno word of the protocol", flush=True)
    size, taken, asked = 0, set(), 0
    for line in sys.stdin:
        if file:
            with open(file, "a") as log:
                log.write(line)
        command, _, rest = line.strip().partition(" ")
        answer = None
        if command == "END":
            break
        if command == "START":
            size, taken = int(rest), set()
            answer = "OK" if fault != "takes no board" else "ERROR this board is too small"
        elif command == "RESTART" and fault == "cannot restart":
            answer = "UNKNOWN"
        elif command == "RESTART":
            taken, answer = set(), "OK"
        elif command == "BOARD":
            for stone in iter(sys.stdin.readline, "DONE\n"):
                if file:
                    with open(file, "a") as log:
                        log.write(stone)
                taken.add(stone.rpartition(",")[0])
        elif command == "TURN":
            taken.add(rest)
        elif command == "PLAY":
            answer = rest
        if command in ("BEGIN", "TURN", "BOARD"):
            asked += 1
            points = [f"{x},{y}" for y in range(size) for x in range(size)]
            answer = next(point for point in points if point not in taken)
            wrong = misbehave(fault, answer, sorted(taken)) if asked > 1 else answer
            taken.add(answer)
            answer = wrong
        if answer is not None:
            print(answer, flush=True)


def misbehave(fault, answer, taken):
    if fault == "crashes":
        print("bug: index out of range", file=sys.stderr, flush=True)
        sys.exit(3)
    if fault == "is killed":
        os.kill(os.getpid(), 11)
    if fault == "falls silent":
        time.sleep(600)
    if fault == "babbles":
        while True:
            print("MESSAGE bla", flush=True)
            time.sleep(0.01)
    return {
        "plays an illegal move": taken[0] if taken else "0,77",
        "leaves the board": "77,0",
        "answers nonsense": "z99 of course",
        "refuses": "ERROR bad coordinates",
        "does not understand": "UNKNOWN",
        "writes notes": f"MESSAGE thinking\nDEBUG depth 3\nOK\nnodes 12, 13\n{answer}",
        "suggests": f"SUGGEST {answer}",
        "writes spaces": f"  {answer.replace(',', ' , ')} \r",
    }.get(fault, answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
