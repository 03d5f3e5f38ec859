/**
 * What a saga costs as the work grows: items, servers, sagas that wait, reminders of one that waits. Linear or better is what
 * the charts are to show.
 */
import type { Growth } from './growth/figures';
import { growBySize } from './growth/size';
import { growByReminders } from './growth/reminders';
import { growByWaiting } from './growth/waiting';
import type { Built } from './built';
import type { Chart } from './chart';
import { markdownTable, type Cell } from './markdown';
import { Stand } from './stand';

export interface GrowthOptions {
  built: Built;
  rounds: number;
  waiting: readonly number[];
  say: (line: string) => void;
}

export async function measureGrowth({ built, rounds, waiting, say }: GrowthOptions): Promise<Growth[]> {
  const growths: Growth[] = [];
  for (const measure of [
    (stand: Stand) => growBySize(stand, rounds, 'items'),
    (stand: Stand) => growBySize(stand, rounds, 'servers'),
    (stand: Stand) => growByWaiting(stand, rounds, waiting, say),
    (stand: Stand) => growByReminders(stand, rounds),
  ]) {
    // Each begins with a server that remembers nothing.
    const stand = await Stand.start(built);
    try {
      const growth = await measure(stand);
      growths.push(growth);
      say(`growth: ${growth.title} is done`);
    } finally {
      await stand.close();
    }
  }
  return growths;
}

export function growthReport(growths: readonly Growth[]): string {
  return growths
    .map(({ name, title, axis, points }) => {
      const columns = Object.keys(points[0]?.figures ?? {});
      const rows = points.map(({ at, figures }): Cell[] => [at, ...columns.map((column) => figures[column])]);
      const picture = `![${title}](pictures/${name}.svg)`;
      return [`### ${title}`, markdownTable([axis, ...columns], rows), picture].join('\n\n');
    })
    .join('\n\n');
}

export function chartOf({ title, axis, points, drawn }: Growth): Chart {
  return {
    title,
    axis,
    positions: points.map(({ at }) => at),
    panels: drawn.map((label) => ({
      label,
      values: points.map(({ figures }) => {
        const value = figures[label];
        if (value === undefined) throw new Error(`${title}: no figure of ${label}`);
        return value;
      }),
    })),
  };
}
