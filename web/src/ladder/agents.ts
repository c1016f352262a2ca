/** The agents of a ladder as opponents, and their names. */

import type { Agent, LadderRung } from "../api/schema";
import { gameQuery } from "../play/address";
import { DEFAULT_CHOICE, nameOf, type AgentChoice, type Kind } from "../play/agents";
import { fitSeats } from "../play/seats";
import { linkTo } from "../addresses";

const KINDS: Record<string, Kind> = {
  rollout: "uct",
  uniform: "puct",
  threats: "threats",
  bundled: "bundled",
  network: "guided",
};

/** The opponent that plays as the agent does; a ladder's searches prove nothing beyond their own options. */
export function choiceOf(agent: Agent): AgentChoice {
  switch (agent.kind) {
    case "search":
      return {
        ...DEFAULT_CHOICE,
        kind: KINDS[agent.evaluator ?? "rollout"] ?? "uct",
        run: agent.run ?? "",
        step: agent.step ?? null,
        simulations: agent.simulations ?? DEFAULT_CHOICE.simulations,
        proves: false,
      };
    case "network":
      return { ...DEFAULT_CHOICE, kind: "network", run: agent.run, step: agent.step ?? null };
    case "alphabeta":
      return { ...DEFAULT_CHOICE, kind: "alphabeta", depth: agent.depth ?? DEFAULT_CHOICE.depth };
    default:
      return { ...DEFAULT_CHOICE, kind: agent.kind ?? "random" };
  }
}

/** A name for people: "UCT, 1000 simulations", "GNU Go, level 1". */
export function nameOfRung(rung: LadderRung): string {
  if (rung.agent) return nameOf(choiceOf(rung.agent));
  return rung.label === "bundled:0" ? "Bundled network, no search" : rung.label;
}

/** Whether the agent is one of the user's runs. */
export function isRun(rung: LadderRung): boolean {
  return rung.label.startsWith("run:");
}

/** The address of a new game against the agent; null if it cannot be played here. */
export function playLink(game: string, numPlayers: number, rung: LadderRung): string | null {
  if (!rung.agent) return null;
  const seats = fitSeats([], numPlayers);
  const opponent = choiceOf(rung.agent);
  const start = { game, setup: null, moves: [], at: 0, seats, opponent, resigned: null };
  return linkTo("/play", gameQuery(start));
}
