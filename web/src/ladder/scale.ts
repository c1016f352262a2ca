/** Where ratings are drawn: shares of the width, for the dots and their intervals. */

import type { LadderRung } from "../api/schema";

const MARGIN = 0.06; // of the span of the ratings, on either side
const STEPS = [50, 100, 200, 250, 500, 1000, 2000];
const MOST_TICKS = 7;

export interface Scale {
  low: number;
  high: number;
  ticks: number[];
}

/** A scale that shows all ratings, with ends of intervals where they fit. */
export function scaleOf(rungs: readonly LadderRung[]): Scale {
  const elos = rungs.map((rung) => rung.elo);
  const span = Math.max(200, Math.max(...elos) - Math.min(...elos));
  const most = span / 4; // an interval that reaches further is cut
  const low = Math.min(...rungs.map((rung) => rung.elo - Math.min(rung.error, most))) - MARGIN * span;
  const high = Math.max(...rungs.map((rung) => rung.elo + Math.min(rung.error, most))) + MARGIN * span;
  const step = STEPS.find((one) => (high - low) / one <= MOST_TICKS) ?? 5000;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return { low, high, ticks: Array.from({ length: count }, (_, i) => (first + i) * step) };
}

/** The place of a rating as a percentage of the width, within the scale. */
export function placeOf(scale: Scale, elo: number): number {
  const share = (elo - scale.low) / (scale.high - scale.low);
  return 100 * Math.min(1, Math.max(0, share));
}
