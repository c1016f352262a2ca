/** A recorded move on the board, and the use of arrow keys. */

import type { RecordedMove } from "../api/schema";
import type { Heat } from "../board/types";

const FAINTEST = 0.0005; // smaller shares are not drawn

/** The policy target of this move, by action. */
export function heatOf(recorded: RecordedMove): Map<number, Heat> {
  const shown = recorded.policy.filter((one) => one.share >= FAINTEST);
  return new Map(shown.map(({ action, share }) => [action, { share }]));
}

export interface ShareRow {
  action: number;
  name: string;
  share: number;
  isPlayed: boolean;
}

/** The moves with the largest shares, including the one played, and the rest's total share. */
export function topShares(recorded: RecordedMove, most: number): { rows: ShareRow[]; rest: number; others: number } {
  const played = recorded.move.action;
  const all = recorded.policy.map((one) => ({ ...one, isPlayed: one.action === played }));
  if (all.length > 0 && !all.some((one) => one.isPlayed)) {
    all.push({ action: played, name: recorded.move.name, share: 0, isPlayed: true });
  }
  all.sort((a, b) => b.share - a.share || a.action - b.action);
  const isKept = (one: ShareRow, index: number) => index < most || one.isPlayed;
  const rows = all.filter(isKept);
  const rest = all.filter((one, index) => !isKept(one, index));
  return { rows, rest: rest.reduce((sum, one) => sum + one.share, 0), others: rest.length };
}

/** Whether the arrow keys are free: no field, tab or board that uses them has the focus. */
export function takesArrows(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return false;
  const target = event.target instanceof Element ? event.target : null;
  return !target?.closest("input, select, textarea, dialog, [role=tab], [role=grid], [role=region]");
}
