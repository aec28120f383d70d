import { bombFaults } from './bombs.ts';
import { brokenFaults } from './broken.ts';
import { channelFaults } from './channels.ts';
import { disguiseFaults } from './disguises.ts';
import { encodingFaults } from './encodings.ts';
import type { ActiveFault, FaultDefinition, FaultSpec } from './fault.ts';
import { readOptions } from './fault.ts';
import { linkFaults } from './links.ts';
import { redirectFaults } from './redirects.ts';
import { robotsFaults } from './robots.ts';
import { slowFaults } from './slow.ts';
import { statusFaults } from './statuses.ts';
import { tlsFaults } from './tls.ts';
import { trapFaults } from './traps.ts';

export { isInShare } from './choose.ts';
export type { ActiveFault, ExpectedOutcome, FaultDefinition, FaultSpec } from './fault.ts';

/** Every fault by name. */
export const faultTable: ReadonlyMap<string, FaultDefinition> = new Map(
  [
    ...statusFaults,
    ...slowFaults,
    ...brokenFaults,
    ...bombFaults,
    ...redirectFaults,
    ...disguiseFaults,
    ...trapFaults,
    ...encodingFaults,
    ...robotsFaults,
    ...channelFaults,
    ...linkFaults,
    ...tlsFaults,
  ].map((definition) => [definition.name, definition]),
);

let nextId = 1;

/** Puts a fault in force; a name that is not in the table is the caller's mistake. */
export function activateFault(spec: FaultSpec): ActiveFault {
  const definition = faultTable.get(spec.name);
  if (definition === undefined)
    throw new Error(`no fault is called "${spec.name}"; known: ${[...faultTable.keys()].join(', ')}`);
  const state = { seen: 0, lastAtMs: Number.NEGATIVE_INFINITY, addresses: new Map() };
  return { id: nextId++, spec, definition, options: readOptions(definition, spec), state };
}
