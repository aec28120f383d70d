import type { Database } from '../db/index.ts';
import { loadScale } from '../frontier/index.ts';
import { type CheckResult, fail, ok, warn } from './check.ts';

/** How leases are taken, and whether the database is made for that. */
export async function checkScale({ pool }: Database): Promise<CheckResult> {
  const { mode, missingIndexes, distributed, tables, nodes } = await loadScale(pool);
  if (missingIndexes.length > 0)
    return fail(
      `The index ${missingIndexes.join(' and ')} is missing: every lease reads all domains.`,
      `Make it anew with: outrider scale ${mode === 'single' ? 'single' : 'buckets'}`,
    );
  if (mode === 'single') return ok('Leases are taken over all domains, in exact order.');
  if (mode === 'buckets') return ok('Leases are taken bucket by bucket.');
  if (distributed < tables)
    return warn(
      `Only ${distributed} of ${tables} hot tables are spread over the cluster.`,
      '"outrider scale citus" spreads the rest.',
    );
  return ok(`Leases are taken bucket by bucket from tables that are spread over ${nodes} servers.`);
}
