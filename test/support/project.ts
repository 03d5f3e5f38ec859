import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const projectFolder = join(__dirname, '..', '..');

/** @param path from the project's folder on */
export function readDocument(path: string): string {
  return readFileSync(join(projectFolder, path), 'utf8');
}
