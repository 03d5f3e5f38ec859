/** By which indexes a database answers what a transaction asks. */
import {
  CompiledQuery,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type RootOperationNode,
} from 'kysely';
import File from 'libsql';
import type { JournalAddress } from '../../src/journal/dialects';
import { Journal } from '../../src/journal/journal';
import type { Sealing } from '../../src/journal/store';

class Recorder implements KyselyPlugin {
  readonly asked: RootOperationNode[] = [];

  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    this.asked.push(node);
    return node;
  }

  transformResult({ result }: PluginTransformResultArgs): Promise<PluginTransformResultArgs['result']> {
    return Promise.resolve(result);
  }
}

/** @returns names of indexes, in order; a table that is read as a whole stands among them as `all of …` */
export async function indexesOf(
  journal: Journal,
  address: JournalAddress,
  sealing: Sealing,
  work: (journal: Journal) => Promise<unknown>,
): Promise<string[]> {
  const recorder = new Recorder();
  await work(new Journal(journal.db.withPlugin(recorder), sealing));
  const found = new Set<string>();
  for (const node of recorder.asked) {
    const { sql: question, parameters } = journal.db.getExecutor().compileQuery(node, { queryId: '' });
    for (const name of accesses(await explain(journal, address, question, [...parameters]))) found.add(name);
  }
  return [...found].sort();
}

async function explain(
  journal: Journal,
  address: JournalAddress,
  question: string,
  parameters: unknown[],
): Promise<string> {
  if ('postgres' in address) {
    const { rows } = await journal.db.executeQuery(CompiledQuery.raw(`explain ${question}`, parameters));
    return rows.map((row) => String((row as Record<string, unknown>)['QUERY PLAN'])).join('\n');
  }
  // Not by way of Kysely, which takes the plan of a change for a change, and leaves it open.
  const file = new File(address.file);
  try {
    const steps = file.prepare(`explain query plan ${question}`).all(parameters) as { detail: string }[];
    return steps.map(({ detail }) => detail).join('\n');
  } finally {
    file.close();
  }
}

/** What a plan reads of the tables that grow; the journal's own has one row. */
export function accesses(plan: string): string[] {
  return plan.split('\n').flatMap((step) => {
    const index =
      /SEARCH \w+ USING (?:COVERING )?INDEX (\w+)|Index(?: Only)? Scan using (\w+)|Index Scan on (\w+)|Conflict Arbiter Indexes: (\w+)/.exec(
        step,
      );
    if (index !== null) return index.slice(1).filter(Boolean);
    const table = /(?:SCAN|Seq Scan on) (reference|effect|ending)\b/.exec(step)?.[1];
    return table === undefined ? [] : [`all of ${table}`];
  });
}
