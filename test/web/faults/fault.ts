import type { Exchange, RequestKind } from '../exchange.ts';

/** A fault as it is asked for: what, where, when. */
export interface FaultSpec {
  /** A name of the table in `faults/index.ts`. */
  name: string;
  /** Only addresses that begin with this; all when missing. */
  pathPrefix?: string;
  /** Only these kinds of request; the fault's own choice when missing. */
  on?: readonly RequestKind[];
  /** Only this share of addresses, chosen by a hash of the address: the same ones at every request. */
  share?: number;
  /** Begins with the n-th matching request (from 0) and ends before the m-th. */
  fromRequest?: number;
  untilRequest?: number;
  /** Begins and ends at a moment of the web's clock. */
  fromMs?: number;
  untilMs?: number;
  options?: Readonly<Record<string, string | number | boolean>>;
}

/** What a crawler must make of an article that stays under a fault for good. */
export type ExpectedOutcome =
  | { outcome: 'document' }
  | { outcome: 'duplicate'; of: string }
  | { outcome: 'robots_blocked' }
  | { outcome: 'needs_render' }
  | { outcome: 'redirected'; to?: string }
  | { outcome: 'dead'; reason: string };

/** A kind of fault: how it answers, and what a good crawler ends with. */
export interface FaultDefinition {
  name: string;
  /** One sentence for the table in the control API. */
  says: string;
  on: readonly RequestKind[];
  /** Options with their defaults. */
  options: Readonly<Record<string, string | number | boolean>>;
  /** Where an article under it ends, when the fault has no schedule; `document` when retries get through. */
  expects?: (options: FaultOptions, url: string) => ExpectedOutcome;
  /** Links it plants on listings, which lead into it (traps). */
  links?: (options: FaultOptions) => readonly string[];
  /** What it does to the TLS handshake of its hosts, before there is a request. */
  handshake?: 'untrusted' | 'expired' | 'incomplete' | 'wrong-host' | 'refused';
  /** Answers, or changes the exchange and lets it pass. */
  apply(exchange: Exchange, options: FaultOptions, state: FaultState): 'answered' | 'pass';
}

/** Options of a fault, defaults filled in. */
export interface FaultOptions {
  number(name: string): number;
  text(name: string): string;
  flag(name: string): boolean;
}

/** What a fault remembers from one request to the next. */
export interface FaultState {
  /** Requests that matched, this one included. */
  seen: number;
  lastAtMs: number;
  /** How often each address was asked, and whether the last answer was the fault's. */
  addresses: Map<string, { attempt: number; refused: boolean }>;
}

/** A fault in force on a domain. */
export interface ActiveFault {
  id: number;
  spec: FaultSpec;
  definition: FaultDefinition;
  options: FaultOptions;
  state: FaultState;
}

/** Reads options with the definition's defaults. */
export function readOptions(definition: FaultDefinition, spec: FaultSpec): FaultOptions {
  const value = (name: string) => spec.options?.[name] ?? definition.options[name];
  return {
    number: (name) => Number(value(name) ?? 0),
    text: (name) => String(value(name) ?? ''),
    flag: (name) => value(name) === true || value(name) === 'true' || value(name) === 1,
  };
}
