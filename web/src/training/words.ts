/** Runs and games in words. */

import type { About, GameSummary, RunInfo } from "../api/schema";
import { duration, signed } from "../numbers";

export type StateKind = "busy" | "on" | "off" | "good" | "bad";

const stateWords: Record<RunInfo["state"], { word: string; kind: StateKind }> = {
  starting: { word: "Starting", kind: "busy" },
  running: { word: "Training", kind: "on" },
  stopping: { word: "Stopping", kind: "busy" },
  stopped: { word: "Stopped", kind: "off" },
  finished: { word: "Finished", kind: "good" },
  failed: { word: "Failed", kind: "bad" },
};

const NEEDS_LEARN = "plainzero[learn]"; // in the server's sentence about a package that is missing

/** The state in a word; a run that cannot be read only because PyTorch is missing has not failed. */
export function stateOf(info: RunInfo): { word: string; kind: StateKind } {
  const isUnreadable = info.state === "failed" && info.message.includes(NEEDS_LEARN);
  return isUnreadable ? { word: "Not readable here", kind: "off" } : stateWords[info.state];
}

export function isBusy(info: RunInfo): boolean {
  return ["starting", "running", "stopping"].includes(info.state);
}

/** Progress towards the run's limit, from 0 to 1; null without one. */
export function progressOf(info: RunInfo): number | null {
  const shares = [
    ...(info.minutes > 0 ? [info.seconds / 60 / info.minutes] : []),
    ...(info.generations > 0 ? [info.generation / info.generations] : []),
  ];
  if (shares.length === 0) return null;
  return info.state === "finished" ? 1 : Math.min(1, Math.max(...shares));
}

/** The run with `seconds` more training time, up to its limit. */
export function withMoreTime(info: RunInfo, seconds: number): RunInfo {
  const most = info.minutes > 0 ? Math.max(info.seconds, info.minutes * 60) : Infinity;
  return { ...info, seconds: Math.min(most, info.seconds + Math.max(0, seconds)) };
}

/** "3 min 20 s of 20 min", "12 of 40 generations", "20 min, no limit". */
export function trainedOf(info: RunInfo): string {
  const time = duration(info.seconds);
  if (info.minutes > 0) return `${time} of ${duration(info.minutes * 60)}`;
  if (info.generations > 0) return `${time}, ${info.generation} of ${info.generations} generations`;
  return `${time}, no limit`;
}

/** Why runs cannot be started, stopped or resumed here; empty if they can. */
export function whyNoTraining(about: About): string {
  if (!about.can_learn) {
    return "Training needs PyTorch, which is not installed. Run pip install 'plainzero[learn]' and restart the server.";
  }
  if (!about.can_train) {
    return "This server was started with --no-training and only shows runs.";
  }
  return "";
}

/** The result: "Player 1 won", "A draw", or the score of a single-player game. */
export function resultOf(summary: GameSummary): string {
  const { returns } = summary;
  const best = Math.max(...returns);
  if (returns.length === 1) return `Score ${signed(best)}`;
  const winners = returns.flatMap((value, player) => (value === best ? [player + 1] : []));
  if (winners.length === returns.length) return "A draw";
  return winners.length === 1 ? `Player ${winners[0]} won` : `Players ${winners.join(" and ")} won`;
}

export const endingWords: Record<string, string> = {
  rules: "by the rules",
  proof: "result proven",
  resignation: "resigned",
};
