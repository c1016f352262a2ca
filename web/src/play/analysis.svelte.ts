/** Opinions on the position: an engine's, asked for as the game goes, and the solver's. */

import { api } from "../api/client";
import type { Analysis, FromServer, Limits, Outcomes, Player, Position } from "../api/schema";
import { socket } from "../api/socket.svelte";
import { keyOf } from "./game.svelte";
import { DEFAULT_CHOICE, toPlayer, type PlayerChoice } from "./players";

export type Source = "off" | "opponent" | "engine";

interface Live {
  id: string;
  key: string;
  signature: string; // of the engine
  analysis: Analysis | null;
  ahead: number | null;
  isDone: boolean;
}

const KEPT_AS = "tesuji-analysis";
const MOST_KEPT = 2000;
const SOLVING_SECONDS = 3;

export class Analyst {
  source = $state<Source>("opponent");
  engine = $state.raw<PlayerChoice>({ ...DEFAULT_CHOICE, simulations: 2000 });
  seed = $state(0);
  showsHeat = $state(true);
  solves = $state(true);
  live = $state.raw<Live | null>(null);
  error = $state<string | null>(null);
  hint = $state.raw<{ key: string; analysis: Analysis } | null>(null);
  isHinting = $state(false);

  #results = $state.raw<ReadonlyMap<string, Analysis>>(new Map());
  #outcomes = $state.raw<ReadonlyMap<string, Outcomes>>(new Map());
  #solving: { key: string; controller: AbortController } | null = null;
  #hintId: string | null = null;

  constructor() {
    this.#restore();
  }

  /** What tells one engine's opinions from another's. */
  readonly signature = $derived(JSON.stringify([this.engine, this.seed]));

  /** The engine's opinion of a position, so far; null where it has none. */
  opinionOf(key: string): Analysis | null {
    const live = this.live;
    if (live?.key === key && live.signature === this.signature && live.analysis) return live.analysis;
    return this.#results.get(this.signature + key) ?? null;
  }

  isRunning(key: string): boolean {
    return this.live !== null && this.live.key === key && !this.live.isDone;
  }

  /** The engine's finished opinion, for the graph. */
  finishedOpinionOf(key: string): Analysis | null {
    return this.#results.get(this.signature + key) ?? null;
  }

  /** Thinks about this position from now on; what was thought about another one ends. */
  follow(position: Position, numPlayers: number, limits: Limits): void {
    const key = keyOf(position);
    const { signature } = this;
    if (this.live?.key === key && this.live.signature === signature) return;
    this.rest();
    this.error = null;
    if (this.#results.has(signature + key)) return;
    const player = toPlayer(this.engine, limits, numPlayers);
    const request = { type: "ask", position, player, seed: this.seed } as const;
    const id = socket.request(request, (message) => this.#hear(message));
    this.live = { id, key, signature, analysis: null, ahead: null, isDone: false };
  }

  /** Asks again after a failure. */
  retry(): void {
    this.error = null;
    this.rest();
  }

  /** Ends what is being thought about. */
  rest(): void {
    if (this.live && !this.live.isDone) socket.cancel(this.live.id);
    this.live = null;
  }

  /** A move to recommend; the one that the engine already found, where it did. */
  askHint(position: Position, player: Player): void {
    const key = keyOf(position);
    const known = this.source === "engine" ? this.finishedOpinionOf(key) : null;
    this.dropHint();
    if (known) {
      this.hint = { key, analysis: known };
      return;
    }
    this.isHinting = true;
    this.#hintId = socket.request({ type: "ask", position, player, seed: 0 }, (message) => {
      if (message.id !== this.#hintId) return;
      if (message.type === "answer") this.hint = { key, analysis: message.answer.analysis };
      if (message.type === "failure") this.error = message.message;
      if (message.type === "answer" || message.type === "failure") this.isHinting = false;
    });
  }

  dropHint(): void {
    if (this.isHinting && this.#hintId) socket.cancel(this.#hintId);
    this.#hintId = null;
    this.isHinting = false;
    this.hint = null;
  }

  /** True outcomes, as far as they were found; undefined while nothing is known. */
  outcomesOf(key: string): Outcomes | undefined {
    return this.#outcomes.get(key);
  }

  /** Solves a position for a few seconds, unless that was tried. */
  async solve(position: Position): Promise<void> {
    const key = keyOf(position);
    if (this.#outcomes.has(key) || this.#solving?.key === key) return;
    this.stopSolving();
    const controller = new AbortController();
    this.#solving = { key, controller };
    try {
      const found = await api.outcomes({ position, seconds: SOLVING_SECONDS }, controller.signal);
      this.#outcomes = keep(this.#outcomes, key, found);
    } catch {
      // A busy server or a page left behind: the column stays empty, and the next look asks again.
    } finally {
      if (this.#solving?.key === key) this.#solving = null;
    }
  }

  stopSolving(): void {
    this.#solving?.controller.abort();
    this.#solving = null;
  }

  /** Ends all that is under way. */
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
      // No storage here: the settings last as long as the page.
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
      // Unreadable: the settings begin anew.
    }
  }

  #hear(message: FromServer): void {
    const live = this.live;
    if (!live || live.id !== message.id) return;
    if (message.type === "queued") this.live = { ...live, ahead: message.ahead };
    if (message.type === "progress") this.live = { ...live, analysis: message.analysis, ahead: null };
    if (message.type === "failure") {
      this.live = { ...live, isDone: true, ahead: null };
      this.error = message.message;
    }
    if (message.type === "answer") {
      const { analysis } = message.answer;
      this.#results = keep(this.#results, live.signature + live.key, analysis);
      this.live = { ...live, analysis, ahead: null, isDone: true };
    }
  }
}

/** A copy with one entry more; beyond what is kept, the oldest go. */
function keep<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value): Map<string, Value> {
  const copy = new Map(map).set(key, value);
  for (const oldest of copy.keys()) {
    if (copy.size <= MOST_KEPT) break;
    copy.delete(oldest);
  }
  return copy;
}

export const analyst = new Analyst();
