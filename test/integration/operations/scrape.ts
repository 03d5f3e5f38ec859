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

/** What a query selects by: `order_saga_waiting{kind=~"stuck|held"}`, its variables left out. */
export interface Selector {
  name: string;
  labels: { name: string; operator: string; value: string }[];
}

/** Every metric that a PromQL expression reads, of those that workers have. */
export function selectorsIn(expression: string): Selector[] {
  return [...expression.matchAll(/\b((?:order_saga|temporal)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', inside = '']) => ({
      name,
      labels: [...inside.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)]
        .map(([, label = '', operator = '', value = '']) => ({ name: label, operator, value }))
        .filter(({ value }) => !value.includes('$')),
    }),
  );
}

export function selects({ name, labels }: Selector, sample: Sample): boolean {
  return (
    sample.name === name &&
    labels.every(({ name: label, operator, value }) => {
      const has = sample.labels[label] ?? '';
      return operator === '='
        ? has === value
        : operator === '!='
          ? has !== value
          : new RegExp(`^(${value})$`).test(has);
    })
  );
}
