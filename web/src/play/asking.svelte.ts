/** One question at a time to a machine, over the socket, with what it thinks so far. */

import type { Analysis, FromServer, Player, Position, SearchAnswer } from "../api/schema";
import { socket } from "../api/socket.svelte";

export interface Thinking {
  id: string;
  analysis: Analysis | null; // so far
  seconds: number;
  ahead: number | null; // searches that come first, while it waits for its turn
}

interface Listeners {
  onanswer: (answer: SearchAnswer) => void;
  onfailure: (sentence: string) => void;
}

export class Question {
  /** What is being thought; null where nothing was asked, or the answer has come. */
  thinking = $state.raw<Thinking | null>(null);

  /** Asks; an earlier question is forgotten. */
  ask(position: Position, player: Player, seed: number, listeners: Listeners): void {
    this.cancel();
    const request = { type: "ask", position, player, seed } as const;
    const id = socket.request(request, (message) => this.#hear(message, listeners));
    this.thinking = { id, analysis: null, seconds: 0, ahead: null };
  }

  /** Enough: the answer comes now. */
  stop(): void {
    if (this.thinking) socket.stop(this.thinking.id);
  }

  /** Never mind: no answer comes. */
  cancel(): void {
    if (this.thinking) socket.cancel(this.thinking.id);
    this.thinking = null;
  }

  #hear(message: FromServer, { onanswer, onfailure }: Listeners): void {
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
