/** The tokens' colours for a canvas, in the current theme. */

import { resolveColour, valueColour } from "../colours";

export const TINTS = 11; // steps from lost to won

export interface Palette {
  tints: string[];
  unknown: string; // a node without a value
  edge: string;
  principal: string;
  path: string;
  outline: string;
  ink: string;
  inkSoft: string;
  ground: string;
  onPath: string;
  focus: string;
  font: string;
}

export function readPalette(within: HTMLElement): Palette {
  const read = (colour: string) => resolveColour(colour, within);
  const tints = Array.from({ length: TINTS }, (_, tint) =>
    read(valueColour((2 * tint) / (TINTS - 1) - 1)),
  );
  return {
    tints,
    unknown: read("var(--raised)"),
    edge: read("color-mix(in oklab, var(--line-strong) 62%, var(--surface))"),
    principal: read("var(--ink)"),
    path: read("var(--accent)"),
    outline: read("var(--line-strong)"),
    ink: read("var(--ink)"),
    inkSoft: read("var(--ink-soft)"),
    ground: read("var(--surface)"),
    onPath: read("var(--on-accent)"),
    focus: read("var(--focus)"),
    font: getComputedStyle(within).fontFamily,
  };
}

/** The tint index of a value from −1 to +1; the last index means no value. */
export function tintOf(value: number | null): number {
  if (value === null) return TINTS;
  const share = (Math.min(1, Math.max(-1, value)) + 1) / 2;
  return Math.round(share * (TINTS - 1));
}
