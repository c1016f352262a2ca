/** The lessons in reading order. */

export interface Lesson {
  slug: string;
  title: string;
  summary: string; // one sentence
}

export const lessons = [
  {
    slug: "idea",
    title: "The idea: a tree grown by samples",
    summary: "Why looking at everything is hopeless, and what a search does instead, in four phases.",
  },
  {
    slug: "uct",
    title: "UCT: optimism where little is known",
    summary: "How to divide time between the move that looks best and those hardly looked at.",
  },
  {
    slug: "puct",
    title: "PUCT: the prior guides",
    summary: "A network's first opinion decides what is worth looking at, and visits follow it.",
  },
  {
    slug: "backup",
    title: "The way back: whose value is it?",
    summary: "A result travels up the tree, and everybody on the way counts it for himself.",
  },
  {
    slug: "noise-and-temperature",
    title: "Noise before, temperature after",
    summary: "Two kinds of chance that are easily mixed up, and where each belongs.",
  },
  {
    slug: "self-play",
    title: "Self-play: how it learns",
    summary: "Search makes better moves than the network; the network learns them; search gets better.",
  },
  {
    slug: "proven",
    title: "Proven values, and what “perfect” means",
    summary: "When an estimate becomes a certainty, and what may be called perfect play.",
  },
  {
    slug: "mistakes",
    title: "Common mistakes",
    summary: "Eight ways to build a search that runs and plays badly, and how to notice each.",
  },
] as const satisfies readonly Lesson[];

export type Slug = (typeof lessons)[number]["slug"];

export function lessonAt(slug: string | undefined): number {
  return lessons.findIndex((lesson) => lesson.slug === slug);
}
