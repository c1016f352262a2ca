/** A line of moves shown on the board without being played. */

import { api, isAborted } from "../api/client";
import type { Board, Move, Position, View } from "../api/schema";
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
  #asked: AbortController | null = null;

  /** Shows the position after some moves from `base`. */
  async show(base: Position, moves: readonly Move[]): Promise<void> {
    this.#asked?.abort();
    const asked = (this.#asked = new AbortController());
    const played = base.moves ?? [];
    const prefixes = moves.map((_, count) => moves.slice(0, count + 1).map((move) => move.action));
    try {
      const views = await Promise.all(
        [[], ...prefixes].map((more) => this.#view({ ...base, moves: [...played, ...more] }, asked.signal)),
      );
      if (!asked.signal.aborted) this.shown = makeShown(views, moves);
    } catch (error) {
      if (!isAborted(error) && !asked.signal.aborted) this.shown = null;
    }
  }

  hide(): void {
    this.#asked?.abort();
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

/** Numbered ghosts on the first board where every move adds a piece; else the last board itself. */
export function makeShown(views: readonly View[], moves: readonly Move[]): Shown | null {
  const first = views[0]?.board;
  const last = views.at(-1);
  if (!first || !last?.board) return null;
  const text = `After ${moves.map((move) => move.name).join(", ")}`;
  const ghosts = moves.map((move, index) =>
    ghostOf(views[index]?.board ?? null, views[index + 1]?.board ?? null, move.action, index + 1),
  );
  const isPlain = ghosts.every((ghost) => ghost && isBlank(first.cells[ghost.row]?.[ghost.col] ?? "?"));
  if (!isPlain) return { board: last.board, ghosts: [], view: last, text };
  return { board: first, ghosts: ghosts.filter((ghost) => ghost !== null), view: last, text };
}

function ghostOf(before: Board | null, after: Board | null, action: number, number: number): Ghost | null {
  if (!before || !after) return null;
  const added = after.cells.flatMap((texts, row) =>
    texts.flatMap((text, col) =>
      text !== before.cells[row]?.[col] && !isBlank(text) ? [{ row, col, text, number }] : [],
    ),
  );
  return added.find(({ row, col }) => before.actions[row]?.[col] === action) ?? added[0] ?? null;
}

export const preview = new Preview();
