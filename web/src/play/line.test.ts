import { expect, test } from "vitest";

import type { Move } from "../api/schema";
import { keyOf, keysAlong, placeAfter, placeBefore } from "./line";

function line(...players: number[]): Move[] {
  return players.map((player, action) => ({ action, name: String(action), player }));
}

test("chance's moves are skipped in both directions", () => {
  const moves = line(-1, -1, 0, -1, 0, -1);
  expect(placeBefore(moves, 6, (move) => move.player >= 0)).toBe(4);
  expect(placeBefore(moves, 2, (move) => move.player >= 0)).toBeNull();
  expect(placeAfter(moves, 2)).toBe(4);
  expect(placeAfter(moves, 4)).toBe(6);
  expect(placeAfter(moves, 6)).toBeNull();
});

test("a position has the same key alone and within a line", () => {
  const moves = [3, 3, 0, 6, 2];
  const keys = keysAlong({ game: "four", moves });
  moves.forEach((_, at) => expect(keyOf({ game: "four", moves: moves.slice(0, at) })).toBe(keys[at]));
});

test("different orders, games and setups have different keys", () => {
  const setup = { cells: [["x"]], to_play: 0 };
  const keys = [
    keyOf({ game: "four", moves: [1, 2] }),
    keyOf({ game: "four", moves: [2, 1] }),
    keyOf({ game: "five", moves: [1, 2] }),
    keyOf({ game: "four", setup, moves: [1, 2] }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
