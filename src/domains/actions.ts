import type { Queryable } from '../db/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import { releaseDomain, saveHostRules } from '../frontier/index.ts';
import { saveAudit } from '../switches/index.ts';
import { type HostRules, parseHostRules } from '../url/index.ts';
import { type DomainDetails, type DomainName, loadDomain } from './load.ts';
import { configureDomain, type DomainChoice } from './operate.ts';

/** What is said when a domain is not known, or is none. */
export function unknownDomain(name: string): AppError {
  return new AppError('domain_unknown', `no domain "${name}" is known`, {
    exitCode: EXIT.usage,
    httpStatus: 404,
    advice:
      'Check the spelling; "outrider domain status" lists domains, and "outrider domain seed FILE --dataset NAME" or "outrider add" brings new ones.',
  });
}

/** The domain of this name, in any spelling, or the error that says so. */
export async function requireDomain(
  db: Queryable,
  name: DomainName,
  defaultDelayMs: number,
): Promise<DomainDetails> {
  const known = await loadDomain(db, name, defaultDelayMs);
  if (known === null) throw unknownDomain(typeof name === 'string' ? name : 'of this key');
  return known;
}

/** Takes a domain from its worker and writes down who did it; answers who lost it, null: nobody had it. */
export async function takeDomain(db: Queryable, known: DomainDetails, actor: string): Promise<string | null> {
  const owner = await releaseDomain(db, known);
  if (owner !== null)
    await saveAudit(db, { actor, action: 'release', subject: known.name, detail: { owner } });
  return owner;
}

/** A change of host rules: what is left out stays, null takes it back. */
export type RulesChange = { [Name in keyof HostRules]?: HostRules[Name] | null };

/** What an operator may change of a domain; null takes all its rules away. */
export type DomainChange = Partial<DomainChoice> & { rules?: RulesChange | null };

function changeRules(rules: HostRules, change: RulesChange): HostRules {
  const said = Object.entries({ ...rules, ...change }).filter(([, value]) => value != null);
  return Object.fromEntries(said);
}

/** Changes what an operator decides of a domain and writes it down; what is left out stays. */
export async function changeDomain(
  db: Queryable,
  known: DomainDetails,
  { rules: given, ...change }: DomainChange,
  by: { actor: string; defaultBudget: number },
): Promise<DomainChoice & { rules: HostRules }> {
  const rules =
    given === undefined ? known.rules : parseHostRules(given === null ? {} : changeRules(known.rules, given));
  const choice: DomainChoice = {
    delayMs: known.delay.configuredMs,
    budget: known.budget.max,
    pool: known.pool === 'default' ? null : known.pool,
    ...change,
  };
  // What fetchers go by, and not the configuration of whoever changes it, which may be another machine's or shell's.
  const inForce = known.budget.configured ?? by.defaultBudget;
  if (Object.keys(change).length > 0) await configureDomain(db, known, choice, inForce);
  if (given !== undefined) await saveHostRules(db, known, rules);
  await saveAudit(db, {
    actor: by.actor,
    action: 'domain_set',
    subject: known.name,
    detail: { ...choice, rules },
  });
  return { ...choice, rules };
}
