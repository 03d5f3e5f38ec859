/** A terminal in a few lines: what a person sees after all that was written to it. */

/** @returns the lines, with the codes of their colours. Only what our live view writes is understood. */
export function screenOf(written: string): string[] {
  const lines = [''];
  let row = 0;
  // eslint-disable-next-line no-control-regex
  for (const [token] of written.matchAll(/\u001b\[\??[\d;]*[A-Za-z]|[\r\n]|[^\u001b\r\n]+/g)) {
    // eslint-disable-next-line no-control-regex
    const [, count = '', what = ''] = /^\u001b\[\??([\d;]*)([A-Za-z])$/.exec(token) ?? [];
    if (token === '\n') row += 1;
    else if (what === 'A') row -= Number(count);
    else if (what === 'J') lines.splice(row, Infinity, '');
    else if (what === 'm' || what === '') lines[row] = (lines[row] ?? '') + (token === '\r' ? '' : token);
    else if (!'hl'.includes(what)) throw new Error(`a code that no test knows: ${JSON.stringify(token)}`);
    if (row < 0) throw new Error('it has written above the screen');
    lines[row] ??= '';
  }
  return lines;
}

// eslint-disable-next-line no-control-regex
export const withoutColors = (text: string) => text.replaceAll(/\u001b\[[\d;]*m/g, '');
