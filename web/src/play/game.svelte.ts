/** A game on the board: its moves, its players, and the opponent's search. Knows no component. */

import { api, ApiError, isAborted, sentenceOf } from "../api/client";
import type { Analysis, Limits, Move, SearchAnswer, Setup, View } from "../api/schema";
import type { SharedGame } from "./address";
import { socket } from "../api/socket.svelte";
import { AgentRequest, type Thinking } from "./agentRequest.svelte";
import { keyOf, placeAfter, placeBefore, positionOf } from "./line";
import { DEFAULT_CHOICE, nameOf, shortNameOf, toAgent, type AgentChoice } from "./agents";
import { learnNames } from "./names";
import { namesOf, resultOf, type Seat } from "./results";
import { fitSeats, swapSeats } from "./seats";

interface Change {
  view: View;
  line: readonly Move[];
  apply?: () => void; // applies the rest of the change
}

const WATCHING_PAUSE_MS = 450; // between moves when only agents play

export class Game {
  /** The position on the board; null until the first one arrives. */
  view = $state.raw<View | null>(null);
  /** All moves of the game, including those after the position on the board. */
  line = $state.raw<readonly Move[]>([]);
  seats = $state.raw<readonly Seat[]>([]);
  opponent = $state.raw<AgentChoice>(DEFAULT_CHOICE);
  resigned = $state<number | null>(null);
  /** Whether agents are paused. */
  isPaused = $state(false);
  /** Whether the next position is being loaded. */
  isBusy = $state(false);
  error = $state<string | null>(null);
  /** The opponent's analyses, by position key. */
  analyses = $state.raw<ReadonlyMap<string, Analysis>>(new Map());
  /** Returns at the end of the line, once it is known to be over. */
  ending = $state.raw<readonly number[] | null>(null);
  /** The names of the moves seen so far, by action. */
  moveNames = $state.raw<ReadonlyMap<number, string>>(new Map());
  /** Whether the players were chosen explicitly, so that they are not changed automatically. */
  hasChosen = false;
  /** Counts the games started: each gets a new history entry. */
  gamesStarted = $state(0);

  readonly at = $derived(this.view?.moves.length ?? 0);
  readonly isAtTip = $derived(this.at === this.line.length);
  readonly names = $derived(namesOf(this.seats, shortNameOf(this.opponent)));
  readonly result = $derived(
    this.view ? resultOf(this.view, this.names, this.isResigned ? this.resigned : null) : "",
  );
  readonly isOver = $derived(this.view !== null && (this.view.is_over || this.isResigned));
  readonly isPersonsTurn = $derived(this.#seatToPlay === "human" && !this.isOver);
  readonly isAgentsTurn = $derived(this.#seatToPlay === "agent" && !this.isOver);
  readonly position = $derived(this.view ? positionOf(this.view) : null);
  /** Whether the opponent should search now. */
  readonly isDue = $derived(
    this.isAgentsTurn &&
      this.isAtTip &&
      !this.isPaused &&
      !this.isBusy &&
      this.thinking === null &&
      this.error === null,
  );

  #request = new AgentRequest();
  #changes: AbortController | null = null;
  #again: (() => Promise<boolean>) | null = null; // the change that failed
  #isLost = false; // whether the connection failed
  #prepared = new Set<string>(); // games in which an agent has answered

  /** The opponent's analysis so far; null while it is not searching. */
  get thinking(): Thinking | null {
    return this.#request.thinking;
  }

  /** Whether a search can prove results: for one or two players, without chance. */
  get canProve(): boolean {
    return this.view !== null && this.view.num_players <= 2 && !this.view.has_chance;
  }

  /** Whether no agent has answered in this game yet, so that its rules may still be compiling. */
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
   * Puts a game on the board. If it is an agent's turn in the middle of the game, the agent waits.
   * A new game gets its own entry in the browser's history.
   */
  async load(shared: SharedGame, isNew = false): Promise<boolean> {
    const { game, setup, moves, at } = shared;
    return this.#change(async (signal) => {
      const shown = await api.position({ game, setup, moves: moves.slice(0, at) }, signal);
      const whole = at < moves.length ? await api.position({ game, setup, moves }, signal) : shown;
      const apply = () => this.#takeOver(shared, shown.num_players, isNew);
      return { view: shown, line: whole.moves, apply };
    });
  }

  /** Starts a new game with the given settings. */
  async begin(
    game: string,
    seats: readonly Seat[],
    setup: Setup | null = null,
    opponent: AgentChoice | null = null,
  ): Promise<boolean> {
    const shared = { game, setup, moves: [], at: 0, seats: [...seats], opponent, resigned: null };
    return this.load(shared, true);
  }

  /** Starts a new game from the position on the board. */
  async startFromHere(): Promise<void> {
    const view = this.view;
    if (!view?.board || !view.can_set_up || view.to_play < 0) {
      this.#cutLine(); // it cannot be set up: keep the moves that lead here
      this.gamesStarted += 1;
      return;
    }
    await this.begin(view.game, this.seats, { cells: view.board.cells, to_play: view.to_play });
  }

