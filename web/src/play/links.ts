/** Links from an analysis to Watch and Formula. */

import type { QueryValue } from "../addresses";
import { linkTo } from "../router.svelte";
import { positionQuery } from "../position.svelte";
import { DEFAULT_CHOICE, isSearch, usesRun, type Kind, type AgentChoice } from "./agents";
import type { Subject } from "./subject";

/** Watch with the same search: evaluator, budget, and whether it proves values. */
export function watchLink(subject: Subject, choice: AgentChoice, canProve: boolean, seed: number | null): string {
  const { kind } = choice;
  const isNetwork = usesRun(kind);
  const search: Record<string, QueryValue> = {
    evaluator: isNetwork ? "network" : evaluatorOf(kind),
    run: isNetwork ? choice.run : null,
    step: isNetwork ? (subject.analysis?.step ?? choice.step) : null,
    simulations: simulationsOf(subject, choice),
    proofs: isSearch(kind) && choice.proves && canProve,
    seed,
  };
  return linkTo("/watch", { ...positionQuery(subject.position), ...search });
}

/** The formula with the moves of this position, searched by the same evaluator. */
export function formulaLink(subject: Subject, choice: AgentChoice): string {
  const { kind } = choice;
  const by = usesRun(kind) ? `run:${choice.run}` : evaluatorOf(kind);
  const simulations = simulationsOf(subject, choice);
  return linkTo("/formula", { ...positionQuery(subject.position), by, simulations });
}

/** The evaluator of an agent without a run. */
function evaluatorOf(kind: Kind): "bundled" | "uniform" | "rollout" {
  return kind === "bundled" ? "bundled" : kind === "puct" ? "uniform" : "rollout";
}

/** The number of simulations: the limit, or those made if the limit was in seconds. */
function simulationsOf(subject: Subject, choice: AgentChoice): number {
  if (!isSearch(choice.kind)) return DEFAULT_CHOICE.simulations;
  if (choice.budget === "simulations") return choice.simulations;
  return subject.analysis?.simulations || DEFAULT_CHOICE.simulations;
}
