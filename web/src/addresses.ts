/** Writes and reads addresses after the hash: `#/play?game=connect-four&moves=3,3`. */

export type QueryValue = string | number | boolean | readonly number[] | null | undefined;

/** Reads one parameter of an address; `null` is one that is missing or unreadable. */
export type Reader<T> = (text: string | null) => T;

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

/** Comma-separated non-negative integers; anything else is skipped. */
export function numbers(): Reader<number[]> {
  return (given) =>
    (given ?? "")
      .split(",")
      .filter((part) => /^\d+$/.test(part))
      .map(Number);
}
