/** The figures that a story shows at its end. */

export interface Figure {
  of: string;
  count: number;
  detail?: string;
  /** A run in which it happened too seldom proves nothing. */
  required?: boolean;
}

/** A run in which it did not happen proves nothing. */
export const needed = (of: string, count: number): Figure => ({ of, count, required: true });

export interface Section {
  title: string;
  figures: Figure[];
}

export interface Told {
  sections: Section[];
  violations: string[];
}

/** The parts of a story, each until the next one begins. */
export class Phases {
  private readonly begun: { name: string; beginMs: number }[] = [];

  begin(name: string): void {
    this.begun.push({ name, beginMs: Date.now() });
    process.stderr.write(`  ${name}\n`);
  }

  section(): Section {
    const figures = this.begun.map(({ name, beginMs }, nth) => {
      const endMs = this.begun[nth + 1]?.beginMs ?? Date.now();
      return { of: name, count: seconds(endMs - beginMs) };
    });
    return { title: 'Its parts, in seconds', figures };
  }
}

export function printed(sections: readonly Section[]): string {
  const digits = Math.max(...sections.flatMap(({ figures }) => figures.map(({ count }) => String(count).length)));
  const row = ({ of, count, detail }: Figure) =>
    `  ${String(count).padStart(digits)}  ${of}${detail === undefined ? '' : `: ${detail}`}`;
  return sections.map(({ title, figures }) => [title, ...figures.map(row)].join('\n')).join('\n\n');
}

/** Events that were too seldom for the run to prove anything, as sentences. */
export function tooSeldom(sections: readonly Section[], least: number): string[] {
  return sections
    .flatMap(({ figures }) => figures)
    .filter(({ required, count }) => required && count < least)
    .map(({ of, count }) => `${of}: ${count} times, and at least ${least} are asked for`);
}

export function counted(names: readonly string[]): Figure[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([of, count]) => ({ of, count })).sort((one, other) => one.of.localeCompare(other.of));
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10;
