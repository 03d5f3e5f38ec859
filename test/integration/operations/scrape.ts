/** What Prometheus reads of a worker: each sample by its name and its labels. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export async function scrape(port: number): Promise<Sample[]> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return samplesIn(await response.text());
}

function samplesIn(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels: labelsIn(labels), value: Number(value) }];
  });
}

function labelsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value] as [string, string]),
  );
}
