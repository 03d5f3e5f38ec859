/** The names of every setting that our programs know, as docs/settings.md and the sandbox's file have them; a test holds both to the code. */
import { codesIn, readDocument, sandboxSettings } from '../../docs/tables';

export function knownSettings(): Set<string> {
  const rows = readDocument('docs/settings.md').split('\n');
  const names = rows.flatMap((row) => codesIn(/^\|([^|]*)\|/.exec(row)?.[1] ?? ''));
  return new Set([...names.filter((name) => /^[A-Z_]+$/.test(name)), ...sandboxSettings()]);
}
