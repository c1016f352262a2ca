/**
 * Work of which only the newest wish counts: one piece is under way at a time, and of what was
 * wished for meanwhile only the last is done next. So a slider never lags behind the hand.
 */
export class Latest<Wish, Result> {
  #next: { wish: Wish } | null = null;
  #isBusy = false;
  #epoch = 0;

  constructor(
    private readonly work: (wish: Wish) => Promise<Result>,
    private readonly done: (wish: Wish, result: Result) => void,
    private readonly failed: (error: unknown, wish: Wish) => void,
  ) {}

  ask(wish: Wish): void {
    this.#next = { wish };
    if (!this.#isBusy) void this.#run();
  }

  /** Nothing more is heard of what was wished for, even if it never comes to an end. */
  forget(): void {
    this.#next = null;
    this.#isBusy = false;
    this.#epoch += 1;
  }

  async #run(): Promise<void> {
    const epoch = this.#epoch;
    this.#isBusy = true;
    while (this.#next) {
      const { wish } = this.#next;
      this.#next = null;
      try {
        const result = await this.work(wish);
        if (epoch !== this.#epoch) return;
        this.done(wish, result);
      } catch (error) {
        if (epoch !== this.#epoch) return;
        this.failed(error, wish);
      }
    }
    this.#isBusy = false;
  }
}
