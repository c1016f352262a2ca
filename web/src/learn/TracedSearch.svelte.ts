/** A small search whose every simulation can be looked at: the server keeps the trace. */

import { api, sentenceOf } from "../api/client";
import type { Position, StepView, Thought, TreeView, View } from "../api/schema";
import { socket } from "../api/socket.svelte";
import { Latest } from "../latest";

interface Wish {
  id: string; // of the search
  simulation: number;
}

interface Shown {
  step: StepView;
  tree: TreeView; // after the simulation
  leaf: View;
}

const MOST_NODES = 60;

export class TracedSearch {
  root = $state.raw<View | null>(null);
  thought = $state.raw<Thought | null>(null);
  shown = $state.raw<Shown | null>(null);
  error = $state<string | null>(null);
  #id = "";
  readonly #looks = new Latest<Wish, Shown>(
    look,
    (wish, shown) => {
      if (this.#id === wish.id) [this.shown, this.error] = [shown, null];
    },
    (error) => (this.error = sentenceOf(error)),
  );

  readonly simulations = $derived(this.thought?.simulations ?? 0);
  readonly at = $derived(this.shown?.step.simulation ?? 0);

  /** Searches, and shows the first simulation that `isWanted`, or the first of all; returns what ends it. */
  begin(position: Position, simulations: number, seed: number, isWanted = (_: StepView) => true): () => void {
    this.root = this.thought = this.shown = this.error = null;
    const id = socket.newId();
    this.#id = id;
    this.#looks.forget();
    const player = { kind: "search", evaluator: "rollout", simulations } as const;
    socket.request({ type: "think", id, position, player, seed }, (message) => {
      if (this.#id !== id) return;
      if (message.type === "failure") this.error = message.message;
      if (message.type !== "thought") return;
      this.thought = message;
      void this.#showFirst(position, isWanted);
    });
    return () => {
      if (this.#id === id) {
        this.#id = "";
        this.#looks.forget();
      }
      socket.cancel(id);
    };
  }

  /** Shows a simulation; of several asked for quickly, the last. */
  show(simulation: number): void {
    if (!this.#id || simulation < 1 || simulation > this.simulations) return;
    this.#looks.ask({ id: this.#id, simulation });
  }

  async #showFirst(position: Position, isWanted: (step: StepView) => boolean): Promise<void> {
    const id = this.#id;
    try {
      const root = await api.position(position);
      if (this.#id !== id) return;
      this.root = root;
      let simulation = 1;
      while (simulation <= this.simulations && this.#id === id) {
        if (isWanted(await socket.look({ type: "look-at-step", id, simulation }))) break;
        simulation += 1;
      }
      if (this.#id === id) this.show(simulation > this.simulations ? 1 : simulation);
    } catch (error) {
      if (this.#id === id) this.error = sentenceOf(error);
    }
  }
}

async function look({ id, simulation }: Wish): Promise<Shown> {
  const [step, tree] = await Promise.all([
    socket.look({ type: "look-at-step", id, simulation }),
    socket.look({ type: "look", id, simulation, most_nodes: MOST_NODES }),
  ]);
  return { step, tree, leaf: await api.position(step.position) };
}

/** How a simulation ended, in words. */
export function endingOf(step: StepView): string {
  return {
    expanded: "a position that was not in the tree yet",
    finished: "a finished game",
    proven: "a position whose result is already certain",
    "not kept": "a new position, for which the tree has no room left",
  }[step.kind];
}
