/** Fills values into paths. A value that does not belong there is a bug in the program: RangeError. */
import { isId } from './ids';

export interface PathValues {
  ids?: Readonly<Record<string, number>>;
  texts?: Readonly<Record<string, string | undefined>>;
}

/** Fills a path's `{name}`s; texts are encoded, so that none can add a segment or a parameter of its own. */
export function fillPath(template: string, { ids = {}, texts = {} }: PathValues): string {
  const path = template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    if (name in ids && !isId(ids[name])) throw new RangeError(`${name} must be a positive integer`);
    const value = ids[name] ?? texts[name];
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
