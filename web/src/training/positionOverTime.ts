/** One position across checkpoints: which moves to show, and which are right. */

import type { Move, MoveOutcome, PositionOverTime } from "../api/schema";

export interface MoveHistory {
  move: Move;
  shares: number[]; // at each checkpoint, oldest first
  outcome: MoveOutcome["outcome"] | null; // the truth, if known
  isRight: boolean; // leads to the best result, while another move does not
}

/** Every move with its history, the most important first. */
export function historiesOf(overTime: PositionOverTime): MoveHistory[] {
  const best = bestOutcome(overTime);
  const hasChoice = overTime.outcomes.some((one) => one.outcome !== best);
  const histories = overTime.moves.map((move, index) => {
    const outcome = overTime.outcomes.find((one) => one.action === move.action)?.outcome ?? null;
    return {
      move,
      shares: overTime.checkpoints.map((one) => one.policy[index] ?? 0),
      outcome,
      isRight: hasChoice && outcome !== null && outcome === best,
    };
  });
  return histories.sort((a, b) => weightOf(b) - weightOf(a) || a.move.action - b.move.action);
}

/** The best result for the player to move; null if unknown. */
export function bestOutcome(overTime: PositionOverTime): number | null {
  const outcomes = overTime.outcomes.map((one) => one.outcome);
  return outcomes.length > 0 ? Math.max(...outcomes) : null;
}

/** The policy's share on right moves at each checkpoint; null if all moves are equal. */
export function rightShares(overTime: PositionOverTime): number[] | null {
  const right = historiesOf(overTime).filter((history) => history.isRight);
  if (right.length === 0) return null;
  return overTime.checkpoints.map((_, index) =>
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

/** A move's importance: both its latest and its largest share count. */
function weightOf({ shares }: MoveHistory): number {
  return (shares.at(-1) ?? 0) + Math.max(0, ...shares);
}
