/** The page's WebSocket: requests with an id, and the server's messages about each. */

import { apiAddress } from "./client";
import type {
  FromClient,
  FromServer,
  TreeRequest,
  NodeRequest,
  SimulationRequest,
  NodeView,
  SimulationView,
  TreeView,
} from "./schema";
import { readToken } from "./token";

export type ConnectionState = "connecting" | "open" | "waiting";
export type Listener = (message: FromServer) => void;

type WithoutId<M> = M extends FromClient ? Omit<M, "id"> & { id?: string } : never;
/** A request, whose id is optional. Requests for views have the id of their trace. */
export type Request = WithoutId<Exclude<FromClient, { type: "stop" | "cancel" }>>;
type ViewRequest = TreeRequest | SimulationRequest | NodeRequest;
type ViewAnswer<R extends ViewRequest> = R extends TreeRequest
  ? TreeView
  : R extends SimulationRequest
    ? SimulationView
    : NodeView;

/** The message that ends each kind of request; a failure ends any. */
const LAST: Record<Request["type"], FromServer["type"] | null> = {
  search: "answer",
  trace: "traced",
  "get-tree": "tree",
  "get-simulation": "simulation",
  "get-node": "node",
  "follow-runs": null,
};
const ON_THE_WAY: readonly FromServer["type"][] = ["queued", "progress"];
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

interface Pending {
  request: Exclude<FromClient, { type: "stop" | "cancel" }>;
  on: Listener;
}

class Socket {
  state = $state<ConnectionState>("connecting");
  #socket: WebSocket | null = null;
  #pending: Pending[] = []; // in the order they were sent
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;

  /** Connects and reconnects; returns a function that stops it. */
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
   * last: an answer, a trace, a view, or a failure. Without a connection it fails at once; only
   * `follow-runs` waits for a connection, and is sent again after each.
   */
  request(request: Request, on: Listener): string {
    const id = request.id ?? this.newId();
    const whole = { ...request, id } as Pending["request"];
    const pending = { request: whole, on };
    if (this.state === "open") {
      this.#pending.push(pending);
      this.#send(whole);
    } else if (whole.type === "follow-runs") {
      this.#pending.push(pending);
    } else {
      const message = "Not connected to the server. Reconnecting…";
      queueMicrotask(() => on({ type: "failure", id, message }));
    }
    return id;
  }

  /** A view of a trace; a failure rejects the promise with the server's message. */
  view<R extends ViewRequest>(request: R): Promise<ViewAnswer<R>> {
    return new Promise((resolve, reject) => {
      this.request(request, (message) => {
        if (message.type === "failure") reject(new Error(message.message));
        else resolve(message as ViewAnswer<R>);
      });
    });
  }

  /** Stops a search; its result so far arrives as the last message. */
  stop(id: string): void {
    if (this.state === "open") this.#send({ type: "stop", id });
  }

  /** Discards a request; nothing more arrives for this id, and the server drops its trace. */
  cancel(id: string): void {
    this.#pending = this.#pending.filter((pending) => pending.request.id !== id);
    if (this.state === "open") this.#send({ type: "cancel", id });
  }

  newId(): string {
    this.#lastId += 1;
    return `p${this.#lastId}`;
  }

  #send(message: FromClient): void {
    // A closing socket accepts nothing; pending requests fail once it is closed.
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
    for (const { request } of this.#pending) this.#send(request); // only `follow-runs` waits here
  }

  #closed(): void {
    this.state = "waiting";
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#connect(), wait * (0.75 + Math.random() / 2));
    const lost = this.#pending.filter(({ request }) => request.type !== "follow-runs");
    this.#pending = this.#pending.filter(({ request }) => request.type === "follow-runs");
    const message = "The connection to the server was lost. Try again once it is back.";
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
  if (request === "follow-runs") return message === "run" || message === "run-removed";
  return (request === "search" || request === "trace") && ON_THE_WAY.includes(message);
}

/** Whether a view answers just this request, if several about one trace are pending. */
function isAbout(request: Pending["request"], message: FromServer): boolean {
  if (!("simulation" in request && "simulation" in message)) return false;
  const isSameNode = !("node" in request && "node" in message) || request.node === message.node;
  return isSameNode && request.simulation === message.simulation;
}

export const socket = new Socket();
