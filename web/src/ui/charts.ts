/** The data of a Chart, and its conversion to uPlot's options. */

import type uPlot from "uplot";

import { resolveColour } from "../colours";
import { short } from "../numbers";

export interface ChartSeries {
  label: string;
  values: readonly (number | null)[];
  colour?: string; // a CSS colour such as var(--player-1)
  low?: readonly (number | null)[]; // with high: a band, e.g. of an error
  high?: readonly (number | null)[];
  isDashed?: boolean;
  hasPoints?: boolean; // dots on the values; by default if there are few
  format?: (value: number) => string;
}

export interface ChartLook {
  height: number;
  width: number;
  xLabel: string;
  yLabel: string;
  yRange: readonly [number | null, number | null];
  isLogX: boolean;
  formatX: (x: number) => string;
  formatY: (y: number) => string;
}

const COLOURS = ["--accent", "--player-1", "--value-win", "--value-loss", "--player-2"];
const FONT = "12px system-ui, sans-serif";
const FEW = 24;

export function colourOfSeries(series: ChartSeries, index: number): string {
  return series.colour ?? `var(${COLOURS[index % COLOURS.length] ?? "--accent"})`;
}

/** x, then each series' values, then the low and high ends of the bands. */
export function chartData(x: readonly number[], series: readonly ChartSeries[]): uPlot.AlignedData {
  const bands = series.filter(hasBand).flatMap((one) => [one.low ?? [], one.high ?? []]);
  const rows = [...series.map((one) => one.values), ...bands];
  return [[...x], ...rows.map((row) => [...row])];
}

export function chartOptions(
  series: readonly ChartSeries[],
  look: ChartLook,
  within: HTMLElement,
  hooks: uPlot.Hooks.Arrays,
): uPlot.Options {
  const ink = resolveColour("var(--ink-soft)", within);
  const line = resolveColour("var(--line)", within);
  const axis = { stroke: ink, font: FONT, labelFont: FONT, grid: { stroke: line, width: 1 } };
  const ticks = { stroke: line, width: 1, size: 4 };
  const [low, high] = look.yRange;
  return {
    width: look.width,
    height: look.height,
    legend: { show: false },
    cursor: { points: { size: 8 }, drag: { x: false, y: false }, y: false },
    scales: {
      x: { time: false, distr: look.isLogX ? 3 : 1 },
      y: { range: { min: limit(low), max: limit(high) } },
    },
    axes: [
      {
        ...axis,
        ticks,
        label: look.xLabel,
        labelSize: 20,
        size: 30,
        values: (_, values) => values.map((x) => (x === null ? "" : look.formatX(x))),
      },
      {
        ...axis,
        ticks,
        label: look.yLabel || undefined,
        labelSize: 20,
        size: 48,
        values: (_, values) => values.map((y) => (y === null ? "" : look.formatY(y))),
      },
    ],
    series: [{}, ...lines(series, within), ...bandEnds(series)],
    bands: bands(series, within),
    hooks,
  };
}

/** A one-sentence summary for screen readers. */
export function summarise(title: string, x: readonly number[], series: readonly ChartSeries[]): string {
  const parts = series.map((one) => {
    const known = one.values.flatMap((value) => (value === null ? [] : [value]));
    const first = known[0];
    const last = known.at(-1);
    if (first === undefined || last === undefined) return `${one.label}: no values`;
    const format = one.format ?? short;
    const least = format(Math.min(...known));
    const most = format(Math.max(...known));
    return `${one.label} goes from ${format(first)} to ${format(last)}, between ${least} and ${most}`;
  });
  return `${title}, ${x.length} points. ${parts.join("; ")}.`;
}

function hasBand(series: ChartSeries): boolean {
  return series.low !== undefined && series.high !== undefined;
}

function lines(series: readonly ChartSeries[], within: HTMLElement): uPlot.Series[] {
  return series.map((one, index) => {
    const stroke = resolveColour(colourOfSeries(one, index), within);
    const showsPoints = one.hasPoints ?? one.values.length <= FEW;
    return {
      label: one.label,
      stroke,
      width: 2,
      dash: one.isDashed ? [6, 4] : undefined,
      spanGaps: true,
      points: { show: showsPoints, size: 5, fill: stroke },
    };
  });
}

function bandEnds(series: readonly ChartSeries[]): uPlot.Series[] {
  return series.filter(hasBand).flatMap(() => [
    { width: 0, spanGaps: true, points: { show: false } },
    { width: 0, spanGaps: true, points: { show: false } },
  ]);
}

function bands(series: readonly ChartSeries[], within: HTMLElement): uPlot.Band[] {
  const found: uPlot.Band[] = [];
  let next = series.length + 1;
  series.forEach((one, index) => {
    if (!hasBand(one)) return;
    const faint = `color-mix(in srgb, ${colourOfSeries(one, index)} 20%, transparent)`;
    found.push({ series: [next + 1, next], fill: resolveColour(faint, within) });
    next += 2;
  });
  return found;
}

function limit(end: number | null): uPlot.Range.Limit {
  return end === null ? { pad: 0.1 } : { pad: 0, hard: end, soft: end, mode: 1 };
}
