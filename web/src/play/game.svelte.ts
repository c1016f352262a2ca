/** A game on the board: its moves, who plays, and the opponent's thinking. Knows no component. */

import { api, ApiError, isAborted, sentenceOf } from "../api/client";
import type { Analysis, Limits, Move, SearchAnswer, Setup, View } from "../api/schema";
import type { SharedGame } from "./address";
import { socket } from "../api/socket.svelte";
import { Question, type Thinking } from "./asking.svelte";
import { keyOf, placeAfter, placeBefore, positionOf } from "./line";
import { DEFAULT_CHOICE, nameOf, shortNameOf, toPlayer, type PlayerChoice } from "./players";
import { learnNames } from "./names";
import { namesOf, resultOf, type Seat } from "./results";
import { fitSeats, swapSeats } from "./seats";

interface Change {
  view: View;
  line: readonly Move[];
  settle?: () => void; // what else changes
}

const WATCHING_PAUSE_MS = 450; // between moves where nobody but machines plays

export class Game {
  /** The position on the board; null until the first one has come. */
  view = $state.raw<View | null>(null);
  /** All moves of the game, also those after the one on the board. */
  line = $state.raw<readonly Move[]>([]);
  seats = $state.raw<readonly Seat[]>([]);
  opponent = $state.raw<PlayerChoice>(DEFAULT_CHOICE);
  resigned = $state<number | null>(null);
  /** Whether machines wait to be told to go on. */
  isPaused = $state(false);
  /** Whether the next position is on its way. */
  isBusy = $state(false);
  error = $state<string | null>(null);
  /** What the opponent thought of positions, by their keys. */
  thoughts = $state.raw<ReadonlyMap<string, Analysis>>(new Map());
  /** Returns at the end of the line, where it was seen to be over. */
  ending = $state.raw<readonly number[] | null>(null);
  /** The names of the game's moves that were seen so far, by action. */
  moveNames = $state.raw<ReadonlyMap<number, string>>(new Map());
  /** Whether somebody said who plays, so that nothing changes it by itself. */
  hasChosen = false;
  /** Counts games begun: the address gets a new entry for each. */
  beginnings = $state(0);

