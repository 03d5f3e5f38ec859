/** What a story shows at its end. */

/** A part of it, until the next one begins. */
export interface Phase {
  name: string;
  beginMs: number;
}

export interface Figure {
  of: string;
  count: number;
  detail?: string;
  /** A run in which it happened too seldom proves nothing. */
  required?: boolean;
}

export interface Section {
  title: string;
  figures: Figure[];
}

/** What it was, and what must not be. */
export interface Told {
  sections: Section[];
  violations: string[];
}

export function printed(sections: readonly Section[]): string {
  const rows = sections.flatMap(({ figures }) => figures);
  const width = Math.max(...rows.map(({ of }) => of.length));
  const digits = Math.max(...rows.map(({ count }) => String(count).length));
  return sections
    .map(({ title, figures }) =>
      [
        title,
        ...figures.map(
          ({ of, count, detail }) =>
            `  ${of.padEnd(width)}  ${String(count).padStart(digits)}${detail === undefined ? '' : `  ${detail}`}`,
        ),
      ].join('\n'),
    )
    .join('\n\n');
}

/** What happened less often than it must for the run to prove anything, in sentences. */
export function tooSeldom(sections: readonly Section[], least: number): string[] {
  return sections
    .flatMap(({ figures }) => figures)
    .filter(({ required, count }) => required && count < least)
    .map(({ of, count }) => `${of}: ${count} times, and at least ${least} are asked for`);
}

/** How often each came, in the order of their names. */
export function counted(names: readonly string[]): Figure[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([of, count]) => ({ of, count })).sort((one, other) => one.of.localeCompare(other.of));
}

export const seconds = (ms: number): number => Math.round(ms / 100) / 10;
