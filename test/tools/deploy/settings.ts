/** The names of every setting that our programs know, as docs/settings.md has them; a test holds that to the code. */
import { codesIn, readDocument } from '../../docs/tables';

export function knownSettings(): Set<string> {
  const rows = readDocument('docs/settings.md').split('\n');
  const names = rows.flatMap((row) => codesIn(/^\|([^|]*)\|/.exec(row)?.[1] ?? ''));
  return new Set(names.filter((name) => /^[A-Z_]+$/.test(name)));
}
