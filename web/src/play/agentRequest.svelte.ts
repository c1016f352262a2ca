/** One request at a time to an agent, over the socket, with its analysis so far. */

import type { Agent, Analysis, FromServer, Position, SearchAnswer } from "../api/schema";
import { socket } from "../api/socket.svelte";

export interface Thinking {
  id: string;
  analysis: Analysis | null; // so far
  seconds: number;
  ahead: number | null; // searches ahead in the queue
}

interface Listeners {
  onanswer: (answer: SearchAnswer) => void;
  onfailure: (sentence: string) => void;
}

export class AgentRequest {
  /** The request in progress, or null. */
  thinking = $state.raw<Thinking | null>(null);

  /** Sends a request and drops any earlier one. */
  ask(position: Position, agent: Agent, seed: number, listeners: Listeners): void {
    this.cancel();
    const request = { type: "search", position, agent, seed } as const;
    const id = socket.request(request, (message) => this.#receive(message, listeners));
    this.thinking = { id, analysis: null, seconds: 0, ahead: null };
  }

  /** Stops the search; its answer arrives now. */
  stop(): void {
    if (this.thinking) socket.stop(this.thinking.id);
  }

  /** Cancels the request; no answer arrives. */
  cancel(): void {
    if (this.thinking) socket.cancel(this.thinking.id);
    this.thinking = null;
  }

  #receive(message: FromServer, { onanswer, onfailure }: Listeners): void {
    const { thinking } = this;
    if (!thinking || thinking.id !== message.id) return;
    if (message.type === "queued") this.thinking = { ...thinking, ahead: message.ahead };
    if (message.type === "progress") {
      const { analysis, seconds } = message;
      this.thinking = { ...thinking, analysis, seconds, ahead: null };
    }
    if (message.type === "answer" || message.type === "failure") this.thinking = null;
    if (message.type === "answer") onanswer(message.answer);
    if (message.type === "failure") onfailure(message.message);
  }
}
