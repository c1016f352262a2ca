/** Analyses of the position: by a search, as the game proceeds, and by the solver. */

import { api } from "../api/client";
import type { Agent, Analysis, Limits, Outcomes, Position } from "../api/schema";
import { Question } from "./asking.svelte";
import { keyOf } from "./line";
import { DEFAULT_CHOICE, toAgent, type PlayerChoice } from "./players";

export type Source = "off" | "opponent" | "engine";

const KEPT_AS = "plainzero-analysis";
const MOST_KEPT = 2000;
const SOLVING_SECONDS = 3;

export class Analyst {
  source = $state<Source>("opponent");
  engine = $state.raw<PlayerChoice>({ ...DEFAULT_CHOICE, simulations: 2000 });
  seed = $state(0);
  showsHeat = $state(true);
  solves = $state(true);
  error = $state<string | null>(null);
  hint = $state.raw<{ key: string; analysis: Analysis } | null>(null);

  #results = $state.raw<ReadonlyMap<string, Analysis>>(new Map());
  #outcomes = $state.raw<ReadonlyMap<string, Outcomes>>(new Map());
  #lastTried = "";
  #solving: { key: string; controller: AbortController } | null = null;
  #question = new Question();
  #asked = $state.raw<{ key: string; signature: string } | null>(null); // kept after the answer
  #hintQuestion = new Question();

  constructor() {
    this.#restore();
  }

  /** Identifies the agent and settings of an analysis. */
  readonly signature = $derived(JSON.stringify([this.engine, this.seed]));

  /** The analysis of a position so far, or null. */
  opinionOf(key: string): Analysis | null {
    const live = this.isRunning(key) ? this.#question.thinking?.analysis : null;
    return live ?? this.finishedOpinionOf(key);
  }

  isRunning(key: string): boolean {
    return this.#question.thinking !== null && this.#asked?.key === key;
  }

  get isHinting(): boolean {
    return this.#hintQuestion.thinking !== null;
  }

  /** The finished analysis, for the graph. */
  finishedOpinionOf(key: string): Analysis | null {
    return this.#results.get(this.signature + key) ?? null;
  }

  /** Analyses this position from now on, and cancels any other analysis. */
  follow(position: Position, canProve: boolean, limits: Limits): void {
    const key = keyOf(position);
    const { signature } = this;
    if (this.#asked?.key === key && this.#asked.signature === signature) return;
    this.rest();
    this.error = null;
    if (this.#results.has(signature + key)) return;
    this.#asked = { key, signature };
    this.#question.ask(position, toAgent(this.engine, limits, canProve), this.seed, {
      onanswer: ({ analysis }) => (this.#results = keep(this.#results, signature + key, analysis)),
      onfailure: (sentence) => (this.error = sentence),
    });
  }

  /** Asks again after a failure. */
  retry(): void {
    this.error = null;
    this.rest();
  }

  /** Cancels the current analysis. */
  rest(): void {
    this.#question.cancel();
    this.#asked = null;
  }

  /** A move to recommend: the one already found, if any. */
  askHint(position: Position, agent: Agent): void {
    const key = keyOf(position);
    const known = this.source === "engine" ? this.finishedOpinionOf(key) : null;
    this.dropHint();
    if (known) {
      this.hint = { key, analysis: known };
      return;
    }
    this.#hintQuestion.ask(position, agent, 0, {
      onanswer: ({ analysis }) => (this.hint = { key, analysis }),
      onfailure: (sentence) => (this.error = sentence),
    });
  }

  dropHint(): void {
    this.#hintQuestion.cancel();
    this.hint = null;
  }

  /** Solved outcomes, as far as they are known; undefined while unknown. */
  outcomesOf(key: string): Outcomes | undefined {
    return this.#outcomes.get(key);
  }

  /** Solves a position for a few seconds; an unsolved one is retried once per visit. */
  async solve(position: Position): Promise<void> {
    const key = keyOf(position);
    const isTried = this.#lastTried === key || this.#solving?.key === key;
    if (isTried || this.#outcomes.get(key)?.is_solved) {
      if (this.#solving?.key !== key) this.#lastTried = key;
      return;
    }
    this.stopSolving();
    const controller = new AbortController();
    this.#solving = { key, controller };
    try {
      const found = await api.outcomes({ position, seconds: SOLVING_SECONDS }, controller.signal);
      this.#outcomes = keep(this.#outcomes, key, found);
      this.#lastTried = key;
    } catch {
      // The server is busy or the page was left: the column stays empty, and the next visit asks again.
    } finally {
      if (this.#solving?.key === key) this.#solving = null;
    }
  }

  stopSolving(): void {
    this.#solving?.controller.abort();
    this.#solving = null;
  }

  /** Cancels everything in progress. */
  leave(): void {
    this.rest();
    this.stopSolving();
    this.dropHint();
  }

  /** Keeps the settings for the next visit. */
  save(): void {
    const { source, engine, seed, showsHeat, solves } = this;
    try {
      localStorage.setItem(KEPT_AS, JSON.stringify({ source, engine, seed, showsHeat, solves }));
    } catch {
      // No storage: the settings last until the page is closed.
    }
  }

  #restore(): void {
    try {
      const kept = JSON.parse(localStorage.getItem(KEPT_AS) ?? "{}") as Partial<Analyst>;
      this.source = kept.source ?? this.source;
      this.engine = { ...this.engine, ...kept.engine };
      this.seed = kept.seed ?? this.seed;
      this.showsHeat = kept.showsHeat ?? this.showsHeat;
      this.solves = kept.solves ?? this.solves;
    } catch {
      // Unreadable: use the defaults.
    }
  }
}

/** A copy with one more entry; beyond the limit, the oldest are dropped. */
function keep<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value): Map<string, Value> {
  const copy = new Map(map).set(key, value);
  for (const oldest of copy.keys()) {
    if (copy.size <= MOST_KEPT) break;
    copy.delete(oldest);
  }
  return copy;
}

export const analyst = new Analyst();
