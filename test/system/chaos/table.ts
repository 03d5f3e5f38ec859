/** What a run shows at its end. */
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
