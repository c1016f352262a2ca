/** Indices into a line of moves, and keys for its positions. */

import type { Move, Position, View } from "../api/schema";

/** The position of a view. */
export function positionOf(view: View): Position {
  return { game: view.game, setup: view.setup, moves: view.moves.map((move) => move.action) };
}

/** The index of the last move for which `holds` is true, or null. */
export function placeBefore(line: readonly Move[], at: number, holds: (move: Move) => boolean): number | null {
  const index = line.slice(0, at).findLastIndex(holds);
  return index < 0 ? null : index;
}

/** The next index at which a player decides, after chance's moves; null at the end. */
export function placeAfter(line: readonly Move[], at: number): number | null {
  if (at >= line.length) return null;
  let place = at + 1;
  while (place < line.length && line[place]?.player === -1) place += 1;
  return place;
}

/** A short key, equal for equal positions with equal histories. */
export function keyOf(position: Position): string {
  return keysAlong(position).at(-1) ?? "";
}

/**
 * The key of every position of the line, from the start.
 *
 * Keys contain a 64-bit hash of the moves instead of the moves, so that the work is linear in the
 * length of the game rather than quadratic.
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