  readonly at = $derived(this.view?.moves.length ?? 0);
  readonly isAtTip = $derived(this.at === this.line.length);
  readonly names = $derived(namesOf(this.seats, shortNameOf(this.opponent)));
  readonly result = $derived(
    this.view ? resultOf(this.view, this.names, this.isResigned ? this.resigned : null) : "",
  );
  readonly isOver = $derived(this.view !== null && (this.view.is_over || this.isResigned));
  readonly isPersonsTurn = $derived(this.#seatToPlay === "human" && !this.isOver);
  readonly isMachinesTurn = $derived(this.#seatToPlay === "machine" && !this.isOver);
  readonly position = $derived(this.view ? positionOf(this.view) : null);
  /** Whether the opponent should think now. */
  readonly isDue = $derived(
    this.isMachinesTurn &&
      this.isAtTip &&
      !this.isPaused &&
      !this.isBusy &&
      this.thinking === null &&
      this.error === null,
  );

  #question = new Question();
  #changes: AbortController | null = null;
  #again: (() => Promise<boolean>) | null = null; // the change that failed
  #isLost = false; // whether the connection is what failed
  #prepared = new Set<string>(); // games in which a machine has answered

  /** What the opponent thinks so far; null while it does not. */
  get thinking(): Thinking | null {
    return this.#question.thinking;
  }

  /** Whether a search can prove results: for one or two players, without chance. */
  get canProve(): boolean {
    return this.view !== null && this.view.num_players <= 2 && !this.view.has_chance;
  }

  /** Whether no machine has answered in this game yet: its rules are compiled once, at first. */
  get isUnprepared(): boolean {
    return this.view !== null && !this.#prepared.has(this.view.game);
  }

  get isResigned(): boolean {
    return this.resigned !== null && this.isAtTip;
  }

  get #seatToPlay(): Seat | undefined {
    return this.view && this.view.to_play >= 0 ? this.seats[this.view.to_play] : undefined;
  }

  /**
   * Puts a game on the board; where machines are to move in the middle of it, they wait. One that
   * is new gets an entry of its own in the browser's history.
   */
  async load(shared: SharedGame, isNew = false): Promise<boolean> {
    const { game, setup, moves, at } = shared;
    return this.#change(async (signal) => {
      const shown = await api.position({ game, setup, moves: moves.slice(0, at) }, signal);
      const whole = at < moves.length ? await api.position({ game, setup, moves }, signal) : shown;
      const settle = () => this.#takeOver(shared, shown.num_players, isNew);
      return { view: shown, line: whole.moves, settle };
    });
  }

  /** Begins a new game with the settings given. */
  async begin(
    game: string,
    seats: readonly Seat[],
    setup: Setup | null = null,
    opponent: PlayerChoice | null = null,
  ): Promise<boolean> {
    const shared = { game, setup, moves: [], at: 0, seats: [...seats], opponent, resigned: null };
    return this.load(shared, true);
  }

  /** The position on the board becomes the beginning of a new game. */
  async beginHere(): Promise<void> {
    const view = this.view;
    if (!view?.board || !view.can_set_up || view.to_play < 0) {
      this.#cutLine(); // no setup can say it: the game keeps the moves that lead here
      this.beginnings += 1;
      return;
    }
    await this.begin(view.game, this.seats, { cells: view.board.cells, to_play: view.to_play });
  }

  /** Makes a move of the person whose turn it is. */
  async play(action: number): Promise<void> {
    const isLegal = this.view?.legal.some((move) => move.action === action) ?? false;
    if (!this.isPersonsTurn || this.isBusy || !isLegal) return;
    this.isPaused = false;
    const next = this.line[this.at];
    if (next?.action === action && this.line[this.at + 1]?.player !== -1) await this.goTo(this.at + 1);
    else await this.#move(action);
  }

  /** Shows the position after so many moves; what comes after stays, to go forward again. */
  async goTo(at: number): Promise<void> {
    const view = this.view;
    const target = Math.max(0, Math.min(at, this.line.length));
    if (!view || (target === this.at && !this.isBusy)) return;
    const moves = this.line.slice(0, target).map((move) => move.action);
    await this.#change(async (signal) => ({
      view: await api.position({ game: view.game, setup: view.setup, moves }, signal),
      line: this.line,
    }));
  }

  /** The place before the last decision; chance's moves go with the one that led to them. */
  get undoTarget(): number | null {
    return placeBefore(this.line, this.at, (move) => move.player >= 0);
  }

  get redoTarget(): number | null {
    return placeAfter(this.line, this.at);
  }

  /** The place where a person decided last. */
  get takeBackTarget(): number | null {
    return placeBefore(this.line, this.at, (move) => this.seats[move.player] === "human");
  }

  async step(target: number | null): Promise<void> {
    if (target !== null) await this.goTo(target);
  }

  /** Forgets the moves after the position on the board, and lets the game go on. */
  playOnFromHere(): void {
    this.#cutLine();
    this.isPaused = false;
    this.error = null;
  }

  pause(): void {
    this.cancelThinking();
    this.isPaused = true;
  }

  goOn(): void {
    this.isPaused = false;
    this.#forgetFailure();
  }

  /** Does again what failed: the move, the step, or the opponent's thinking. */
  async retry(): Promise<void> {
    if (this.#again) await this.#again();
    else this.goOn();
  }

  /** The connection is back: a machine whose turn was lost with it goes on. */
  reconnected(): void {
    if (this.#isLost && this.isMachinesTurn) void this.retry();
  }

  /** Takes the board away where the address names no game; the error stays. */
  clear(): void {
    this.view = null;
    this.line = [];
  }

  /** Everybody moves on one seat. */
  swapSides(): void {
    this.cancelThinking();
    this.seats = swapSeats(this.seats);
    this.isPaused = false;
  }

  resign(): void {
    const view = this.view;
    if (!view || this.isOver) return;
    this.cancelThinking();
    this.#cutLine();
    const mine = this.seats.indexOf("human");
    this.resigned = this.isPersonsTurn || mine < 0 ? view.to_play : mine;
  }

  /** Changes who plays in the game that is on. */
  setPlayers(seats: readonly Seat[], opponent: PlayerChoice): void {
    this.cancelThinking();
    this.seats = seats;
    this.opponent = opponent;
    this.hasChosen = true;
    this.error = null;
  }

  /** Lets the opponent think, if it is to. */
  askIfDue(limits: Limits): void {
    const position = this.position;
    if (!this.isDue || !position) return;
    const seed = Math.floor(Math.random() * 2 ** 32);
    this.#question.ask(position, toPlayer(this.opponent, limits, this.canProve), seed, {
      onanswer: (answer) => this.#take(answer),
      onfailure: (sentence) => this.#fail(sentence, socket.state !== "open"),
    });
  }

  /** The opponent plays what it has found so far. */
  stopThinking(): void {
    this.#question.stop();
  }

  cancelThinking(): void {
    this.#question.cancel();
  }

  /** Ends all that is under way; the game itself stays. */
  leave(): void {
    this.cancelThinking();
    this.#changes?.abort();
    this.isBusy = false;
  }

  /** The game as an address and a saved game tell it. */
  get shared(): SharedGame | null {
    const view = this.view;
    if (!view) return null;
    return {
      game: view.game,
      setup: view.setup,
      moves: this.line.map((move) => move.action),
      at: this.at,
      seats: [...this.seats],
      opponent: this.opponent,
      resigned: this.resigned,
    };
  }

  /** Names for saved games. */
  get playerNames(): string[] {
    return this.seats.map((seat, player) =>
      seat === "machine" ? nameOf(this.opponent) : (this.names[player] ?? ""),
    );
  }

  #take({ action, analysis }: SearchAnswer): void {
    if (this.position) this.thoughts = new Map(this.thoughts).set(keyOf(this.position), analysis);
    if (this.view) this.#prepared.add(this.view.game);
    void this.#move(action);
  }

  #fail(sentence: string, isLost: boolean, again: (() => Promise<boolean>) | null = null): void {
    this.error = sentence;
    this.#isLost = isLost;
    this.#again = again;
  }

  #forgetFailure(): void {
    this.error = null;
    this.#isLost = false;
    this.#again = null;
  }

  #takeOver(shared: SharedGame, numPlayers: number, isNew: boolean): void {
    this.seats = fitSeats(shared.seats, numPlayers);
    if (shared.opponent) {
      this.opponent = shared.opponent;
      this.hasChosen = true;
    }
    const isPlayer = shared.resigned !== null && shared.resigned < numPlayers;
    this.resigned = isPlayer ? shared.resigned : null;
    this.isPaused = shared.moves.length > 0;
    this.thoughts = new Map();
    if (isNew) this.beginnings += 1;
  }

  async #move(action: number): Promise<void> {
    const position = this.position;
    if (!position) return;
    const isWatching = !this.seats.includes("human");
    await this.#change(async (signal) => {
      if (isWatching) await pause(WATCHING_PAUSE_MS, signal);
      const view = await api.play({ position, action }, signal);
      return { view, line: view.moves, settle: () => (this.resigned = null) };
    });
  }

  /** Takes over a new position once it has come; a newer change takes the place of an older. */
  async #change(make: (signal: AbortSignal) => Promise<Change>): Promise<boolean> {
    this.cancelThinking();
    this.#changes?.abort();
    const changes = (this.#changes = new AbortController());
    this.isBusy = true;
    this.#forgetFailure();
    try {
      const change = await make(changes.signal);
      let { view, line } = change;
      if (view.to_play === -1 && !view.is_over && view.moves.length === line.length) {
        view = await api.play({ position: positionOf(view) }, changes.signal);
        line = view.moves;
      }
      if (changes.signal.aborted) return false;
      change.settle?.(); // with the position, so that nobody sees one without the other
      if (line !== this.line) this.ending = null;
      this.moveNames = learnNames(view.game === this.view?.game ? this.moveNames : new Map(), view, line);
      this.view = view;
      this.line = line;
      if (view.moves.length === line.length && view.is_over) this.ending = view.returns;
      return true;
    } catch (error) {
      if (isAborted(error) || changes.signal.aborted) return false;
      this.#fail(sentenceOf(error), error instanceof ApiError && error.status === 0, () => this.#change(make));
      return false;
    } finally {
      if (this.#changes === changes) this.isBusy = false;
    }
  }

  #cutLine(): void {
    if (!this.view || this.isAtTip) return;
    this.line = this.view.moves;
    this.resigned = null;
    this.ending = null;
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export const game = new Game();
