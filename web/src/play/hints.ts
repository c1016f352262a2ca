/** Hints: what is drawn on the board, and their wording. */

import type { Analysis } from "../api/schema";
import type { Heat } from "../board/types";
import { percent } from "../numbers";
import { expectedScore } from "./results";

/** Visit shares, or priors if nothing was visited; empty if neither is known. */
export function heatOf(analysis: Analysis): ReadonlyMap<number, Heat> | undefined {
  const entries = analysis.moves.flatMap((move): [number, Heat][] => {
    const share = move.share ?? move.prior;
    return share === null ? [] : [[move.action, { share }]];
  });
  return entries.length > 0 ? new Map(entries) : undefined;
}

/** The recommended move alone. */
export function heatOfHint(hint: Analysis): ReadonlyMap<number, Heat> | undefined {
  const action = hint.book?.action ?? hint.best;
  return action === null ? undefined : new Map([[action, { share: 1, label: "hint" }]]);
}

/** The hint in one sentence, or an empty string. */
export function wordsOfHint(hint: Analysis): string {
  if (hint.book) return `Hint: ${hint.book.name}, by the opening book.`;
  const move = hint.moves.find((one) => one.action === hint.best);
  if (!move) return "";
  if (move.exact === 1) return `Hint: ${move.name}. It wins.`;
  const score = hint.value === null ? "" : ` Expected score: ${percent(expectedScore(hint.value))}.`;
  return `Hint: ${move.name}.${score}`;
}
