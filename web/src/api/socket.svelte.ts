/** The one WebSocket: requests with an id, and whatever the server says about each. */

import { apiAddress } from "./client";
import type {
  FromPage,
  FromServer,
  Look,
  LookAtNode,
  LookAtStep,
  NodeView,
  StepView,
  TreeView,
} from "./schema";
import { readToken } from "./token";

export type ConnectionState = "connecting" | "open" | "waiting";
export type Listener = (message: FromServer) => void;

type WithoutId<M> = M extends FromPage ? Omit<M, "id"> & { id?: string } : never;
/** A request; one gets an id where none is given. Looks carry the id of the Think they look at. */
export type Request = WithoutId<Exclude<FromPage, { type: "stop" | "cancel" }>>;
type LookRequest = Look | LookAtStep | LookAtNode;
type LookAnswer<R extends LookRequest> = R extends Look
  ? TreeView
  : R extends LookAtStep
    ? StepView
    : NodeView;

/** What ends each request; a failure ends all of them. */
const LAST: Record<Request["type"], FromServer["type"] | null> = {
  ask: "answer",
  think: "thought",
  look: "tree",
  "look-at-step": "step",
  "look-at-node": "node",
  watch: null,
};
const ON_THE_WAY: readonly FromServer["type"][] = ["queued", "progress"];
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

interface Pending {
  request: Exclude<FromPage, { type: "stop" | "cancel" }>;
  on: Listener;
}

class Socket {
  state = $state<ConnectionState>("connecting");
  #socket: WebSocket | null = null;
  #pending: Pending[] = []; // in the order they were sent
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;

  /** Connects, and keeps connecting again; returns what ends it. */
  start(): () => void {
    const connectNow = () => {
      if (this.state === "waiting" && !document.hidden) this.#connect();
    };
    window.addEventListener("online", connectNow);
    document.addEventListener("visibilitychange", connectNow);
    this.#connect();
    return () => {
      window.removeEventListener("online", connectNow);
      document.removeEventListener("visibilitychange", connectNow);
      clearTimeout(this.#timer);
      this.#socket?.close();
      this.#socket = null;
    };
  }

  /**
   * Sends a request and returns its id. `on` gets every message about it up to and including the
   * last: an answer, a thought, a view, or a failure. Without a connection that failure comes at
   * once; only `watch` waits for a connection, and is asked again after each.
   */
  request(request: Request, on: Listener): string {
    const id = request.id ?? this.newId();
    const whole = { ...request, id } as Pending["request"];
    const pending = { request: whole, on };
    if (this.state === "open") {
      this.#pending.push(pending);
      this.#send(whole);
    } else if (whole.type === "watch") {
      this.#pending.push(pending);
    } else {
      const message = "There is no connection to the server; it is being tried again.";
      queueMicrotask(() => on({ type: "failure", id, message }));
    }
    return id;
  }

  /** A look at a kept search, as a promise; a failure rejects it with the server's sentence. */
  look<R extends LookRequest>(request: R): Promise<LookAnswer<R>> {
    return new Promise((resolve, reject) => {
      this.request(request, (message) => {
        if (message.type === "failure") reject(new Error(message.message));
        else resolve(message as LookAnswer<R>);
      });
    });
  }

  /** Enough: the answer so far arrives as the last message. */
  stop(id: string): void {
    if (this.state === "open") this.#send({ type: "stop", id });
  }

  /** Never mind: nothing more is heard of this id, and the server forgets what it kept for it. */
  cancel(id: string): void {
    this.#pending = this.#pending.filter((pending) => pending.request.id !== id);
    if (this.state === "open") this.#send({ type: "cancel", id });
  }

  newId(): string {
    this.#lastId += 1;
    return `p${this.#lastId}`;
  }

  #send(message: FromPage): void {
    // One that is closing takes nothing more; what is pending fails once it is closed.
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #connect(): void {
    clearTimeout(this.#timer);
    this.state = "connecting";
    const address = apiAddress("socket");
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const token = readToken();
    const protocols = token ? ["plainzero", `plainzero.token.${token}`] : ["plainzero"];
    const socket = new WebSocket(address, protocols);
    this.#socket = socket;
    socket.addEventListener("open", () => this.#opened());
    socket.addEventListener("message", (event: MessageEvent<string>) => {
      this.#receive(JSON.parse(event.data) as FromServer);
    });
    socket.addEventListener("close", () => {
      if (this.#socket === socket) this.#closed();
    });
  }

  #opened(): void {
    this.state = "open";
    this.#failures = 0;
    for (const { request } of this.#pending) this.#send(request); // only watches wait here
  }

  #closed(): void {
    this.state = "waiting";
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#connect(), wait * (0.75 + Math.random() / 2));
    const lost = this.#pending.filter(({ request }) => request.type !== "watch");
    this.#pending = this.#pending.filter(({ request }) => request.type === "watch");
    const message = "The connection to the server was lost; ask again once it is back.";
    for (const { request, on } of lost) on({ type: "failure", id: request.id, message });
  }

  #receive(message: FromServer): void {
    const concerned = this.#pending.filter(
      ({ request }) => request.id === message.id && expects(request.type, message.type),
    );
    const pending = concerned.find(({ request }) => isAbout(request, message)) ?? concerned[0];
    if (!pending) return;
    if (message.type === "failure" || LAST[pending.request.type] === message.type) {
      this.#pending = this.#pending.filter((other) => other !== pending);
    }
    pending.on(message);
  }
}

function expects(request: Request["type"], message: FromServer["type"]): boolean {
  if (message === "failure" || LAST[request] === message) return true;
  if (request === "watch") return message === "run" || message === "run-gone";
  return (request === "ask" || request === "think") && ON_THE_WAY.includes(message);
}

/** Whether a view shows just what was asked for, where several looks at one search are under way. */
function isAbout(request: Pending["request"], message: FromServer): boolean {
  if (!("simulation" in request && "simulation" in message)) return false;
  const isSameNode = !("node" in request && "node" in message) || request.node === message.node;
  return isSameNode && request.simulation === message.simulation;
}

export const socket = new Socket();
