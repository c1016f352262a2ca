/** A line of moves shown on the board without being played. */

import { api, isAborted } from "../api/client";
import type { Board, Move, Position, View } from "../api/schema";
import { landingsOf } from "../board/geometry";
import { isBlank } from "../board/pieces";
import type { Ghost } from "../board/types";
import { keyOf } from "./line";

export interface Shown {
  board: Board;
  ghosts: Ghost[];
  view: View; // at the end of the line
  text: string; // what is shown, in words
}

const MOST_KEPT = 500;

export class Preview {
  shown = $state.raw<Shown | null>(null);
  #views = new Map<string, View>();
  #request: AbortController | null = null;

  /** Shows the position after some moves from `base`; only the two end positions are requested. */
  async show(base: Position, moves: readonly Move[]): Promise<void> {
    this.#request?.abort();
    const request = (this.#request = new AbortController());
    const after = [...(base.moves ?? []), ...moves.map((move) => move.action)];
    try {
      const [first, last] = await Promise.all([
        this.#view(base, request.signal),
        this.#view({ ...base, moves: after }, request.signal),
      ]);
      if (!request.signal.aborted) this.shown = makeShown(first, last, moves);
    } catch (error) {
      if (!isAborted(error) && !request.signal.aborted) this.shown = null;
    }
  }

  hide(): void {
    this.#request?.abort();
    this.shown = null;
  }

  async #view(position: Position, signal: AbortSignal): Promise<View> {
    const key = keyOf(position);
    const known = this.#views.get(key);
    if (known) return known;
    const view = await api.position(position, signal);
    if (this.#views.size >= MOST_KEPT) this.#views.clear();
    this.#views.set(key, view);
    return view;
  }
}

/** Numbered ghosts on the first board if the moves only add pieces; otherwise the last board. */
export function makeShown(first: View, last: View, moves: readonly Move[]): Shown | null {
  if (!first.board || !last.board) return null;
  const text = `After ${moves.map((move) => move.name).join(", ")}`;
  const ghosts = ghostsOf(first.board, last.board, moves);
  if (!ghosts) return { board: last.board, ghosts: [], view: last, text };
  return { board: first.board, ghosts, view: last, text };
}

/** One piece for each move, where it would land; null if the last board differs. */
function ghostsOf(first: Board, last: Board, moves: readonly Move[]): Ghost[] | null {
  const cells = first.cells.map((row) => [...row]);
  const ghosts: Ghost[] = [];
  for (const [index, move] of moves.entries()) {
    const place = landingsOf({ ...first, cells }).get(move.action);
    const row = place && cells[place.row];
    const text = place && last.cells[place.row]?.[place.col];
    if (!row || text === undefined || !isBlank(row[place.col] ?? "?")) return null;
    row[place.col] = text;
    ghosts.push({ row: place.row, col: place.col, text, number: index + 1 });
  }
  const isAll = cells.every((row, y) => row.every((text, x) => text === last.cells[y]?.[x]));
  return isAll ? ghosts : null;
}

export const preview = new Preview();
