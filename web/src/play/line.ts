/** Places in a line of moves, and names for positions along it. */

import type { Move, Position, View } from "../api/schema";

/** The position on a view. */
export function positionOf(view: View): Position {
  return { game: view.game, setup: view.setup, moves: view.moves.map((move) => move.action) };
}

/** The place before the last move that `holds`, or null. */
export function placeBefore(line: readonly Move[], at: number, holds: (move: Move) => boolean): number | null {
  const index = line.slice(0, at).findLastIndex(holds);
  return index < 0 ? null : index;
}

/** The next place where somebody decides, behind chance's moves; null at the end. */
export function placeAfter(line: readonly Move[], at: number): number | null {
  if (at >= line.length) return null;
  let place = at + 1;
  while (place < line.length && line[place]?.player === -1) place += 1;
  return place;
}

/** One short text for equal positions of equal pasts. */
export function keyOf(position: Position): string {
  return keysAlong(position).at(-1) ?? "";
}

/**
 * The key of every position on the way, from the beginning on.
 *
 * Keys hold a hash of 64 bits over the moves instead of the moves, so that a game of thousands of
 * moves takes thousands of steps here, not their square.
 */
export function keysAlong(position: Position): string[] {
  const moves = position.moves ?? [];
  const start = JSON.stringify([position.game, position.setup ?? null]);
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  const keys = [`${start} 0`];
  moves.forEach((move, index) => {
    low = Math.imul(low ^ (move + 1), 0x01000193) >>> 0;
    high = Math.imul((high ^ (move + 1)) + (high >>> 15), 0x85ebca6b) >>> 0;
    keys.push(`${start} ${index + 1} ${low.toString(36)} ${high.toString(36)}`);
  });
  return keys;
}
