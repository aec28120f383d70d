import type { Exchange } from '../exchange.ts';
import { itemIdIn } from '../paths.ts';
import { shareOf } from '../random.ts';
import type { ActiveFault } from './fault.ts';

/** Lets the domain's faults have the request, in the order they were set; the first that answers ends it. */
export function chooseFault(exchange: Exchange): 'answered' | 'pass' {
  for (const fault of exchange.site.faults) {
    if (!concerns(fault, exchange)) continue;
    fault.state.seen += 1;
    if (!inSchedule(fault, exchange.nowMs)) continue;
    if (fault.definition.apply(exchange, fault.options, fault.state) === 'answered') return 'answered';
  }
  return 'pass';
}

function concerns(fault: ActiveFault, exchange: Exchange): boolean {
  const { spec, definition } = fault;
  if (!(spec.on ?? definition.on).includes(exchange.kind)) return false;
  if (spec.pathPrefix !== undefined && !exchange.path.startsWith(spec.pathPrefix)) return false;
  return isInShare(fault, exchange.path, exchange.query);
}

/** Whether an address belongs to the share of addresses a fault takes; parameters that do not name the page are left out. */
export function isInShare(fault: ActiveFault, path: string, query: string): boolean {
  const { share } = fault.spec;
  if (share === undefined) return true;
  return shareOf('share', path, itemIdIn(path, query) ?? 0) < share;
}

function inSchedule(fault: ActiveFault, nowMs: number): boolean {
  const { fromRequest = 0, untilRequest, fromMs, untilMs } = fault.spec;
  // `seen` counts this request, the schedule counts from 0.
  const nth = fault.state.seen - 1;
  if (nth < fromRequest || (untilRequest !== undefined && nth >= untilRequest)) return false;
  return (fromMs === undefined || nowMs >= fromMs) && (untilMs === undefined || nowMs < untilMs);
}
