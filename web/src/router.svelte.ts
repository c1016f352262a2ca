/** Addresses behind the hash: `#/play?game=connect-four&moves=3,3`. */

export type QueryValue = string | number | boolean | readonly number[] | null | undefined;

/** How one parameter of an address is read; `null` stands for one that is missing or unreadable. */
export type Reader<T> = (text: string | null) => T;

class Route {
  #hash = $state(window.location.hash);

  constructor() {
    window.addEventListener("hashchange", () => {
      this.#hash = window.location.hash;
    });
  }

  /** The way without its query, as in `/learn/puct`. */
  get path(): string {
    const path = this.#hash.replace(/^#/, "").split("?", 1)[0] ?? "";
    return path === "" || path === "/" ? "/play" : path.replace(/\/+$/, "");
  }

  /** The parts of the way: `["learn", "puct"]`. */
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

  /** Goes somewhere; `replace` leaves no trace in the history. */
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

/** The address of a view, for href; empty values are left out. */
export function linkTo(path: string, query: Record<string, QueryValue> = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "" || value === false) continue;
    const written = value === true ? "1" : Array.isArray(value) ? value.join(",") : String(value);
    if (written !== "") parameters.set(name, written);
  }
  const ending = parameters.toString().replaceAll("%2C", ",");
  return `#${path}${ending ? `?${ending}` : ""}`;
}

export function text(otherwise = ""): Reader<string> {
  return (given) => given ?? otherwise;
}

export function optionalText(): Reader<string | null> {
  return (given) => given;
}

export function choice<Choice extends string>(
  choices: readonly Choice[],
  otherwise: Choice,
): Reader<Choice> {
  return (given) => choices.find((one) => one === given) ?? otherwise;
}

export function number(otherwise: number, least = -Infinity, most = Infinity): Reader<number> {
  return (given) => {
    const read = given === null || given.trim() === "" ? NaN : Number(given);
    return Number.isFinite(read) ? Math.min(most, Math.max(least, read)) : otherwise;
  };
}

export function optionalNumber(): Reader<number | null> {
  return (given) => {
    const read = given === null || given.trim() === "" ? NaN : Number(given);
    return Number.isFinite(read) ? read : null;
  };
}

export function flag(): Reader<boolean> {
  return (given) => given === "1" || given === "true";
}

/** Whole numbers from 0 on with commas between; what is none of these is left out. */
export function numbers(): Reader<number[]> {
  return (given) =>
    (given ?? "")
      .split(",")
      .filter((part) => /^\d+$/.test(part))
      .map(Number);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = new Route();
