/** Starts the opponent, the analysis and the solver as the game proceeds. */

import { untrack } from "svelte";

import { socket } from "../api/socket.svelte";
import type { Analyst } from "./analysis.svelte";
import type { Game } from "./game.svelte";
import { DEFAULT_CHOICE, kindsFor, runsOf, usesRun } from "./agents";
import type { Preview } from "./preview.svelte";
import { offer } from "./server.svelte";
import type { Subject } from "./subject";
import { defaultOpponent } from "./defaultOpponent";

const SOLVING_DELAY_MS = 300; // positions that are only stepped through are not solved
export const ANALYSIS_SIMULATIONS = 2000;

/** Must be called while a component is created; nothing starts while `isBlocked`. */
export function driveSearches(
  game: Game,
  analyst: Analyst,
  preview: Preview,
  subject: () => Subject | null,
  isBlocked: () => boolean,
): void {
  const limits = () => offer.about?.limits;
  const isReady = () => socket.state === "open" && !isBlocked();

  $effect(() => untrack(() => offer.watch()));

  $effect(() => {
    const known = limits();
    if (known && game.isDue && isReady()) untrack(() => game.askIfDue(known));
  });

  $effect(() => {
    if (socket.state === "open") untrack(() => game.reconnected());
  });

  $effect(() => {
    const { position, view } = game;
    const known = limits();
    const canThink = view !== null && !view.is_over && view.to_play >= 0;
    void [analyst.signature, analyst.error];
    if (known && position && canThink && analyst.source === "own" && isReady()) {
      untrack(() => analyst.follow(position, game.canProve, known));
    } else untrack(() => analyst.cancel());
  });

  // An agent that cannot play this game is replaced by one that can.
  $effect(() => {
    const view = game.view;
    if (!view || !offer.about) return;
    const runs = runsOf(view.game, offer.runs);
    const { agent } = analyst;
    const isAvailable = kindsFor(runs, view).includes(agent.kind);
    const hasRun = !usesRun(agent.kind) || runs.some((run) => run.run === agent.run);
    if (isAvailable && hasRun) return;
    untrack(() => (analyst.agent = { ...DEFAULT_CHOICE, simulations: ANALYSIS_SIMULATIONS }));
  });

  // A run with its first weights becomes the opponent of a game that has not started.
  $effect(() => {
    const name = game.view?.game;
    if (!name || game.hasChosen || game.line.some((move) => move.player >= 0)) return;
    const preferred = defaultOpponent(name, game.opponent);
    if (preferred.run !== game.opponent.run) untrack(() => (game.opponent = preferred));
  });

  $effect(() => {
    const about = subject();
    const isOver = about?.at === game.at && game.view?.is_over;
    if (!about || isOver || !analyst.solves || !game.view?.has_perfect || game.thinking || isBlocked()) return;
    const timer = setTimeout(() => void analyst.solve(about.position), SOLVING_DELAY_MS);
    return () => clearTimeout(timer);
  });

  $effect(() => {
    void [analyst.source, analyst.signature, analyst.showsHeat, analyst.solves];
    untrack(() => analyst.save());
  });

  $effect(() => {
    void game.position;
    untrack(() => {
      preview.hide();
      analyst.dropHint();
    });
  });

  $effect(() => () => {
    game.cancelAll();
    analyst.cancelAll();
    preview.hide();
  });
}
