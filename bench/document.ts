/** Puts what was measured into its page below `docs/`, between the marks that name it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { between } from './markdown';

const docs = join(__dirname, '..', 'docs');

export async function writeReport(page: string, name: string, report: string): Promise<void> {
  const path = join(docs, `${page}.md`);
  const text = between(readFileSync(path, 'utf8'), name, report);
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}
