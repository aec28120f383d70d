import { createMetrics } from '../../src/telemetry/index.ts';

// Of Prometheus itself and of the node exporter.
const foreign = new Set(['up', 'node_filesystem_avail_bytes', 'node_filesystem_size_bytes']);
const known = new Set<string>();
for (const metric of createMetrics().registry.getMetricsAsArray()) {
  known.add(metric.name);
  // A histogram is asked for by its parts.
  if ('buckets' in metric) for (const part of ['bucket', 'sum', 'count']) known.add(`${metric.name}_${part}`);
}

/** Metrics that an expression names. */
export const metricsOf = (expr: string): string[] =>
  // Values of labels are no names.
  expr.replace(/"[^"]*"/g, '').match(/\b(outrider|nodejs|process|node)_[a-z0-9_]+|\bup\b/g) ?? [];

/** Those of them that nothing has. */
export const unknownMetrics = (expr: string): string[] =>
  metricsOf(expr).filter((name) => !known.has(name) && !foreign.has(name));
