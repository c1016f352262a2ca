/** The state of the Watch view: a position, the settings of one or two searches, and the current moment. */

import { api, sentenceOf } from "../api/client";
import type { About, GameInfo, Position, RunInfo, View } from "../api/schema";
import { current, positionQuery, readPosition } from "../position.svelte";
import { flag, linkTo, number, optionalNumber, type QueryValue } from "../router.svelte";
import { viewOf } from "./boards";
import { Latest } from "../latest";
import { defaultSettings, readSettings, settingsQuery, type Preset, type Settings } from "./settings";
import { LAST_PHASE, Timeline } from "./timeline.svelte";
import { Watched } from "./watched.svelte";

export const DEFAULT_DETAIL = 400;
export const MOST_DETAIL = 2000;
const RANDOM_GAMES = { evaluator: "rollout", run: null, step: null, selection: "uct" } as const;
const OTHER = "b_"; // prefix of the second search's parameters

export class Session {
  about = $state.raw<About | null>(null);
  games = $state.raw<GameInfo[]>([]);
  runs = $state.raw<RunInfo[]>([]);
  message = $state(""); // why there is nothing to show
  position = $state.raw<Position | null>(null);
  view = $state.raw<View | null>(null); // of the position
  settings = $state<[Settings, Settings]>([defaultSettings(), defaultSettings()]);
  isComparing = $state(false);
  detail = $state(DEFAULT_DETAIL);
  isOutline = $state(false);
  readonly timeline = new Timeline();
  readonly sides = [new Watched(), new Watched()] as const;
  isDue = $state(false); // an address requests a search once connected
  #thinksAtOnce = $state(false);
  #initial: { simulation: number | null; phase: number } = { simulation: null, phase: LAST_PHASE };
  readonly #views = new Latest<Position, View>(
    viewOf,
    (_, view) => this.#arrive(view),
    (error) => (this.message = sentenceOf(error)),
  );

  /** The configured searches. */
  get active(): readonly Watched[] {
    return this.isComparing ? this.sides : this.sides.slice(0, 1);
  }

  get isBusy(): boolean {
    return this.active.some((side) => side.isBusy);
  }

  /** The searches that were started; excludes a second one that is only configured. */
  get started(): readonly Watched[] {
    return this.active.filter((side) => side.state !== "idle");
  }

  get hasStarted(): boolean {
    return this.started.length > 0;
  }

  /** Whether two searches are shown side by side. */
  get isPaired(): boolean {
    return this.started.length > 1;
  }

  /** Whether no search is running and at least one can be viewed. */
  get isDone(): boolean {
    return !this.isBusy && this.started.some((side) => side.state === "done");
  }

  /** A or B; empty for a single search. */
  nameOf(side: Watched): string {
    return this.isPaired ? (side === this.sides[0] ? "A" : "B") : "";
  }

  get runsOfGame(): RunInfo[] {
    return this.runs.filter((run) => run.game === this.position?.game && run.steps.length > 0);
  }

  /** Loads the server's offer, then reads an address. */
  async load(query: URLSearchParams): Promise<void> {
    this.message = "";
    try {
      [this.about, this.games, this.runs] = await Promise.all([api.about(), api.games(), api.runs()]);
      this.read(query);
    } catch (error) {
      this.message = sentenceOf(error);
    }
  }

  /** Applies an address; uses the shared position if it names none. */
  read(query: URLSearchParams): void {
    const game = this.about?.default_game;
    const position = readPosition(query) ?? current.position ?? (game ? { game, moves: [] } : null);
    if (!position) return;
    this.settings = [readSettings(query), readSettings(query, OTHER)];
    this.isComparing = flag()(query.get("compare"));
    this.isOutline = flag()(query.get("outline"));
    this.detail = Math.round(number(DEFAULT_DETAIL, 1, MOST_DETAIL)(query.get("nodes")));
    const named = optionalNumber()(query.get("simulation"));
    const phase = Math.round(number(LAST_PHASE, 0, LAST_PHASE)(query.get("phase")));
    this.#initial = { simulation: named === null ? null : Math.round(named), phase };
    this.#thinksAtOnce = flag()(query.get("think"));
    this.goTo(position);
  }

  /** The address parameters of the current state. */
  get query(): Record<string, QueryValue> {
    if (!this.position) return {};
    const { simulation, phase } = this.timeline;
    const hasPlace = this.isDone && !this.timeline.isAtEnd;
    return {
      ...positionQuery(this.position),
      ...settingsQuery(this.settings[0]),
      compare: this.isComparing,
      ...(this.isComparing ? settingsQuery(this.settings[1], OTHER) : {}),
      nodes: this.detail === DEFAULT_DETAIL ? null : this.detail,
      outline: this.isOutline,
      think: this.hasStarted || this.isDue || this.#thinksAtOnce,
      simulation: hasPlace ? simulation : null,
      phase: hasPlace && phase < LAST_PHASE ? String(phase) : null,
    };
  }

  get link(): string {
    return linkTo("/watch", this.query);
  }

  /** Changes the position and drops searches of the old one. */
  goTo(position: Position): void {
    for (const side of this.sides) side.drop();
    this.timeline.reset(0);
    this.isDue = false;
    this.message = "";
    this.position = position;
    current.position = position;
    this.#leaveOtherRuns();
    this.#views.ask(position);
  }

  /** Plays a move; chance then moves automatically. */
  async play(action: number): Promise<void> {
    if (!this.position) return;
    try {
      const view = await api.play({ position: this.position, action });
      this.goTo({ game: view.game, setup: view.setup, moves: view.moves.map((move) => move.action) });
    } catch (error) {
      this.message = sentenceOf(error);
    }
  }

  takePreset(preset: Preset): void {
    this.isComparing = true;
    this.settings = [
      { ...this.settings[0], ...preset.pair[0] },
      { ...this.settings[0], ...preset.pair[1] },
    ];
  }

  think(): void {
    this.isDue = false;
    if (!this.position) return;
    this.timeline.reset(0);
    this.sides[1].drop();
    this.active.forEach((side, index) => {
      if (this.position) side.think(this.position, this.settings[index as 0 | 1]);
    });
  }

  /** Repeats the searches, or one of them, and keeps the place on the timeline. */
  thinkAgain(sides: readonly Watched[] = this.started): void {
    const { simulation, phase, isAtEnd } = this.timeline;
    if (!isAtEnd) this.#initial = { simulation, phase };
    for (const side of sides) side.thinkAgain();
  }

  stop(): void {
    for (const side of this.active) side.stop();
  }

  /** Shows the whole tree, or the moment named by an address, once the searches are done. */
  openTimeline(): void {
    const last = Math.max(...this.started.map((side) => side.simulations));
    this.timeline.reset(last, this.#initial.simulation ?? last, this.#initial.phase);
    this.#initial = { simulation: null, phase: LAST_PHASE };
  }

  close(): void {
    this.timeline.pause();
    this.#views.cancel();
    for (const side of this.sides) side.drop();
  }

  #arrive(view: View): void {
    this.view = view;
    for (const settings of this.settings) {
      if (settings.evaluator === "bundled" && !view.has_bundled_network) Object.assign(settings, RANDOM_GAMES);
    }
    this.isDue = this.#thinksAtOnce && !view.is_over;
    this.#thinksAtOnce = false;
  }

  /** A network plays only its own game. */
  #leaveOtherRuns(): void {
    const names = this.runsOfGame.map((run) => run.run);
    for (const settings of this.settings) {
      if (settings.evaluator !== "network" || (settings.run && names.includes(settings.run))) continue;
      Object.assign(settings, RANDOM_GAMES);
    }
  }
}
