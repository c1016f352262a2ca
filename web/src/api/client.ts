/** Typed calls of the server's HTTP routes. */

import type {
  About,
  ExportedGame,
  ExportRequest,
  FormulaAnswer,
  FormulaRequest,
  GameInfo,
  GameList,
  ImportedGame,
  ImportRequest,
  Ladder,
  PositionOverTime,
  PositionOverTimeRequest,
  Outcomes,
  OutcomesRequest,
  PlaceRun,
  PlayRequest,
  Position,
  RecordedGame,
  ResumeRun,
  RunDetails,
  RunInfo,
  SearchAnswer,
  SearchRequest,
  SetupOptions,
  StartRun,
  View,
} from "./schema";
import { readToken } from "./token";

/** A failed request, in one sentence; status 0: the server was not reached. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

type Query = Record<string, string | number | undefined>;

export const api = {
  about: (signal?: AbortSignal) => get<About>("about", {}, signal),
  games: (signal?: AbortSignal) => get<GameInfo[]>("games", {}, signal),
  setupOptions: (game: string, signal?: AbortSignal) => get<SetupOptions>("setup", { game }, signal),
  position: (position: Position, signal?: AbortSignal) => post<View>("position", position, signal),
  play: (request: PlayRequest, signal?: AbortSignal) => post<View>("play", request, signal),
  search: (request: SearchRequest, signal?: AbortSignal) =>
    post<SearchAnswer>("search", request, signal),
  outcomes: (request: OutcomesRequest, signal?: AbortSignal) =>
    post<Outcomes>("outcomes", request, signal),
  formula: (request: FormulaRequest, signal?: AbortSignal) =>
    post<FormulaAnswer>("formula", request, signal),
  exportGame: (request: ExportRequest, signal?: AbortSignal) =>
    post<ExportedGame>("export", request, signal),
  importGame: (request: ImportRequest, signal?: AbortSignal) =>
    post<ImportedGame>("import", request, signal),
  ladders: (signal?: AbortSignal) => get<string[]>("ladders", {}, signal),
  ladder: (game: string, signal?: AbortSignal) => get<Ladder | null>("ladder", { game }, signal),
  placeRun: (request: PlaceRun, signal?: AbortSignal) => post<Ladder>("ladder", request, signal),
  runs: (signal?: AbortSignal) => get<RunInfo[]>("runs", {}, signal),
  run: (run: string, signal?: AbortSignal) => get<RunDetails>(runPath(run), {}, signal),
  startRun: (request: StartRun, signal?: AbortSignal) => post<RunInfo>("runs", request, signal),
  stopRun: (run: string, signal?: AbortSignal) =>
    post<RunInfo>(`${runPath(run)}/stop`, undefined, signal),
  resumeRun: (run: string, request: ResumeRun = {}, signal?: AbortSignal) =>
    post<RunInfo>(`${runPath(run)}/resume`, request, signal),
  /** The games of a generation; by default the newest that has any. */
  selfplayGames: (
    run: string,
    generation: number | undefined,
    first: number,
    count: number,
    signal?: AbortSignal,
  ) => get<GameList>(`${runPath(run)}/games`, { generation, first, count }, signal),
  selfplayGame: (run: string, generation: number, index: number, signal?: AbortSignal) =>
    get<RecordedGame>(`${runPath(run)}/games/${generation}/${index}`, {}, signal),
  positionOverTime: (run: string, request: PositionOverTimeRequest, signal?: AbortSignal) =>
    post<PositionOverTime>(`${runPath(run)}/position-over-time`, request, signal),
};

/** The message of an error, for people. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : "Something unexpected went wrong.";
}

/** Whether the page itself aborted the request. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** The address of a route below api/, relative to the page. */
export function apiAddress(path: string, query: Query = {}): URL {
  const address = new URL(`api/${path}`, document.baseURI);
  address.hash = "";
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  return address;
}

function runPath(run: string): string {
  return `runs/${encodeURIComponent(run)}`;
}

function get<Answer>(path: string, query: Query, signal?: AbortSignal): Promise<Answer> {
  return send<Answer>(apiAddress(path, query), { method: "GET", signal });
}

function post<Answer>(path: string, body: unknown, signal?: AbortSignal): Promise<Answer> {
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  return send<Answer>(apiAddress(path), { method: "POST", signal, ...content });
}

async function send<Answer>(address: URL, init: RequestInit): Promise<Answer> {
  const headers = new Headers({ Accept: "application/json" });
  if (init.body !== undefined) headers.set("Content-Type", "application/json");
  const token = readToken();
  if (token) headers.set("Authorization", `Bearer ${token}`);
  let response: Response;
  try {
    response = await fetch(address, { ...init, headers });
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new ApiError("Cannot reach the server. Is it still running?", 0);
  }
  if (!response.ok) throw new ApiError(await readProblem(response), response.status);
  return (await response.json()) as Answer;
}

async function readProblem(response: Response): Promise<string> {
  try {
    const problem: unknown = await response.json();
    if (typeof problem === "object" && problem !== null && "message" in problem) {
      if (typeof problem.message === "string") return problem.message;
    }
  } catch {
    // Not JSON: something between the page and the server answered.
  }
  return `The server answered ${response.status} ${response.statusText}`.trimEnd() + ".";
}
