/** One watched search: started, followed while it runs, and viewed when it is done. */

import { SvelteSet } from "svelte/reactivity";

import { sentenceOf } from "../api/client";
import type {
  Analysis,
  FromServer,
  NodeView,
  Position,
  SimulationView,
  Traced,
  TreeNode,
  TreeView,
} from "../api/schema";
import { socket } from "../api/socket.svelte";
import { Latest } from "../latest";
import { agentOf, type Settings } from "./settings";
import { LAST_PHASE } from "./timeline.svelte";

const DROPPED = "was dropped"; // in the server's message

/** Everything shown for one simulation. */
export interface Frame {
  simulation: number;
  step: SimulationView | null; // null before the first simulation
  before: TreeView | null; // without the simulation; null if not requested
  after: TreeView;
  rootBefore: NodeView | null;
  rootAfter: NodeView;
}

export interface Shown {
  frame: Frame;
  phase: number;
}

/** Which moment and which part of the tree to load. */
export interface Place {
  simulation: number;
  phase: number;
  mostNodes: number;
  collapsed: number[];
  opened: number[];
}

interface Wish extends Omit<Place, "phase"> {
  id: string;
  isPhased: boolean; // also load the tree before the simulation
}

/** Why a view could not be loaded: no connection, the search was dropped, or the server refused. */
export interface Missed {
  reason: "away" | "forgotten" | "refused";
  message: string;
}

export type WatchedState = "idle" | "waiting" | "running" | "done" | "failed";

