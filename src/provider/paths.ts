/** Fills values into paths. A value that does not belong there is a bug in the program: RangeError. */
import { isId } from './ids';

export function idIn(parameter: string, id: number): string {
  if (!isId(id)) throw new RangeError(`${parameter} must be a positive integer`);
  return String(id);
}

/** Fills a path's `{name}`s; values are encoded, so that none can add a segment or a parameter of its own. */
export function fillPath(template: string, values: Readonly<Record<string, string | undefined>>): string {
  const path = template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new RangeError(`nothing to fill in for {${name}}`);
    // Encoding leaves these two segments as they are, and a server may follow them upwards.
    if (value === '.' || value === '..') throw new RangeError(`{${name}} must not be dots only`);
    return encodeURIComponent(value);
  });
  if (!/^\/(?!\/)[\x21\x22\x24-\x7e]*$/.test(path)) {
    throw new RangeError('the path must begin with one slash, be plain ASCII and have no fragment');
  }
  return path;
}
