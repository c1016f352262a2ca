/** What the server offers: its games, its limits, and its runs as they change. */

import { api, sentenceOf } from "../api/client";
import type { About, GameInfo, Generation, RunInfo } from "../api/schema";
import { socket } from "../api/socket.svelte";
import { titlePart } from "./names";

class Offer {
  about = $state.raw<About | null>(null);
  games = $state.raw<readonly GameInfo[]>([]);
  runs = $state.raw<readonly RunInfo[]>([]);
  error = $state<string | null>(null);
  #generations = $state.raw<ReadonlyMap<string, ReadonlyMap<number, number>>>(new Map()); // run → step → generation

  async load(): Promise<void> {
    this.error = null;
    try {
      const [about, games, runs] = await Promise.all([api.about(), api.games(), api.runs()]);
      this.games = games;
      this.runs = runs;
      this.about = about;
    } catch (error) {
      this.error = sentenceOf(error);
    }
  }

  /** Follows the runs; returns a function that stops it. */
  watch(): () => void {
    const id = socket.request({ type: "follow-runs" }, (message) => {
      if (message.type !== "run") return;
      const { info, generations } = message;
      this.#learn(info.run, [...generations, ...(info.latest ? [info.latest] : [])]);
      const isNew = !this.runs.some((run) => run.run === info.run);
      this.runs = isNew ? [...this.runs, info] : this.runs.map((run) => (run.run === info.run ? info : run));
    });
    return () => socket.cancel(id);
  }

  /** Loads the generation of each step of a run. */
  async loadGenerations(run: string): Promise<void> {
    try {
      this.#learn(run, (await api.run(run)).generations);
    } catch {
      // Steps are shown without their generations.
    }
  }

  #learn(run: string, generations: readonly Generation[]): void {
    const known = new Map(this.#generations.get(run));
    for (const one of generations) known.set(one.step, one.generation);
    this.#generations = new Map(this.#generations).set(run, known);
  }

  infoOf(name: string): GameInfo | undefined {
    return this.games.find((info) => info.name === titlePart(name));
  }

  /** Whether there is a bundled network for the game of exactly this name. */
  hasBundledNetwork(name: string): boolean {
    const info = this.infoOf(name);
    return info !== undefined && info.has_bundled_network && info.name === name;
  }

  runOf(name: string): RunInfo | undefined {
    return this.runs.find((run) => run.run === name);
  }

  /** The generation of a step's weights, if known. */
  generationOf(run: string, step: number): number | undefined {
    return step === 0 ? 0 : this.#generations.get(run)?.get(step);
  }
}

export const offer = new Offer();
