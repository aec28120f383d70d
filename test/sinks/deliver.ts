import { Deliverer, type ResponseSink, type Sink } from '../../src/sinks/index.ts';
import { type Clock, createLog, createMetrics, systemClock } from '../../src/telemetry/index.ts';
import type { TestDatabase } from '../setup/database.ts';

/** A deliverer as the schedule role has it, without its loop. */
export const delivererOf = (
  database: TestDatabase,
  sink: Sink | ResponseSink,
  owner = 'one',
  clock: Clock = systemClock,
): Deliverer =>
  new Deliverer({
    sink,
    database: database.db,
    owner,
    clock,
    log: createLog({ level: 'silent', format: 'json' }),
    metrics: createMetrics(),
  });

/** Delivers until nothing is left to do, and lets go of the sink. */
export async function deliverAll(database: TestDatabase, sink: Sink | ResponseSink): Promise<void> {
  const deliverer = delivererOf(database, sink);
  while ((await deliverer.turn(new AbortController().signal)) === 'busy');
  await deliverer.stop();
}
