/** A cache of position views: neighbouring nodes share most of their path. */

import { api } from "../api/client";
import type { Move, Position, View } from "../api/schema";
import type { Ghost } from "../board/types";

const MOST_KEPT = 400;
const kept = new Map<string, Promise<View>>();

/** A position's view. */
export function viewOf(position: Position): Promise<View> {
  const key = JSON.stringify([position.game, position.setup ?? null, position.moves ?? []]);
  const known = kept.get(key);
  if (known) {
    kept.delete(key); // becomes the most recent
    kept.set(key, known);
    return known;
  }
  const asked = api.position(position);
  kept.set(key, asked);
  asked.catch(() => kept.delete(key));
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
  }
  return asked;
}

/** The views along a path, starting with the position before it. */
export function viewsAlong(start: Position, moves: readonly Move[]): Promise<View[]> {
  const before = start.moves ?? [];
  return Promise.all(
    Array.from({ length: moves.length + 1 }, (_, count) => {
      const played = moves.slice(0, count).map((move) => move.action);
      return viewOf({ ...start, moves: [...before, ...played] });
    }),
  );
}

/** The moves of a path as numbered stones on its last board; only stones still there. */
export function numberStones(views: readonly View[], moves: readonly Move[]): Ghost[] {
  const end = views.at(-1)?.board;
  if (!end) return [];
  return moves.flatMap((move, index) => {
    const view = views[index + 1];
    const text = view?.pieces[move.player];
    const place = view?.board?.changed.find(({ row, col }) => view.board?.cells[row]?.[col] === text);
    if (!place || text === undefined || end.cells[place.row]?.[place.col] !== text) return [];
    return [{ row: place.row, col: place.col, text, number: index + 1 }];
  });
}
