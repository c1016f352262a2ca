/** A game's name with its parameters, `connect-four(rows=7,cols=8)`, and the names of its moves. */

import type { GameInfo, Move, Parameter, View } from "../api/schema";

export type ParameterValues = Record<string, string | number | boolean>;

/** The name for the server; parameters that are the default are left out. */
export function nameWith(info: GameInfo, values: ParameterValues): string {
  const given = info.parameters.flatMap((parameter) => {
    const value = values[parameter.name] ?? parameter.default;
    return value === parameter.default ? [] : [`${parameter.name}=${write(parameter, value)}`];
  });
  return given.length > 0 ? `${info.name}(${given.join(",")})` : info.name;
}

/** The title before the parentheses. */
export function titlePart(name: string): string {
  return name.split("(", 1)[0] ?? name;
}

/** The parameters in a name, by the types that the game declares. */
export function parametersIn(name: string, info: GameInfo): ParameterValues {
  const inside = /\((.*)\)\s*$/s.exec(name)?.[1] ?? "";
  const written = new Map(
    inside.split(",").map((part) => {
      const [key = "", ...rest] = part.split("=");
      return [key.trim(), rest.join("=").trim()];
    }),
  );
  return Object.fromEntries(
    info.parameters.map((parameter) => {
      const text = written.get(parameter.name);
      return [parameter.name, text === undefined ? parameter.default : read(parameter, text)];
    }),
  );
}

/** The known names of moves plus those of a view and a line; the same map if none is new. */
export function learnNames(
  known: ReadonlyMap<number, string>,
  view: View,
  line: readonly Move[],
): ReadonlyMap<number, string> {
  const seen = [...view.legal, ...line].filter((move) => move.player >= 0);
  const fresh = seen.filter((move) => !known.has(move.action));
  if (fresh.length === 0) return known;
  return new Map([...known, ...fresh.map((move): [number, string] => [move.action, move.name])]);
}

function write(parameter: Parameter, value: string | number | boolean): string {
  if (parameter.kind === "bool") return value ? "True" : "False";
  return parameter.kind === "str" ? `'${String(value)}'` : String(value);
}

function read(parameter: Parameter, text: string): string | number | boolean {
  if (parameter.kind === "bool") return text.toLowerCase() === "true";
  if (parameter.kind === "str") return text.replace(/^['"]|['"]$/g, "");
  const number = Number(text);
  return Number.isFinite(number) ? number : parameter.default;
}