  /** Plays a move for the person whose turn it is. */
  async play(action: number): Promise<void> {
    const isLegal = this.view?.legal.some((move) => move.action === action) ?? false;
    if (!this.isPersonsTurn || this.isBusy || !isLegal) return;
    this.isPaused = false;
    const next = this.line[this.at];
    if (next?.action === action && this.line[this.at + 1]?.player !== -1) await this.goTo(this.at + 1);
    else await this.#move(action);
  }

  /** Shows the position after `at` moves and keeps the later ones for redo. */
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

  /** The index before the last decision; chance's moves belong to the decision before them. */
  get undoTarget(): number | null {
    return placeBefore(this.line, this.at, (move) => move.player >= 0);
  }

  get redoTarget(): number | null {
    return placeAfter(this.line, this.at);
  }

  /** The index of the last decision by a person. */
  get takeBackTarget(): number | null {
    return placeBefore(this.line, this.at, (move) => this.seats[move.player] === "human");
  }

  async step(target: number | null): Promise<void> {
    if (target !== null) await this.goTo(target);
  }

  /** Drops the moves after the position on the board and continues the game. */
  continueFromHere(): void {
    this.#cutLine();
    this.isPaused = false;
    this.error = null;
  }

  pause(): void {
    this.cancelThinking();
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.#clearFailure();
  }

  /** Retries what failed: the move, the step, or the opponent's search. */
  async retry(): Promise<void> {
    if (this.#again) await this.#again();
    else this.resume();
  }

  /** Called when the connection is back: resumes an agent's turn that was lost with it. */
  reconnected(): void {
    if (this.#isLost && this.isAgentsTurn) void this.retry();
  }

  /** Clears the board if the address names no game; the error stays. */
  clear(): void {
    this.view = null;
    this.line = [];
  }

  /** Moves everybody to the next seat. */
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

  /** Changes the players of the current game. */
  setPlayers(seats: readonly Seat[], opponent: AgentChoice): void {
    this.cancelThinking();
    this.seats = seats;
    this.opponent = opponent;
    this.hasChosen = true;
    this.error = null;
  }

  /** Starts the opponent's search if it is its turn. */
  askIfDue(limits: Limits): void {
    const position = this.position;
    if (!this.isDue || !position) return;
    const seed = Math.floor(Math.random() * 2 ** 32);
    this.#request.ask(position, toAgent(this.opponent, limits, this.canProve), seed, {
      onanswer: (answer) => this.#take(answer),
      onfailure: (sentence) => this.#fail(sentence, socket.state !== "open"),
    });
  }

  /** Makes the opponent play its best move so far. */
  stopThinking(): void {
    this.#request.stop();
  }

  cancelThinking(): void {
    this.#request.cancel();
  }

  /** Cancels everything in progress; the game itself stays. */
  cancelAll(): void {
    this.cancelThinking();
    this.#changes?.abort();
    this.isBusy = false;
  }

  /** The game in the form of addresses and saved games. */
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
      seat === "agent" ? nameOf(this.opponent) : (this.names[player] ?? ""),
    );
  }

  #take({ action, analysis }: SearchAnswer): void {
    if (this.position) this.analyses = new Map(this.analyses).set(keyOf(this.position), analysis);
    if (this.view) this.#prepared.add(this.view.game);
    void this.#move(action);
  }

  #fail(sentence: string, isLost: boolean, again: (() => Promise<boolean>) | null = null): void {
    this.error = sentence;
    this.#isLost = isLost;
    this.#again = again;
  }

  #clearFailure(): void {
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
    this.analyses = new Map();
    if (isNew) this.gamesStarted += 1;
  }

  async #move(action: number): Promise<void> {
    const position = this.position;
    if (!position) return;
    const isWatching = !this.seats.includes("human");
    await this.#change(async (signal) => {
      if (isWatching) await pause(WATCHING_PAUSE_MS, signal);
      const view = await api.play({ position, action }, signal);
      return { view, line: view.moves, apply: () => (this.resigned = null) };
    });
  }

  /** Applies a change once its position arrives; a newer change replaces an older one. */
  async #change(make: (signal: AbortSignal) => Promise<Change>): Promise<boolean> {
    this.cancelThinking();
    this.#changes?.abort();
    const changes = (this.#changes = new AbortController());
    this.isBusy = true;
    this.#clearFailure();
    try {
      const change = await make(changes.signal);
      let { view, line } = change;
      if (view.to_play === -1 && !view.is_over && view.moves.length === line.length) {
        view = await api.play({ position: positionOf(view) }, changes.signal);
        line = view.moves;
      }
      if (changes.signal.aborted) return false;
      change.apply?.(); // together with the position, so that neither is shown without the other
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
