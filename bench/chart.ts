/**
 * A chart as SVG: panels side by side, one for each figure, over the same axis. Both axes are logarithmic, so what grows in
 * proportion is a straight line; a dashed one shows what proportion would be, from the first point on.
 *
 * Colours follow the reader's theme: an SVG in an `<img>` knows it.
 */
export interface Panel {
  /** What grows, with its unit. */
  label: string;
  /** One for each position on the axis; 0 cannot be shown. */
  values: readonly number[];
}

export interface Chart {
  title: string;
  /** What there is more of, from left to right. */
  axis: string;
  positions: readonly number[];
  panels: readonly Panel[];
}

const panelWidth = 250;
const panelHeight = 190;
const margin = { top: 62, right: 24, bottom: 44, left: 24 };

const style = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 14px }
  .quiet { fill: #59636e }
  .frame { fill: none; stroke: #d1d9e0 }
  .line { fill: none; stroke: #0969da; stroke-width: 2 }
  .point { fill: #0969da }
  .proportion { stroke: #59636e; stroke-dasharray: 4 4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .quiet { fill: #9198a1 }
    .frame { stroke: #3d444d }
    .line { stroke: #4493f8 }
    .point { fill: #4493f8 }
    .proportion { stroke: #9198a1 }
  }`;

export function drawChart({ title, axis, positions, panels }: Chart): string {
  const width = margin.left + panels.length * (panelWidth + margin.right);
  const height = margin.top + panelHeight + margin.bottom;
  const x = scale(positions, panelWidth);
  const drawn = panels.map((panel, index) => {
    const left = margin.left + index * (panelWidth + margin.right);
    return `<g transform="translate(${left} ${margin.top})">${drawPanel(panel, positions, axis, x)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style}\n</style>`,
    `<text class="title" x="${margin.left}" y="22">${escaped(title)}</text>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

type Scale = (value: number) => number;

/** Room is left at both ends, so that no label is cut off. */
function scale(values: readonly number[], length: number): Scale {
  const logs = values.map(Math.log10);
  const [least, most] = [Math.min(...logs), Math.max(...logs)];
  const span = most - least || 1;
  return (value) => (0.12 + (0.76 * (Math.log10(value) - least)) / span) * length;
}

function drawPanel({ label, values }: Panel, positions: readonly number[], axis: string, x: Scale): string {
  const [first, last] = [values[0], positions.at(-1)];
  if (first === undefined || last === undefined || values.some((value) => !(value > 0))) {
    throw new Error(`${label}: cannot be drawn: ${values.join(', ')}`);
  }
  const proportion = (first * last) / (positions[0] ?? 1);
  const upwards = scale([...values, proportion], panelHeight);
  const y = (value: number) => panelHeight - upwards(value);
  const at = (position: number, value: number) => `${x(position).toFixed(1)},${y(value).toFixed(1)}`;
  const points = positions.map((position, index) => ({ position, value: values[index] ?? first }));
  const [startX, startY] = at(positions[0] ?? 1, first).split(',');
  const [endX, endY] = at(last, proportion).split(',');
  return [
    `<text y="-12">${escaped(label)}</text>`,
    `<rect class="frame" width="${panelWidth}" height="${panelHeight}"/>`,
    `<line class="proportion" x1="${startX}" y1="${startY}" x2="${endX}" y2="${endY}"/>`,
    `<polyline class="line" points="${points.map(({ position, value }) => at(position, value)).join(' ')}"/>`,
    ...points.flatMap(({ position, value }) => {
      const [left, top] = at(position, value).split(',').map(Number);
      return [
        `<circle class="point" cx="${left}" cy="${top}" r="3.5"/>`,
        `<text x="${left}" y="${((top ?? 0) - 9).toFixed(1)}" text-anchor="middle">${short(value)}</text>`,
        `<text class="quiet" x="${left}" y="${panelHeight + 16}" text-anchor="middle">${short(position)}</text>`,
      ];
    }),
    `<text class="quiet" x="${panelWidth / 2}" y="${panelHeight + 34}" text-anchor="middle">${escaped(axis)}</text>`,
  ].join('\n');
}

function short(value: number): string {
  return value >= 1_000
    ? value.toLocaleString('en-US', { maximumFractionDigits: 0 })
    : String(Number(value.toPrecision(3)));
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
