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

interface FrameRequest extends Omit<Place, "phase"> {
  id: string;
  isPhased: boolean; // also load the tree before the simulation
}

/** Why a view could not be loaded: no connection, the search was dropped, or the server refused. */
export interface Missed {
  reason: "disconnected" | "dropped" | "refused";
  message: string;
}

export type WatchedState = "idle" | "waiting" | "running" | "done" | "failed";

export class Watched {
  state = $state<WatchedState>("idle");
  ahead = $state(0); // searches ahead in the queue
  requested = $state(0); // number of simulations requested
  seconds = $state(0);
  analysis = $state.raw<Analysis | null>(null); // so far, then final
  trace = $state.raw<Traced | null>(null);
  message = $state(""); // why it failed
  shown = $state.raw<Shown | null>(null);
  missed = $state.raw<Missed | null>(null); // the last view, if it could not be loaded
  position = $state.raw<Position | null>(null);
  settings = $state.raw<Settings | null>(null); // of this search
  readonly collapsed = new SvelteSet<number>();
  readonly opened = new SvelteSet<number>();
  #id: string | null = null;
  #request: FrameRequest | null = null; // the latest request
  #shownRequest: FrameRequest | null = null; // the view shown
  #failedRequest: FrameRequest | null = null;
  #phase = LAST_PHASE;
  readonly #frames = new Latest<FrameRequest, Frame>(
    loadFrame,
    (request, frame) => this.#take(request, frame),
    (error, request) => this.#miss(request, sentenceOf(error)),
  );

  get isBusy(): boolean {
    return this.state === "waiting" || this.state === "running";
  }

  get id(): string | null {
    return this.state === "done" ? this.#id : null;
  }

  get simulations(): number {
    return this.trace?.simulations ?? 0;
  }

  /** The number of simulations in the view shown. */
  get moment(): number {
    if (!this.shown) return 0;
    const { frame, phase } = this.shown;
    return Math.max(0, phase < LAST_PHASE ? frame.simulation - 1 : frame.simulation);
  }

  think(position: Position, settings: Settings): void {
    this.drop();
    this.position = position;
    this.settings = $state.snapshot(settings);
    this.requested = settings.simulations;
    this.state = "waiting";
    this.#id = socket.request(
      { type: "trace", position, agent: agentOf(settings), seed: settings.seed },
      (message) => this.#receive(message),
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
  drop(): void {
    if (this.#id) socket.cancel(this.#id);
    this.#frames.cancel();
    this.#id = null;
    this.#request = null;
    this.#shownRequest = null;
    this.#failedRequest = null;
    this.missed = null;
    this.state = "idle";
    this.ahead = 0;
    this.seconds = 0;
    this.analysis = null;
    this.trace = null;
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
    const request: FrameRequest = { id: this.#id, simulation: Math.min(simulation, this.simulations), isPhased, ...rest };
    const latest = this.#request;
    // A frame loaded with all its phases also serves the last phase.
    if (latest && (isSame(request, latest) || isSame({ ...request, isPhased: true }, latest))) {
      const frame = this.#shownRequest === latest ? this.shown?.frame : undefined;
      if (frame) this.shown = { frame, phase: this.#phase };
      return;
    }
    this.#request = request;
    this.#frames.ask(request);
  }

  /** Retries the view that could not be loaded. */
  reload(): void {
    if (!this.#failedRequest) return;
    this.#request = this.#failedRequest;
    this.#frames.ask(this.#failedRequest);
  }

  /** Collapses or expands a node. */
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

  #receive(message: FromServer): void {
    if (message.type === "queued") this.ahead = message.ahead;
    else if (message.type === "progress") {
      this.state = "running";
      this.analysis = message.analysis;
      this.seconds = message.seconds;
    } else if (message.type === "traced") {
      this.trace = message;
      this.analysis = message.analysis;
      this.seconds = message.seconds;
      this.state = "done";
    } else if (message.type === "failure") this.#fail(message.message);
  }

  #take(request: FrameRequest, frame: Frame): void {
    this.#shownRequest = request;
    this.#failedRequest = null;
    this.missed = null;
    this.shown = { frame, phase: request === this.#request ? this.#phase : LAST_PHASE };
  }

  /** Keeps the current view; the connection may come back, but a dropped search does not. */
  #miss(request: FrameRequest, message: string): void {
    const isDropped = message.includes(DROPPED);
    this.missed = { reason: socket.state !== "open" ? "disconnected" : isDropped ? "dropped" : "refused", message };
    this.#failedRequest = request;
    this.#request = null;
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

function isSame(request: FrameRequest, other: FrameRequest): boolean {
  return JSON.stringify(request) === JSON.stringify(other);
}

/** Loads a simulation, and the tree with its path visible. */
async function loadFrame(request: FrameRequest): Promise<Frame> {
  const { id, simulation, collapsed } = request;
  const step = simulation > 0 ? await socket.view({ type: "get-simulation", id, simulation }) : null;
  const last = step?.choices.at(-1)?.node; // its children are needed, including the new one
  const opened = last === undefined ? request.opened : [...request.opened, last];
  const treeAt = (moment: number) =>
    socket.view({ type: "get-tree", id, simulation: moment, max_nodes: request.mostNodes, collapsed, opened });
  const rootAt = (moment: number) => socket.view({ type: "get-node", id, simulation: moment, node: 0 });
  const needsBefore = request.isPhased && step !== null;
  const [after, rootAfter, before, rootBefore] = await Promise.all([
    treeAt(simulation),
    rootAt(simulation),
    needsBefore ? treeAt(simulation - 1) : null,
    needsBefore ? rootAt(simulation - 1) : null,
  ]);
  return { simulation, step, before, after, rootBefore, rootAfter };
}
