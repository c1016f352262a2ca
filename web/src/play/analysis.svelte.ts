/** Analyses of the position: by a search, as the game proceeds, and by the solver. */

import { api } from "../api/client";
import type { Agent, Analysis, Limits, Outcomes, Position } from "../api/schema";
import { AgentRequest } from "./agentRequest.svelte";
import { keyOf } from "./line";
import { DEFAULT_CHOICE, toAgent, type AgentChoice } from "./agents";

const SOURCES = ["off", "opponent", "own"] as const;
export type Source = (typeof SOURCES)[number];

const STORAGE_KEY = "plainzero-analysis";
const MOST_RESULTS = 2000;
const SOLVING_SECONDS = 3;

export class Analyst {
  source = $state<Source>("opponent");
  agent = $state.raw<AgentChoice>({ ...DEFAULT_CHOICE, simulations: 2000 });
  seed = $state(0);
  showsHeat = $state(true);
  solves = $state(true);
  error = $state<string | null>(null);
  hint = $state.raw<{ key: string; analysis: Analysis } | null>(null);

  #results = $state.raw<ReadonlyMap<string, Analysis>>(new Map());
  #outcomes = $state.raw<ReadonlyMap<string, Outcomes>>(new Map());
  #lastTried = "";
  #solving: { key: string; controller: AbortController } | null = null;
  #request = new AgentRequest();
  #current = $state.raw<{ key: string; signature: string } | null>(null); // stays after the answer
  #hintRequest = new AgentRequest();

  constructor() {
    this.#restore();
  }

  /** Identifies the agent and settings of an analysis. */
  readonly signature = $derived(JSON.stringify([this.agent, this.seed]));

  /** The analysis of a position so far, or null. */
  analysisOf(key: string): Analysis | null {
    const live = this.isRunning(key) ? this.#request.thinking?.analysis : null;
    return live ?? this.finishedAnalysisOf(key);
  }

  isRunning(key: string): boolean {
    return this.#request.thinking !== null && this.#current?.key === key;
  }

  get isHinting(): boolean {
    return this.#hintRequest.thinking !== null;
  }

  /** The finished analysis, for the graph. */
  finishedAnalysisOf(key: string): Analysis | null {
    return this.#results.get(this.signature + key) ?? null;
  }

  /** Analyses this position from now on, and cancels any other analysis. */
  follow(position: Position, canProve: boolean, limits: Limits): void {
    const key = keyOf(position);
    const { signature } = this;
    if (this.#current?.key === key && this.#current.signature === signature) return;
    this.cancel();
    this.error = null;
    if (this.#results.has(signature + key)) return;
    this.#current = { key, signature };
    this.#request.ask(position, toAgent(this.agent, limits, canProve), this.seed, {
      onanswer: ({ analysis }) => (this.#results = withEntry(this.#results, signature + key, analysis)),
      onfailure: (sentence) => (this.error = sentence),
    });
  }

  /** Retries after a failure. */
  retry(): void {
    this.error = null;
    this.cancel();
  }

  /** Cancels the current analysis. */
  cancel(): void {
    this.#request.cancel();
    this.#current = null;
  }

  /** A move to recommend: the one already found, if any. */
  askHint(position: Position, agent: Agent): void {
    const key = keyOf(position);
    const known = this.source === "own" ? this.finishedAnalysisOf(key) : null;
    this.dropHint();
    if (known) {
      this.hint = { key, analysis: known };
      return;
    }
    this.#hintRequest.ask(position, agent, 0, {
      onanswer: ({ analysis }) => (this.hint = { key, analysis }),
      onfailure: (sentence) => (this.error = sentence),
    });
  }

  dropHint(): void {
    this.#hintRequest.cancel();
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
      this.#outcomes = withEntry(this.#outcomes, key, found);
      this.#lastTried = key;
    } catch {
      // The server is busy or the page was left: the column stays empty, and the next visit tries again.
    } finally {
      if (this.#solving?.key === key) this.#solving = null;
    }
  }

  stopSolving(): void {
    this.#solving?.controller.abort();
    this.#solving = null;
  }

  /** Cancels everything in progress. */
  cancelAll(): void {
    this.cancel();
    this.stopSolving();
    this.dropHint();
  }

  /** Stores the settings for the next visit. */
  save(): void {
    const { source, agent, seed, showsHeat, solves } = this;
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify({ source, agent, seed, showsHeat, solves }));
    } catch {
      // No storage: the settings last until the page is closed.
    }
  }

  #restore(): void {
    try {
      const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}") as Partial<Analyst>;
      this.source = SOURCES.find((source) => source === stored.source) ?? this.source;
      this.agent = { ...this.agent, ...stored.agent };
      this.seed = stored.seed ?? this.seed;
      this.showsHeat = stored.showsHeat ?? this.showsHeat;
      this.solves = stored.solves ?? this.solves;
    } catch {
      // Unreadable: use the defaults.
    }
  }
}

/** A copy with one more entry; beyond the limit, the oldest are dropped. */
function withEntry<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value): Map<string, Value> {
  const copy = new Map(map).set(key, value);
  for (const oldest of copy.keys()) {
    if (copy.size <= MOST_RESULTS) break;
    copy.delete(oldest);
  }
  return copy;
}

export const analyst = new Analyst();
