/** The state of the Formula view in an address: a preset and the differences from it. */

import { number, type QueryValue } from "../addresses";
import type { Child } from "../api/schema";
import { findPreset } from "./presets";
import { formulas, urgencies, visitTerms, type Settings } from "./settings";

export interface FormulaState {
  preset: string;
  settings: Settings;
  children: readonly Child[]; // before the selections
  order: readonly number[]; // the selections since
  valueAfter: number; // the parent's value after them
}

const BETWEEN = "*"; // needs no escaping in an address
const MOST_IN_ADDRESS = 400; // selections; a longer history is omitted, but its visits are kept
const FIGURES = "0123456789abcdefghijklmnopqrstuvwxyz";

const limits = {
  c_uct: [0, 1000],
  c_puct: [0, 1000],
  c_puct_base: [0, 1e9],
  visit_exponent: [0, 4],
  fpu_reduction: [0, 10],
  parent_value: [-1, 1],
  noise_weight: [0, 1],
  noise_alpha: [0, 1000],
  seed: [0, 2 ** 31 - 1],
  temperature: [0, 100],
} as const satisfies Partial<Record<keyof Settings, readonly [number, number]>>;

export function writeFormula(state: FormulaState): Record<string, QueryValue> {
  const base = findPreset(state.preset);
  const query: Record<string, QueryValue> = { preset: base.name === findPreset(null).name ? null : base.name };
  for (const [name, value] of Object.entries(state.settings)) {
    if (value !== base.settings[name as keyof Settings]) query[name] = String(value);
  }
  const isShort = state.order.length <= MOST_IN_ADDRESS && state.children.length <= FIGURES.length;
  const children = isShort ? state.children : addVisits(state.children, state.order);
  if (JSON.stringify(children) !== JSON.stringify(base.children)) query.children = writeChildren(children);
  if (isShort && state.order.length > 0) {
    query.order = state.order.map((index) => FIGURES[index]).join("");
    if (state.valueAfter !== state.settings.parent_value) query.value_after = state.valueAfter;
  } else if (!isShort) {
    query.parent_value = state.valueAfter;
  }
  return query;
}

export function readFormula(query: URLSearchParams): FormulaState {
  const base = findPreset(query.get("preset"));
  const settings = { ...base.settings };
  for (const name of Object.keys(limits) as (keyof typeof limits)[]) {
    settings[name] = number(settings[name], ...limits[name])(query.get(name));
  }
  settings.seed = Math.round(settings.seed);
  settings.selection = known(formulas, query.get("selection"), settings.selection);
  settings.visit_term = known(visitTerms, query.get("visit_term"), settings.visit_term);
  settings.fpu = known(urgencies, query.get("fpu"), settings.fpu);
  const children = readChildren(query.get("children") ?? "") ?? base.children;
  const order = [...(query.get("order") ?? "")]
    .map((letter) => FIGURES.indexOf(letter))
    .filter((index) => index >= 0 && index < children.length);
  const valueAfter = number(settings.parent_value, -1, 1)(query.get("value_after"));
  return { preset: base.name, settings, children, order, valueAfter };
}

/** The children with one more visit per selection. */
export function addVisits(children: readonly Child[], order: readonly number[]): Child[] {
  const added = children.map(() => 0);
  for (const index of order) added[index] = (added[index] ?? 0) + 1;
  return children.map((child, index) => ({ ...child, visits: child.visits + (added[index] ?? 0) }));
}

export function writeChildren(children: readonly Child[]): string {
  return children
    .map(({ name, prior, visits, q }) => [escapeName(name), tidy(prior), visits, tidy(q)].join(BETWEEN))
    .join(",");
}

/** The children, or `null` if the text is invalid. */
export function readChildren(text: string): Child[] | null {
  const children = text.split(",").flatMap((part): Child[] => {
    const [name, prior, visits, q] = part.split(BETWEEN);
    if (!name || prior === undefined || visits === undefined || q === undefined) return [];
    return [
      {
        name: unescapeName(name),
        prior: number(0, 0, 1)(prior),
        visits: Math.round(number(0, 0, 10_000_000)(visits)),
        q: number(0, -1, 1)(q),
      },
    ];
  });
  return children.length > 0 ? children.slice(0, 512) : null;
}

function known<Value extends string>(
  options: readonly { value: Value }[],
  given: string | null,
  otherwise: Value,
): Value {
  return options.find((option) => option.value === given)?.value ?? otherwise;
}

function tidy(value: number): number {
  return Number(value.toPrecision(6));
}

function escapeName(name: string): string {
  return name.replace(/[%,*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function unescapeName(name: string): string {
  return name.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}
