/** Animates a light along a simulation's edges, one edge after another. */

import { motionPreference } from "./motion_preference.svelte";

const EDGE_MS = 220;
const LONGEST_MS = 1400; // for a whole path

export class Lighting {
  reached = $state(0);
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Goes from 0 to `count` within `most` milliseconds; at once if motion is off. */
  run(count: number, most: number): void {
    clearInterval(this.#timer);
    const pause = Math.min(EDGE_MS, LONGEST_MS / Math.max(1, count), most / Math.max(1, count));
    if (motionPreference.isReduced || pause < 16 || count === 0) {
      this.reached = count;
      return;
    }
    this.reached = 0;
    this.#timer = setInterval(() => {
      this.reached += 1;
      if (this.reached >= count) clearInterval(this.#timer);
    }, pause);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
