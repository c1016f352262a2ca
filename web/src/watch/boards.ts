/** A cache of position views: neighbouring nodes share most of their path. */

import { api } from "../api/client";
import type { Move, Position, View } from "../api/schema";
import type { Ghost } from "../board/types";

const MOST_CACHED = 400;
const cache = new Map<string, Promise<View>>();

/** A position's view. */
export function viewOf(position: Position): Promise<View> {
  const key = JSON.stringify([position.game, position.setup ?? null, position.moves ?? []]);
  const known = cache.get(key);
  if (known) {
    cache.delete(key); // becomes the most recent
    cache.set(key, known);
    return known;
  }
  const request = api.position(position);
  cache.set(key, request);
  request.catch(() => cache.delete(key));
  for (const oldest of cache.keys()) {
    if (cache.size <= MOST_CACHED) break;
    cache.delete(oldest);
  }
  return request;
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
