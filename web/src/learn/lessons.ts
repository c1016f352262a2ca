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
    summary: "Why searching everything is hopeless, and what MCTS does instead, in four phases.",
  },
  {
    slug: "uct",
    title: "UCT: optimism in the face of uncertainty",
    summary: "How to divide time between the best-looking move and the barely explored ones.",
  },
  {
    slug: "puct",
    title: "PUCT: guided by the prior",
    summary: "A network's first guess decides what is worth exploring, and visits follow.",
  },
  {
    slug: "backup",
    title: "Backup: whose value is it?",
    summary: "A result travels up the tree, and each player on the way counts their own share.",
  },
  {
    slug: "noise-and-temperature",
    title: "Noise before, temperature after",
    summary: "Two kinds of randomness that are easily confused, and where each belongs.",
  },
  {
    slug: "self-play",
    title: "Self-play: how it learns",
    summary: "Search finds better moves than the network; the network learns them; search improves.",
  },
  {
    slug: "proven",
    title: "Proven values and perfect play",
    summary: "When an estimate becomes a certainty, and what perfect play means.",
  },
  {
    slug: "mistakes",
    title: "Common mistakes",
    summary: "Eight ways to build a search that runs but plays badly, and how to notice them.",
  },
] as const satisfies readonly Lesson[];

export type Slug = (typeof lessons)[number]["slug"];

export function lessonAt(slug: string | undefined): number {
  return lessons.findIndex((lesson) => lesson.slug === slug);
}