export class Watched {
  state = $state<WatchedState>("idle");
  ahead = $state(0); // searches ahead in the queue
  wanted = $state(0); // number of simulations requested
  seconds = $state(0);
  analysis = $state.raw<Analysis | null>(null); // so far, then final
  thought = $state.raw<Traced | null>(null);
  message = $state(""); // why it failed
  shown = $state.raw<Shown | null>(null);
  missed = $state.raw<Missed | null>(null); // the last view, if it could not be loaded
  position = $state.raw<Position | null>(null);
  settings = $state.raw<Settings | null>(null); // of this search
  readonly collapsed = new SvelteSet<number>();
  readonly opened = new SvelteSet<number>();
  #id: string | null = null;
  #wish: Wish | null = null; // the latest request
  #arrived: Wish | null = null; // the view shown
  #unanswered: Wish | null = null;
  #phase = LAST_PHASE;
  readonly #frames = new Latest<Wish, Frame>(
    loadFrame,
    (wish, frame) => this.#take(wish, frame),
    (error, wish) => this.#miss(wish, sentenceOf(error)),
  );

  get isBusy(): boolean {
    return this.state === "waiting" || this.state === "running";
  }

  get id(): string | null {
    return this.state === "done" ? this.#id : null;
  }

  get simulations(): number {
    return this.thought?.simulations ?? 0;
  }

  /** The number of simulations in the view shown. */
  get moment(): number {
    if (!this.shown) return 0;
    const { frame, phase } = this.shown;
    return Math.max(0, phase < LAST_PHASE ? frame.simulation - 1 : frame.simulation);
  }

  think(position: Position, settings: Settings): void {
    this.forget();
    this.position = position;
    this.settings = $state.snapshot(settings);
    this.wanted = settings.simulations;
    this.state = "waiting";
    this.#id = socket.request(
      { type: "trace", position, agent: agentOf(settings), seed: settings.seed },
      (message) => this.#hear(message),
    );
  }

  thinkAgain(): void {
    if (this.position && this.settings) this.think(this.position, this.settings);
  }

  /** Stops the search; its result so far can be watched. */
  stop(): void {
    if (this.isBusy && this.#id) socket.stop(this.#id);
  }

  /** Drops the search, here and on the server. */
  forget(): void {
    if (this.#id) socket.cancel(this.#id);
    this.#frames.forget();
    this.#id = null;
    this.#wish = null;
    this.#arrived = null;
    this.#unanswered = null;
    this.missed = null;
    this.state = "idle";
    this.ahead = 0;
    this.seconds = 0;
    this.analysis = null;
    this.thought = null;
    this.message = "";
    this.shown = null;
    this.collapsed.clear();
    this.opened.clear();
  }

  /** Shows a phase of a simulation once the server has sent it. */
  show({ simulation, phase, ...rest }: Place): void {
    if (this.state !== "done" || !this.#id) return;
    this.#phase = simulation > this.simulations ? LAST_PHASE : phase;
    const isPhased = this.#phase < LAST_PHASE;
    const wish: Wish = { id: this.#id, simulation: Math.min(simulation, this.simulations), isPhased, ...rest };
    const asked = this.#wish;
    // A frame loaded with all its phases also serves the last phase.
    if (asked && (isSame(wish, asked) || isSame({ ...wish, isPhased: true }, asked))) {
      const frame = this.#arrived === asked ? this.shown?.frame : undefined;
      if (frame) this.shown = { frame, phase: this.#phase };
      return;
    }
    this.#wish = wish;
    this.#frames.ask(wish);
  }

  /** Retries the view that could not be loaded. */
  lookAgain(): void {
    if (!this.#unanswered) return;
    this.#wish = this.#unanswered;
    this.#frames.ask(this.#unanswered);
  }

  /** Closes or opens a node. */
  toggle(node: number): void {
    const { hasChildren, hidden } = this.#lookUp(node);
    if (this.collapsed.has(node)) this.collapsed.delete(node);
    else if (hasChildren) {
      this.collapsed.add(node);
      this.opened.delete(node);
    } else if (hidden > 0) this.opened.add(node);
  }

  #lookUp(node: number): { hasChildren: boolean; hidden: number } {
    const nodes = this.shown ? nodesOf(this.shown) : [];
    const own = nodes.find((one) => one.node === node);
    return { hasChildren: nodes.some((one) => one.parent === node), hidden: own?.hidden ?? 0 };
  }

  #hear(message: FromServer): void {
    if (message.type === "queued") this.ahead = message.ahead;
    else if (message.type === "progress") {
      this.state = "running";
      this.analysis = message.analysis;
      this.seconds = message.seconds;
    } else if (message.type === "traced") {
      this.thought = message;
      this.analysis = message.analysis;
      this.seconds = message.seconds;
      this.state = "done";
    } else if (message.type === "failure") this.#fail(message.message);
  }

  #take(wish: Wish, frame: Frame): void {
    this.#arrived = wish;
    this.#unanswered = null;
    this.missed = null;
    this.shown = { frame, phase: wish === this.#wish ? this.#phase : LAST_PHASE };
  }

  /** Keeps the current view; the connection may come back, but a dropped search does not. */
  #miss(wish: Wish, message: string): void {
    const isForgotten = message.includes(DROPPED);
    this.missed = { reason: socket.state !== "open" ? "away" : isForgotten ? "forgotten" : "refused", message };
    this.#unanswered = wish;
    this.#wish = null;
  }

  #fail(message: string): void {
    this.state = "failed";
    this.message = message;
  }
}

/** The tree's nodes in a phase: the new one appears in the second and counts in the last. */
export function nodesOf({ frame, phase }: Shown): readonly TreeNode[] {
  const { before, after, step } = frame;
  if (!before || !step || phase === LAST_PHASE) return after.nodes;
  const leaf = phase > 0 && step.kind === "expanded" ? step.nodes.at(-1) : undefined;
  const fresh = after.nodes.find((node) => node.node === leaf);
  const isKnown = before.nodes.some((node) => node.node === leaf);
  const hasParent = before.nodes.some((node) => node.node === fresh?.parent);
  if (!fresh || isKnown || !hasParent) return before.nodes;
  return [...before.nodes, { ...fresh, visits: 0, q: null, exact: null, hidden: 0 }];
}

function isSame(wish: Wish, other: Wish): boolean {
  return JSON.stringify(wish) === JSON.stringify(other);
}

/** Loads a simulation, and the tree with its path visible. */
async function loadFrame(wish: Wish): Promise<Frame> {
  const { id, simulation, collapsed } = wish;
  const step = simulation > 0 ? await socket.view({ type: "get-simulation", id, simulation }) : null;
  const last = step?.choices.at(-1)?.node; // its children are needed, including the new one
  const opened = last === undefined ? wish.opened : [...wish.opened, last];
  const lookAt = (moment: number) =>
    socket.view({ type: "get-tree", id, simulation: moment, max_nodes: wish.mostNodes, collapsed, opened });
  const rootAt = (moment: number) => socket.view({ type: "get-node", id, simulation: moment, node: 0 });
  const wantsBefore = wish.isPhased && step !== null;
  const [after, rootAfter, before, rootBefore] = await Promise.all([
    lookAt(simulation),
    rootAt(simulation),
    wantsBefore ? lookAt(simulation - 1) : null,
    wantsBefore ? rootAt(simulation - 1) : null,
  ]);
  return { simulation, step, before, after, rootBefore, rootAfter };
}
