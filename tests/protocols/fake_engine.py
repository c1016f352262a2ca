"""A GTP engine for tic-tac-toe, correct or faulty: `python fake_engine.py FAULT [FILE]`.

It plays the first free cell. From its second move on it has the given fault.
"""

import os
import subprocess
import sys
import time

CELLS = [column + row for row in "123" for column in "abc"]
KNOWN = "boardsize clear_board play genmove undo list_commands quit name".split()


def main(fault, file=""):
    if fault == "dies at once":
        print("a library is missing", file=sys.stderr)
        sys.exit(127)
    if fault == "has a child":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with open(file, "w") as pid_file:
            pid_file.write(str(child.pid))
    if fault == "never reads":
        time.sleep(600)
    if fault == "speaks first":
        print("Welcome!", flush=True)
    moves, asked = [], 0
    for line in sys.stdin:
        number, command, *rest = line.split()
        if command == "quit":
            break
        answer = ""
        if command == "list_commands":
            answer = "\n".join(KNOWN if fault != "knows nothing" else ["name"])
        elif command == "clear_board":
            moves = []
        elif command == "play":
            moves.append(rest[1].lower())
        elif command == "undo":
            moves.pop()
        elif command == "genmove":
            asked += 1
            answer = next(cell for cell in CELLS if cell not in moves)
            if asked > 1:
                answer = misbehave(fault, answer, moves)
            moves.append(answer.lower())
        if file and fault == "logs commands":
            with open(file, "a") as log:
                log.write(f"{command} {' '.join(rest)}".strip() + "\n")
        print(f"={number} {answer}\n", flush=True)


def misbehave(fault, answer, moves):
    if fault == "crashes":
        print("bug: index out of range", file=sys.stderr, flush=True)
        sys.exit(3)
    if fault == "is killed":
        os.kill(os.getpid(), 11)
    if fault == "falls silent":
        time.sleep(600)
    if fault == "babbles":
        while True:
            print("bla " * 20)
    if fault == "writes one long line":
        while True:
            sys.stdout.write("bla " * 1000)
    if fault == "closes its output":
        os.close(1)
        time.sleep(600)
    if fault == "is slow":
        time.sleep(0.05)
    return {
        "plays an illegal move": moves[0] if moves else "a1",
        "answers nonsense": "z99 of course",
        "resigns": "resign",
        "shouts": answer.upper(),
    }.get(fault, answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
