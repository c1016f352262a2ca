/** The page's copy of the runs: a summary of all, and the curves of those opened. */

import { SvelteMap } from "svelte/reactivity";

import { api, sentenceOf } from "../api/client";
import type { About, GameInfo, Generation, RunInfo, RunUpdate, StartRun } from "../api/schema";
import { socket } from "../api/socket.svelte";
import { titlePart } from "../play/names";
import { gapsIn, hasGoneBack, mergeGenerations } from "./merging";

export type Sections = Record<string, Record<string, boolean | number | string>>;

/** An opened run. */
export interface Curves {
  generations: readonly Generation[];
  settings: Sections;
}

class Training {
  about = $state.raw<About | null>(null);
  games = $state.raw<readonly GameInfo[]>([]);
  infos = $state.raw<readonly RunInfo[]>([]);
  error = $state<string | null>(null);
  curves = new SvelteMap<string, Curves>();
  curveErrors = new SvelteMap<string, string>();
  updatedAt = new SvelteMap<string, number>(); // time of a run's last update, by performance.now()
  #gaps = new Map<string, string>(); // gaps already requested: what a run has no record of stays a gap
  #loading = new Map<string, RunUpdate[]>(); // with the updates that arrived during loading

  /** Loads all runs and follows them; returns a function that stops it. */
  start(): () => void {
    void this.load();
    const id = socket.request({ type: "follow-runs" }, (message) => {
      if (message.type === "run") this.#receive(message);
      if (message.type === "run-removed") this.#drop(message.run);
    });
    return () => socket.cancel(id);
  }

  async load(): Promise<void> {
    this.error = null;
    try {
      const [about, games, infos] = await Promise.all([api.about(), api.games(), api.runs()]);
      this.games = games;
      this.#take(infos);
      this.about = about;
    } catch (error) {
      this.error = sentenceOf(error);
    }
  }

  /** Reloads the list: runs removed while disconnected are not reported. */
  async refresh(): Promise<void> {
    try {
      this.#take(await api.runs());
    } catch {
      // The top bar shows the lost connection; the next one reloads.
    }
  }

  /** Loads the complete curves of a run; updates that arrive during loading are included. */
  async open(run: string): Promise<void> {
    if (this.#loading.has(run)) return;
    const updates: RunUpdate[] = [];
    this.#loading.set(run, updates);
    this.curveErrors.delete(run);
    try {
      const { info, generations, settings } = await api.run(run);
      const arrived = updates.flatMap((update) => update.generations);
      this.curves.set(run, { generations: mergeGenerations(generations, arrived), settings });
      if (updates.length === 0) this.#put(info);
    } catch (error) {
      this.curveErrors.set(run, sentenceOf(error));
    } finally {
      this.#loading.delete(run);
    }
  }

  async begin(request: StartRun): Promise<RunInfo> {
    const info = await api.startRun(request);
    this.#put(info);
    return info;
  }

  async stop(run: string): Promise<void> {
    this.#put(await api.stopRun(run));
  }

  async resume(run: string, minutes: number | null): Promise<void> {
    this.#put(await api.resumeRun(run, { minutes }));
    if (this.curves.has(run)) void this.open(run); // its limit has changed
  }

  infoOf(run: string): RunInfo | undefined {
    return this.infos.find((info) => info.run === run);
  }

  gameOf(name: string): GameInfo | undefined {
    return this.games.find((game) => game.name === titlePart(name));
  }

  /** "Connect Four", or "Connect Four (rows=7)" with other parameters. */
  titleOf(name: string): string {
    const title = this.gameOf(name)?.title ?? titlePart(name);
    const parameters = name.slice(titlePart(name).length);
    return parameters ? `${title} ${parameters.replaceAll(",", ", ")}` : title || "unknown game";
  }

  #receive(update: RunUpdate): void {
    const { info, generations } = update;
    const before = this.infoOf(info.run);
    this.#put(info);
    this.#loading.get(info.run)?.push(update);
    const known = this.curves.get(info.run);
    if (!known) return;
    const merged = mergeGenerations(known.generations, generations);
    if (merged !== known.generations) this.curves.set(info.run, { ...known, generations: merged });
    const isOther = before?.state !== info.state; // the settings may have changed
    if (isOther || this.#hasNewGap(merged, info) || hasGoneBack(merged, before, info)) void this.open(info.run);
  }

  #take(infos: readonly RunInfo[]): void {
    for (const info of infos) this.#put(info);
    this.infos = infos;
  }

  #hasNewGap(known: readonly Generation[], info: RunInfo): boolean {
    const gaps = gapsIn(known, info).join();
    if (gaps === "" || gaps === this.#gaps.get(info.run)) return false;
    this.#gaps.set(info.run, gaps);
    return true;
  }

  #drop(run: string): void {
    this.infos = this.infos.filter((info) => info.run !== run);
    this.curves.delete(run);
  }

  #put(info: RunInfo): void {
    const before = this.infoOf(info.run);
    if (before?.seconds !== info.seconds || before.state !== info.state) this.updatedAt.set(info.run, performance.now());
    const isNew = !this.infos.some((one) => one.run === info.run);
    this.infos = isNew
      ? [...this.infos, info]
      : this.infos.map((one) => (one.run === info.run ? info : one));
  }
}

export const training = new Training();
