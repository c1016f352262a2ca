/** A small search whose simulations can all be viewed: the server keeps the trace. */

import { api, sentenceOf } from "../api/client";
import type { Position, SimulationView, Traced, TreeView, View } from "../api/schema";
import { socket } from "../api/socket.svelte";
import { Latest } from "../latest";

interface SimulationRequest {
  id: string; // of the search
  simulation: number;
}

interface Shown {
  step: SimulationView;
  tree: TreeView; // after the simulation
  leaf: View;
}

const MOST_NODES = 60;

export class TracedSearch {
  root = $state.raw<View | null>(null);
  trace = $state.raw<Traced | null>(null);
  shown = $state.raw<Shown | null>(null);
  error = $state<string | null>(null);
  #id = "";
  readonly #loads = new Latest<SimulationRequest, Shown>(
    loadSimulation,
    (request, shown) => {
      if (this.#id === request.id) [this.shown, this.error] = [shown, null];
    },
    (error) => (this.error = sentenceOf(error)),
  );

  readonly simulations = $derived(this.trace?.simulations ?? 0);
  readonly at = $derived(this.shown?.step.simulation ?? 0);

  /** Searches, and shows the first simulation for which `matches` is true, or the first; returns a function that stops it. */
  begin(position: Position, simulations: number, seed: number, matches = (_: SimulationView) => true): () => void {
    this.root = this.trace = this.shown = this.error = null;
    const id = socket.newId();
    this.#id = id;
    this.#loads.cancel();
    const agent = { kind: "search", evaluator: "rollout", simulations } as const;
    socket.request({ type: "trace", id, position, agent, seed }, (message) => {
      if (this.#id !== id) return;
      if (message.type === "failure") this.error = message.message;
      if (message.type !== "traced") return;
      this.trace = message;
      void this.#showFirst(position, matches);
    });
    return () => {
      if (this.#id === id) {
        this.#id = "";
        this.#loads.cancel();
      }
      socket.cancel(id);
    };
  }

  /** Shows a simulation; of several requested in quick succession, the last. */
  show(simulation: number): void {
    if (!this.#id || simulation < 1 || simulation > this.simulations) return;
    this.#loads.ask({ id: this.#id, simulation });
  }

  async #showFirst(position: Position, matches: (step: SimulationView) => boolean): Promise<void> {
    const id = this.#id;
    try {
      const root = await api.position(position);
      if (this.#id !== id) return;
      this.root = root;
      let simulation = 1;
      while (simulation <= this.simulations && this.#id === id) {
        if (matches(await socket.view({ type: "get-simulation", id, simulation }))) break;
        simulation += 1;
      }
      if (this.#id === id) this.show(simulation > this.simulations ? 1 : simulation);
    } catch (error) {
      if (this.#id === id) this.error = sentenceOf(error);
    }
  }
}

async function loadSimulation({ id, simulation }: SimulationRequest): Promise<Shown> {
  const [step, tree] = await Promise.all([
    socket.view({ type: "get-simulation", id, simulation }),
    socket.view({ type: "get-tree", id, simulation, max_nodes: MOST_NODES }),
  ]);
  return { step, tree, leaf: await api.position(step.position) };
}

/** How a simulation ended, in words. */
export function endingOf(step: SimulationView): string {
  return {
    expanded: "a position not yet in the tree",
    finished: "a finished game",
    proven: "a position with a proven result",
    "not kept": "a new position that no longer fits in the tree",
  }[step.kind];
}
