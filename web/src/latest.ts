/**
 * Runs one request at a time; of those made while one is running, only the last runs next. So a
 * slider never lags behind the pointer.
 */
export class Latest<Request, Result> {
  #next: { request: Request } | null = null;
  #isBusy = false;
  #epoch = 0;

  constructor(
    private readonly work: (request: Request) => Promise<Result>,
    private readonly done: (request: Request, result: Result) => void,
    private readonly failed: (error: unknown, request: Request) => void,
  ) {}

  ask(request: Request): void {
    this.#next = { request };
    if (!this.#isBusy) void this.#run();
  }

  /** Drops all requests; the one that is running is ignored, even if it never ends. */
  cancel(): void {
    this.#next = null;
    this.#isBusy = false;
    this.#epoch += 1;
  }

  async #run(): Promise<void> {
    const epoch = this.#epoch;
    this.#isBusy = true;
    while (this.#next) {
      const { request } = this.#next;
      this.#next = null;
      try {
        const result = await this.work(request);
        if (epoch !== this.#epoch) return;
        this.done(request, result);
      } catch (error) {
        if (epoch !== this.#epoch) return;
        this.failed(error, request);
      }
    }
    this.#isBusy = false;
  }
}
