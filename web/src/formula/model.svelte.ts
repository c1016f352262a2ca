/** One set of numbers to experiment with, and the server's result. */

import { untrack } from "svelte";

import { api, sentenceOf } from "../api/client";
import type { Child, FormulaAnswer, FormulaRequest } from "../api/schema";
import { Latest } from "../latest";
import { addVisits, type FormulaState } from "./address";
import { findPreset } from "./presets";
import { rowsOf, type Row } from "./rows";
import { sumVisits, type Part, type Settings } from "./settings";

interface Shown {
  request: FormulaRequest;
  answer: FormulaAnswer;
}

const SHORTEST_CURVE = 20;
const SLIDER_ENDS = [100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];

export class FormulaModel {
  preset = $state("");
  settings = $state<Settings>({ ...findPreset(null).settings });
  children = $state<Child[]>([]);
  /** The selections made since the visits were last set by hand. */
  order = $state.raw<readonly number[]>([]);
  /** The part of the formula whose control was touched last; it is highlighted. */
  touched = $state<Part | null>(null);
  /** The last answer together with its request, so that they always match. */
  shown = $state.raw<Shown | null>(null);
  error = $state<string | null>(null);
  isSelecting = $state(false);
  /** The end of the visit sliders; it never shrinks while one is dragged. */
  mostVisits = $state(100);
  #picked = $state<number | null>(null);
  #origin = $state.raw<{ children: readonly Child[]; value: number }>({ children: [], value: 0 });
  readonly #answers = new Latest<FormulaRequest, FormulaAnswer>(
    (request) => api.formula(request),
    (request, answer) => ([this.shown, this.error] = [{ request, answer }, null]),
    (error) => (this.error = sentenceOf(error)),
  );

  readonly request: FormulaRequest = $derived({
    ...$state.snapshot(this.settings),
    children: $state.snapshot(this.children),
    curve_visits: curveEnd(this.children),
  });
  readonly rows: Row[] = $derived(
    this.shown ? rowsOf(this.shown.request.children, this.shown.answer) : [],
  );
  /** The child shown in the formula: the one picked, otherwise the one selected next. */
  readonly current: Row | undefined = $derived(
    this.rows[this.#picked ?? -1] ?? this.rows.find((row) => row.isChosen),
  );

  constructor(preset: string | null = null) {
    this.usePreset(preset);
  }

  usePreset(name: string | null): void {
    const { name: preset, settings, children } = findPreset(name);
    this.use({ preset, settings, children, order: [], valueAfter: settings.parent_value });
  }

  use(state: FormulaState): void {
    this.preset = state.preset;
    this.#origin = { children: state.children, value: state.settings.parent_value };
    this.settings = { ...state.settings, parent_value: state.valueAfter };
    this.children = addVisits(state.children, state.order);
    this.order = state.order;
    this.#picked = null;
    this.mostVisits = SLIDER_ENDS[0] ?? 100;
    this.#widen();
  }

  /** Everything an address stores. */
  state(): FormulaState {
    const { children, value } = this.#origin;
    const visits = children.map((child) => child.visits);
    return {
      preset: this.preset,
      settings: { ...$state.snapshot(this.settings), parent_value: value },
      children: $state.snapshot(this.children).map((child, index) => ({
        ...child,
        visits: visits[index] ?? child.visits,
      })),
      order: this.order,
      valueAfter: this.settings.parent_value,
    };
  }

  pick(index: number): void {
    this.#picked = index === this.#picked ? null : index;
  }

  /** Called after visits or the parent's value were edited: selections restart from here. */
  restartSelections(): void {
    this.order = [];
    this.#origin = { children: $state.snapshot(this.children), value: this.settings.parent_value };
  }

  /** Back to before the first selection. */
  takeBack(): void {
    const before = this.#origin;
    this.children.forEach((child, index) => (child.visits = before.children[index]?.visits ?? 0));
    this.settings.parent_value = before.value;
    this.order = [];
  }

  /** Lets the server select `selections` times and applies the resulting visits. */
  async select(selections: number): Promise<void> {
    if (this.isSelecting) return;
    this.isSelecting = true;
    const origin = this.#origin;
    try {
      const answer = await api.formula({ ...this.request, selections, curve_visits: 1 });
      if (this.#origin !== origin) return; // the numbers have changed since
      this.children.forEach((child, index) => (child.visits = answer.visits_after[index] ?? 0));
      this.settings.parent_value = answer.parent_value_after;
      this.order = [...this.order, ...answer.order];
      this.#picked = null;
      this.#widen();
      this.error = null;
    } catch (error) {
      this.error = sentenceOf(error);
    } finally {
      this.isSelecting = false;
    }
  }

  /** Evaluates `request`; of several in quick succession, the last counts. */
  ask(request: FormulaRequest): void {
    this.#answers.ask(request);
  }

  #widen(): void {
    const largest = Math.max(...this.children.map((child) => child.visits));
    const end = SLIDER_ENDS.find((one) => one >= largest) ?? largest;
    this.mostVisits = Math.max(this.mostVisits, end);
  }
}

/** Keeps the model's numbers up to date while a component is shown. */
export function follow(model: FormulaModel): void {
  $effect(() => {
    const request = model.request;
    untrack(() => model.ask(request));
  });
}

function curveEnd(children: readonly Child[]): number {
  const largest = Math.max(...children.map((child) => child.visits), 0);
  const length = Math.max(SHORTEST_CURVE, largest * 1.25, sumVisits(children) / children.length);
  const step = 10 ** Math.floor(Math.log10(length)) / 2;
  return Math.min(1_000_000, Math.ceil(length / step) * step);
}
