/** The current moment of a search: a simulation, and one of its four phases. */

export const PHASES = ["Select", "Expand", "Evaluate", "Back up"] as const;
export const LAST_PHASE = 3;
export const LEAST_SPEED = 0.5; // steps per second
export const MOST_SPEED = 500;

export type Unit = "simulation" | "phase";

export class Timeline {
  last = $state(0); // number of simulations
  simulation = $state(0); // 0: before the first
  phase = $state(LAST_PHASE);
  unit = $state<Unit>("simulation");
  speed = $state(2); // steps per second
  isPlaying = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;

  get isAtEnd(): boolean {
    return this.simulation >= this.last && this.phase === LAST_PHASE;
  }

  get isAtStart(): boolean {
    return this.simulation === 0;
  }

  /** Starts over with a search of `last` simulations. */
  reset(last: number, simulation = 0, phase = LAST_PHASE): void {
    this.pause();
    this.last = last;
    this.simulation = Math.min(last, Math.max(0, simulation));
    this.phase = this.simulation === 0 ? LAST_PHASE : phase;
  }

  scrub(simulation: number): void {
    this.simulation = Math.min(this.last, Math.max(0, simulation));
    this.phase = LAST_PHASE;
  }

  forward(): void {
    if (this.isAtEnd) return;
    if (this.unit === "simulation") {
      if (this.phase === LAST_PHASE) this.scrub(this.simulation + 1);
      else this.phase = LAST_PHASE;
    } else if (this.phase < LAST_PHASE) this.phase += 1;
    else {
      this.simulation += 1;
      this.phase = 0;
    }
  }

  back(): void {
    if (this.isAtStart) return;
    if (this.unit === "simulation" || this.phase === 0) this.scrub(this.simulation - 1);
    else this.phase -= 1;
  }

  /** Shows one phase of this simulation and switches to steps of phases. */
  goToPhase(phase: number): void {
    this.unit = "phase";
    if (this.simulation === 0) this.simulation = Math.min(1, this.last);
    if (this.simulation > 0) this.phase = phase;
  }

  toggle(): void {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  play(): void {
    if (this.last === 0) return;
    if (this.isAtEnd) this.scrub(0);
    this.isPlaying = true;
    this.#tick(performance.now(), 0);
  }

  pause(): void {
    this.isPlaying = false;
    clearTimeout(this.#timer);
  }

  /** Advances by the elapsed time; at high speed this may be several steps at once. */
  #tick(before: number, rest: number): void {
    const wait = Math.max(16, 1000 / this.speed);
    this.#timer = setTimeout(() => {
      const now = performance.now();
      const due = rest + ((now - before) * this.speed) / 1000;
      const steps = Math.max(1, Math.floor(due));
      if (this.unit === "simulation" && this.phase === LAST_PHASE) this.scrub(this.simulation + steps);
      else for (let step = 0; step < Math.min(steps, 64); step += 1) this.forward();
      if (this.isAtEnd) this.pause();
      else this.#tick(now, Math.max(0, due - steps));
    }, wait);
  }
}
