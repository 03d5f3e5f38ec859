/**
 * The dashboard by the rules of Grafana's linter that can be said in a few lines. That its queries are right, a real
 * Prometheus says: test/integration/operations/metrics.test.ts.
 */
import { readDocument } from '../../docs/tables';

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  datasource?: { uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { datasource?: { uid: string }; expr: string }[];
  fieldConfig?: { defaults: { unit?: string } };
}
const dashboard = JSON.parse(readDocument('deploy/grafana/dashboards/order-saga.json')) as {
  editable: boolean;
  templating: { list: { name: string; type: string; query: unknown; refresh?: number }[] };
  panels: Panel[];
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');

it('is edited in its file, and takes any Prometheus', () => {
  expect(dashboard.editable).toBe(false);
  const [source, ...others] = dashboard.templating.list;
  expect(source).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
  // As the time range changes: what began since is to be chosen, too.
  for (const variable of others) expect(variable.refresh).toBe(2);
});

it.each(panels.map((panel) => [panel.title, panel] as const))('%s says what it shows, in which unit', (_, panel) => {
  expect(panel.description).toMatch(/\S/);
  if (panel.type !== 'table') expect(panel.fieldConfig?.defaults.unit).toMatch(/\S/);
  expect(panel.targets).not.toEqual([]);
  for (const { datasource, expr } of panel.targets ?? []) {
    expect(datasource?.uid).toBe('${datasource}');
    // A window of its own would be wrong for another scrape interval; that of an objective is the objective's.
    if (/rate\(|increase\(/.test(expr)) expect(expr).toContain('[$__rate_interval]');
  }
});

it('has each panel in its own place', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const taken = new Map<string, string>();
  for (const { title, gridPos } of dashboard.panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect([title, taken.get(`${x},${y}`)]).toEqual([title, undefined]);
        taken.set(`${x},${y}`, title);
      }
    }
  }
});
