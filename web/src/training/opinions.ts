/** One position across checkpoints: which moves to show, and what is right. */

import type { Move, MoveOutcome, Opinions } from "../api/schema";

export interface MoveHistory {
  move: Move;
  shares: number[]; // at each checkpoint, oldest first
  outcome: MoveOutcome["outcome"] | null; // the truth, where it is known
  isRight: boolean; // leads to the best that can be had, while another move does not
}

/** Every move with its history, those that ever mattered most first. */
export function historiesOf(opinions: Opinions): MoveHistory[] {
  const best = bestOutcome(opinions);
  const hasChoice = opinions.outcomes.some((one) => one.outcome !== best);
  const histories = opinions.moves.map((move, index) => {
    const outcome = opinions.outcomes.find((one) => one.action === move.action)?.outcome ?? null;
    return {
      move,
      shares: opinions.opinions.map((one) => one.policy[index] ?? 0),
      outcome,
      isRight: hasChoice && outcome !== null && outcome === best,
    };
  });
  return histories.sort((a, b) => weightOf(b) - weightOf(a) || a.move.action - b.move.action);
}

/** The best that can be had for the player to move; null where the truth is not known. */
export function bestOutcome(opinions: Opinions): number | null {
  const outcomes = opinions.outcomes.map((one) => one.outcome);
  return outcomes.length > 0 ? Math.max(...outcomes) : null;
}

/** At each checkpoint, how much of the policy lies on right moves; null where none stands out. */
export function rightShares(opinions: Opinions): number[] | null {
  const right = historiesOf(opinions).filter((history) => history.isRight);
  if (right.length === 0) return null;
  return opinions.opinions.map((_, index) =>
    right.reduce((sum, history) => sum + (history.shares[index] ?? 0), 0),
  );
}

/** "wins", "draws", "loses". */
export function outcomeWord(outcome: number): string {
  return outcome > 0 ? "wins" : outcome < 0 ? "loses" : "draws";
}

/** Points of a curve in a box of that size; shares from 0, at the bottom, to 1. */
export function curvePoints(shares: readonly number[], width: number, height: number): [number, number][] {
  const last = Math.max(1, shares.length - 1);
  return shares.map((share, index) => [(index / last) * width, (1 - share) * height]);
}

/** What is liked now and what was ever liked both count. */
function weightOf({ shares }: MoveHistory): number {
  return (shares.at(-1) ?? 0) + Math.max(0, ...shares);
}
