/** Turns the curves of one or several runs into a chart. */

import type { Generation } from "../api/schema";
import type { ChartSeries } from "../ui/charts";
import type { Across } from "./address";
import type { CurveKind, Line } from "./kinds";

/** A run's part of a chart. */
export interface CurveSource {
  run: string;
  generations: readonly Generation[];
}

export interface ChartContent {
  x: number[];
  series: ChartSeries[];
}

const FEW = 60; // up to this many values are marked with dots
const COLOURS = ["var(--accent)", "var(--player-1)", "var(--player-2)"] as const;

export const acrossTitles: Record<Across, string> = {
  generations: "generation",
  minutes: "minute",
  games: "games",
};

/** A generation's position on the axis. */
export function placeOf(generation: Generation, across: Across): number | null {
  if (across === "generations") return generation.generation;
  const name = across === "minutes" ? "seconds" : "total_games";
  const number = generation.numbers[name];
  if (number === undefined) return null;
  return across === "minutes" ? number / 60 : number;
}

/** The chart of one or several runs; no series if nothing was measured. */
export function layOut(kind: CurveKind, sources: readonly CurveSource[], across: Across): ChartContent {
  const tables = sources.map((source) => tabulate(kind, source.generations, across));
  const x = [...new Set(tables.flatMap((table) => [...table.keys()]))].sort((a, b) => a - b);
  const series = sources.flatMap((source, index) => {
    const numbers = x.map((place) => tables[index]?.get(place)?.numbers);
    return kind.lines.flatMap((line, at) => {
      const values = numbers.map((one) => one?.[line.metric] ?? null);
      const known = values.filter((value) => value !== null).length;
      if (known === 0) return [];
      const label = sources.length > 1 ? `${line.label} (${source.run})` : line.label;
      return [
        {
          label,
          values,
          colour: line.colour ?? COLOURS[at % COLOURS.length],
          isDashed: index > 0,
          hasPoints: known === 1 || Boolean(kind.isSparse && known <= FEW),
          ...bandOf(line, numbers, x),
        },
      ];
    });
  });
  return { x, series };
}


/** The generations with a value of this kind, by axis position; the later one wins. */
function tabulate(
  kind: CurveKind,
  generations: readonly Generation[],
  across: Across,
): Map<number, Generation> {
  const table = new Map<number, Generation>();
  for (const generation of generations) {
    const place = placeOf(generation, across);
    if (place === null || !kind.lines.some((line) => line.metric in generation.numbers)) continue;
    table.set(place, generation);
  }
  return table;
}

/** The error band, with inner gaps filled: unlike lines, bands are not drawn across gaps. */
function bandOf(
  line: Line,
  numbers: readonly (Generation["numbers"] | undefined)[],
  x: readonly number[],
): Pick<ChartSeries, "low" | "high"> {
  const { metric, error } = line;
  if (error === undefined) return {};
  const ends = (sign: number) =>
    numbers.map((one) => {
      const value = one?.[metric];
      const half = one?.[error];
      return value === undefined || half === undefined ? null : value + sign * half;
    });
  return { low: bridge(ends(-1), x), high: bridge(ends(1), x) };
}

/** The values, with gaps interpolated linearly. */
export function bridge(values: readonly (number | null)[], x: readonly number[]): (number | null)[] {
  const known = values.flatMap((value, index) => (value === null ? [] : [{ index, value }]));
  return values.map((value, index) => {
    const next = known.find((one) => one.index >= index);
    const before = known.findLast((one) => one.index <= index);
    if (value !== null || !next || !before) return value;
    const [from, to, here] = [x[before.index] ?? 0, x[next.index] ?? 0, x[index] ?? 0];
    return before.value + ((here - from) / (to - from)) * (next.value - before.value);
  });
}

/** The newest value of a metric that is not measured in every generation, or null. */
export function newestOf(generations: readonly Generation[], metric: string): number | null {
  return generations.findLast((one) => metric in one.numbers)?.numbers[metric] ?? null;
}
