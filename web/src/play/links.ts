/** Ways from an opinion to the views that take it apart. */

import type { QueryValue } from "../addresses";
import { linkTo } from "../router.svelte";
import { positionQuery } from "../position.svelte";
import { DEFAULT_CHOICE, isSearch, usesRun, type Kind, type PlayerChoice } from "./players";
import type { Subject } from "./subject";

/** Watch with the same search: whose opinions guide it, how long, and whether it proves. */
export function watchLink(subject: Subject, choice: PlayerChoice, canProve: boolean, seed: number | null): string {
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
export function formulaLink(subject: Subject, choice: PlayerChoice): string {
  const { kind } = choice;
  const by = usesRun(kind) ? `run:${choice.run}` : evaluatorOf(kind);
  const simulations = simulationsOf(subject, choice);
  return linkTo("/formula", { ...positionQuery(subject.position), by, simulations });
}

/** Of those without a run. */
function evaluatorOf(kind: Kind): "shipped" | "uniform" | "rollout" {
  return kind === "shipped" ? "shipped" : kind === "puct" ? "uniform" : "rollout";
}

/** How many simulations it makes; those it made, where seconds were its limit. */
function simulationsOf(subject: Subject, choice: PlayerChoice): number {
  if (!isSearch(choice.kind)) return DEFAULT_CHOICE.simulations;
  if (choice.budget === "simulations") return choice.simulations;
  return subject.analysis?.simulations || DEFAULT_CHOICE.simulations;
}
