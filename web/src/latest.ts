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
    private readonly failed: (error: unknown) => void,
  ) {}

  ask(wish: Wish): void {
    this.#next = { wish };
    if (!this.#isBusy) void this.#run();
  }

  /** Nothing more is heard of what was wished for. */
  forget(): void {
    this.#next = null;
    this.#epoch += 1;
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    while (this.#next) {
      const { wish } = this.#next;
      const epoch = this.#epoch;
      this.#next = null;
      try {
        const result = await this.work(wish);
        if (epoch === this.#epoch) this.done(wish, result);
      } catch (error) {
        if (epoch === this.#epoch) this.failed(error);
      }
    }
    this.#isBusy = false;
  }
}
