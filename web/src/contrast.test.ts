import { expect, test } from "vitest";

import css from "./app.css?raw";
import { depthOf } from "./board/pieces";

type Rgb = [number, number, number]; // linear light, 0 to 1

const themes = ["light", "dark"] as const;
const TEXT = 4.5;
const SHAPE = 3;

const texts: [string, string[]][] = [
  ["ink", ["ground", "surface", "sunken", "raised", "accent-soft", "bad-soft"]],
  ["ink-soft", ["ground", "surface", "sunken", "raised"]],
  ["accent", ["ground", "surface", "raised", "accent-soft"]],
  ["accent-strong", ["ground", "surface", "raised"]],
  ["on-accent", ["accent", "accent-strong"]],
  ["good", ["ground", "surface", "raised"]],
  ["warning", ["ground", "surface", "raised"]],
  ["bad", ["ground", "surface", "raised", "bad-soft"]],
  ["player-1", ["ground", "surface", "raised"]],
  ["player-2", ["ground", "surface", "raised"]],
  ["player-3", ["ground", "surface", "raised"]],
  ["player-4", ["ground", "surface", "raised"]],
  ["value-loss", ["ground", "surface", "raised"]],
  ["value-win", ["ground", "surface", "raised"]],
  ["board-ink", ["board", "well"]],
  ["stone-1-mark", ["stone-1"]],
  ["stone-2-mark", ["stone-2"]],
];
const shapes: [string, string[]][] = [
  ["line-strong", ["ground", "surface", "raised"]],
  ["focus", ["ground", "surface", "raised", "board", "well"]],
  ["accent", ["board", "well"]],
  ["stone-3-mark", ["stone-3"]],
  ["stone-4-mark", ["stone-4"]],
  ["stone-1-edge", ["board", "well", "surface"]],
  ["stone-2-edge", ["board", "well", "surface"]],
  ["stone-3-edge", ["board", "well"]],
  ["stone-4-edge", ["board", "well"]],
  ["stone-1", ["stone-2"]],
  ["dark-stone", ["stone-2"]],
  ["dark-stone-edge", ["board"]],
];

for (const theme of themes) {
  test(`text is readable in the ${theme} theme`, () => {
    expect(tooFaint(texts, theme, TEXT)).toEqual([]);
  });

  test(`shapes stand out from their background in the ${theme} theme`, () => {
    expect(tooFaint(shapes, theme, SHAPE)).toEqual([]);
  });

  test(`every number is readable on its tile in the ${theme} theme`, () => {
    const faint = Array.from({ length: 14 }, (_, doublings) => 2 ** doublings).filter((value) => {
      const depth = depthOf(value);
      const tile = mix(token("tile-high", theme), token("tile-low", theme), depth);
      const ink = token(depth > 0.5 ? "tile-ink-inverse" : "tile-ink", theme);
      return contrast(ink, tile) < TEXT;
    });
    expect(faint).toEqual([]);
  });
}

function tooFaint(pairs: [string, string[]][], theme: (typeof themes)[number], least: number): string[] {
  return pairs.flatMap(([front, backs]) =>
    backs.flatMap((back) => {
      const found = contrast(token(front, theme), token(back, theme));
      return found < least ? [`${front} on ${back}: ${found.toFixed(2)}`] : [];
    }),
  );
}

function token(name: string, theme: (typeof themes)[number]): Rgb {
  const found = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(css);
  const hex = found?.[theme === "light" ? 1 : 2];
  if (!hex) throw new Error(`app.css has no colour --${name} for both themes.`);
  return [1, 3, 5].map((at) => toLinear(parseInt(hex.slice(at, at + 2), 16) / 255)) as Rgb;
}

function toLinear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** As CSS mixes in oklab: a share of `a`, the rest of `b`. */
function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const [from, to] = [toOklab(b), toOklab(a)];
  return fromOklab(from.map((start, i) => start + share * ((to[i] ?? 0) - start)) as Rgb);
}

function toOklab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab([lightness, a, b]: Rgb): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}
