/** Agents that differ only in simulations, as lines over their number. */

import type { Ladder, LadderRung } from "../api/schema";
import type { ChartSeries } from "../ui/charts";
import { titles } from "../play/agents";

const NAMES: Record<string, string> = {
  uct: titles.uct,
  puct: titles.puct,
  threats: titles.threats,
  bundled: titles.bundled,
};

/** The numbers of simulations, ascending, and a line for each family of two or more agents. */
export function linesOf(ladder: Ladder): { x: number[]; series: ChartSeries[] } {
  const families = new Map<string, LadderRung[]>();
  for (const rung of ladder.rungs) {
    if (!rung.family || rung.simulations === 0) continue;
    families.set(rung.family, [...(families.get(rung.family) ?? []), rung]);
  }
  const shown = [...families].filter(([, rungs]) => rungs.length > 1);
  const x = [...new Set(shown.flatMap(([, rungs]) => rungs.map((rung) => rung.simulations)))];
  x.sort((a, b) => a - b);
  const series = shown.map(([family, rungs]) => {
    const at = (value: (rung: LadderRung) => number) =>
      x.map((count) => {
        const rung = rungs.find((one) => one.simulations === count);
        return rung ? value(rung) : null;
      });
    return {
      label: NAMES[family] ?? family,
      values: at((rung) => rung.elo),
      low: at((rung) => rung.elo - rung.error),
      high: at((rung) => rung.elo + rung.error),
      hasPoints: true,
    };
  });
  return { x, series };
}
