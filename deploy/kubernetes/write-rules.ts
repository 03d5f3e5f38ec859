/**
 * The rules of deploy/prometheus as the Prometheus operator reads them.
 *
 *   npm run rules    writes monitoring/rules.yaml; a test compares it with the rules
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

export const rulesFile = join(__dirname, 'monitoring', 'rules.yaml');

export function operatorRules(): string {
  const groups = ['alerts', 'slos'].flatMap((name) => {
    const text = readFileSync(join(__dirname, '..', 'prometheus', `${name}.yaml`), 'utf8');
    return (parse(text) as { groups: unknown[] }).groups;
  });
  const resource = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'order-saga' },
    spec: { groups },
  };
  const text = stringify(resource, { lineWidth: 0, aliasDuplicateObjects: false });
  return `# Written by npm run rules, from deploy/prometheus.\n${text}`;
}

if (require.main === module) writeFileSync(rulesFile, operatorRules());
