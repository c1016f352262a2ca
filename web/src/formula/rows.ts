/** Children as shown: each has a colour and a short sign. */

import type { Child, Curve, FormulaAnswer, ScoredChild } from "../api/schema";
import { sumVisits } from "./settings";

export interface Row {
  index: number; // among all children
  name: string;
  sign: string; // one to three letters
  colour: string;
  child: Child; // as it was given
  scored: ScoredChild;
  curve: Curve;
  share: number; // of the visits
  isChosen: boolean;
}

export const MOST_SHOWN = 12;

const COLOURS = [
  "--player-1",
  "--accent",
  "--player-3",
  "--player-2",
  "--value-loss",
  "--player-4",
  "--value-win",
  "--focus",
  "--bad",
  "--warning",
  "--ink",
  "--ink-soft",
];
const LONGEST_SIGN = 3;

/** The colour of a child; beyond the first twelve they are grey. */
export function colourOf(index: number): string {
  return `var(${COLOURS[index] ?? "--ink-soft"})`;
}

/** Unique signs: short names are kept, long ones become one or two letters, or numbers. */
export function signsOf(names: readonly string[]): string[] {
  const shortened = [1, 2, LONGEST_SIGN].map((length) =>
    names.map((name) => (name.length <= LONGEST_SIGN ? name : capital(name.slice(0, length)))),
  );
  const distinct = shortened.find((signs) => new Set(signs).size === names.length);
  return distinct ?? names.map((_, index) => String(index + 1));
}

/** The displayed data of each child. */
export function rowsOf(children: readonly Child[], answer: FormulaAnswer): Row[] {
  const signs = signsOf(children.map((child) => child.name));
  const total = sumVisits(children);
  return children.flatMap((child, index) => {
    const scored = answer.children[index];
    const curve = answer.curves[index];
    if (!scored || !curve) return [];
    return {
      index,
      name: child.name,
      sign: signs[index] ?? "",
      colour: colourOf(index),
      child,
      scored,
      curve,
      share: total > 0 ? child.visits / total : 0,
      isChosen: index === answer.choice,
    };
  });
}

/** The most important children, by visits and then by prior, in their original order; always includes the selected one. */
export function foremost<One extends { visits: number; prior: number }>(
  children: readonly One[],
  choice: number,
  most = MOST_SHOWN,
): number[] {
  const all = children.map((_, index) => index);
  if (children.length <= most) return all;
  const rank = (index: number) => (index === choice ? Infinity : (children[index]?.visits ?? 0));
  return all
    .sort((a, b) => rank(b) - rank(a) || (children[b]?.prior ?? 0) - (children[a]?.prior ?? 0) || a - b)
    .slice(0, most)
    .sort((a, b) => a - b);
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
