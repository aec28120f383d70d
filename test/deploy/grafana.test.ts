import { expect, test } from 'vitest';
import { metricsOf, unknownMetrics } from '../prometheus/metrics.ts';
import { read } from './files.ts';

type Panel = {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; datasource: { uid: string } }[];
};
const board = JSON.parse(read('deploy/grafana/outrider.json')) as {
  panels: Panel[];
  templating: { list: { name: string; query: unknown }[] };
};

test('every panel asks for metrics that there are, of the source and the roles that are chosen', () => {
  const asking = board.panels.filter((panel) => panel.type !== 'row');
  expect(asking.length).toBeGreaterThan(20);
  for (const { title, targets = [] } of asking) {
    expect(targets.length, title).toBeGreaterThan(0);
    for (const { expr, datasource } of targets) {
      expect(metricsOf(expr).length, title).toBeGreaterThan(0);
      expect(unknownMetrics(expr), title).toEqual([]);
      expect(expr, title).toContain('job=~"$job"');
      expect(datasource.uid, title).toBe(`\${source}`);
    }
  }
  expect(board.templating.list.map((one) => one.name)).toEqual(['source', 'job']);
});

test('panels have ids and places of their own', () => {
  const { panels } = board;
  expect(new Set(panels.map((panel) => panel.id)).size).toBe(panels.length);
  const taken = new Set<string>();
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken.has(`${x},${y}`), title).toBe(false);
        taken.add(`${x},${y}`);
      }
  }
});
