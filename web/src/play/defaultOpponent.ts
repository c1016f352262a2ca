/** The default opponent of a game. */

import { NOTHING_KNOWN, kindsFor, runsOf, usesRun, type AgentChoice } from "./agents";
import { offer } from "./server.svelte";

const NETWORK_SIMULATIONS = 200; // answers within a second or so on a laptop
const UCT_SIMULATIONS = 800;

/** A run's network if any; else the bundled network, the earlier choice, or UCT. */
export function defaultOpponent(game: string, chosen: AgentChoice): AgentChoice {
  const runs = runsOf(game, offer.runs);
  const preferred = runs.find((run) => run.run === offer.about?.default_run) ?? runs[0];
  if (preferred) {
    const simulations = NETWORK_SIMULATIONS;
    return { ...chosen, kind: "guided", run: preferred.run, step: null, budget: "simulations", simulations };
  }
  if (offer.hasBundledNetwork(game)) {
    return { ...chosen, kind: "bundled", budget: "simulations", simulations: NETWORK_SIMULATIONS };
  }
  const isAvailable = !usesRun(chosen.kind) && kindsFor([], NOTHING_KNOWN).includes(chosen.kind);
  return isAvailable ? chosen : { ...chosen, kind: "uct", budget: "simulations", simulations: UCT_SIMULATIONS };
}
