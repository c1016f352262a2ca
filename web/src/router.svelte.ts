/** The page's location: a path and a query after the hash. */

import { linkTo, type QueryValue, type Reader } from "./addresses";

export * from "./addresses";

class Route {
  #hash = $state(window.location.hash);

  constructor() {
    window.addEventListener("hashchange", () => {
      this.#hash = window.location.hash;
    });
  }

  /** The path without its query, as in `/learn/puct`. */
  get path(): string {
    const path = this.#hash.replace(/^#/, "").split("?", 1)[0] ?? "";
    return path === "" || path === "/" ? "/play" : path.replace(/\/+$/, "");
  }

  /** The parts of the path: `["learn", "puct"]`. */
  get parts(): string[] {
    return this.path.split("/").filter(Boolean).map(decode);
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#hash.split("?").slice(1).join("?"));
  }

  /** The query read by type: `route.read({ game: text("connect-four"), moves: numbers() })`. */
  read<Readers extends Record<string, Reader<unknown>>>(
    readers: Readers,
  ): { [Name in keyof Readers]: ReturnType<Readers[Name]> } {
    const query = this.query;
    const entries = Object.entries(readers).map(([name, read]) => [name, read(query.get(name))]);
    return Object.fromEntries(entries) as { [Name in keyof Readers]: ReturnType<Readers[Name]> };
  }

  /** Navigates to an address; `replace` adds no entry to the history. */
  go(path: string, query: Record<string, QueryValue> = {}, replace = false): void {
    const hash = linkTo(path, query);
    if (hash === window.location.hash) return;
    if (replace) {
      window.history.replaceState(null, "", hash);
      this.#hash = hash;
    } else {
      window.location.hash = hash;
    }
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = new Route();
