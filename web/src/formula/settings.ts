/** The settings of the Formula view, named as in FormulaRequest. */

import type { Child, FormulaRequest } from "../api/schema";

export type Settings = Required<Omit<FormulaRequest, "children" | "selections" | "curve_visits">>;

/** The parts of the formula that are highlighted while their control is touched. */
export type Part = "q" | "c" | "p" | "t" | "n" | "noise" | "temperature";

/** The search's defaults except `c_puct_base`: c stays constant until growth is turned on. */
export const defaults: Settings = {
  selection: "puct",
  c_uct: Math.SQRT2,
  c_puct: 1.25,
  c_puct_base: 0,
  visit_term: "one-plus-sum",
  visit_exponent: 0.5,
  fpu: "zero",
  fpu_reduction: 0.2,
  parent_value: 0,
  noise_weight: 0,
  noise_alpha: 0.3,
  seed: 0,
  temperature: 1,
};

export const ALPHAZERO_BASE = 19652; // AlphaZero's

export const formulas = [
  { value: "puct", label: "PUCT: guided by the prior" },
  { value: "uct", label: "UCT: no prior" },
  { value: "puct-log", label: "PUCT with logarithm" },
] as const satisfies readonly { value: Settings["selection"]; label: string }[];

export const visitTerms = [
  { value: "one-plus-sum", label: "1 + ΣN" },
  { value: "sum", label: "ΣN" },
  { value: "node", label: "N" },
  { value: "max-one", label: "max(1, N)" },
] as const satisfies readonly { value: Settings["visit_term"]; label: string }[];

export const urgencies = [
  { value: "zero", label: "0, an even game" },
  { value: "parent", label: "the parent's value" },
  { value: "reduction", label: "the parent's value, reduced" },
  { value: "infinite", label: "infinite: try it now" },
] as const satisfies readonly { value: Settings["fpu"]; label: string }[];

/** A number of the formula with three digits; infinity has no figure. */
export function figure(value: number | null | undefined): string {
  if (value === undefined) return "–";
  return value === null ? "∞" : value.toFixed(3).replace("-", "−");
}

export function sumVisits(children: readonly Child[]): number {
  return children.reduce((sum, child) => sum + child.visits, 0);
}
