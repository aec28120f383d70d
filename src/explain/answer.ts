import type { Queryable } from '../db/index.ts';
import { unknownDomain } from '../domains/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import { identifyKnown } from '../frontier/index.ts';
import { canonicalDomain, channelHash } from '../url/index.ts';
import { describeChannel } from './describe-channel.ts';
import { describeDomain } from './describe-domain.ts';
import { describeUrl } from './describe-url.ts';
import { loadChannelFacts } from './load-channel.ts';
import { loadDomainFacts } from './load-domain.ts';
import { loadUrlFacts, type UrlFacts } from './load-url.ts';

/** What somebody asks about: exactly one of them. */
export type Subject = { url: string } | { domain: string } | { channel: string };

/** What the one who answers has to know of the configuration. */
export type ExplainOptions = { defaultDelayMs: number; productToken: string; defaultBudget: number };

/** A colleague's answer, and what it was made from. */
export type Answer = {
  subject: 'url' | 'domain' | 'channel';
  /** The address or name it is known by. */
  name: string;
  state: string;
  sentences: string[];
  expectedAt: Date | null;
  /** Commands that would change something. */
  advice: string[];
  facts: object;
};

/** What a text on the command line means: a channel's number, a domain, or an address. */
export function parseSubject(text: string): Subject {
  if (/^\d{1,9}$/.test(text)) return { channel: text };
  // Neither a scheme nor a path: example.com, example.com:8080, [::1].
  return !text.includes('/') && canonicalDomain(text) !== null ? { domain: text } : { url: text };
}

/** Says where something stands, why it has not been fetched yet, and when it is expected. */
export async function explain(db: Queryable, subject: Subject, options: ExplainOptions): Promise<Answer[]> {
  if ('url' in subject) return explainUrl(db, subject.url, options);
  return [
    'domain' in subject
      ? await explainDomain(db, subject.domain, options)
      : await explainChannel(db, subject.channel, options),
  ];
}

async function explainUrl(db: Queryable, url: string, options: ExplainOptions): Promise<Answer[]> {
  const identified = await identifyKnown(db, url);
  if (identified.outcome === 'rejected')
    throw new AppError('url_invalid', `"${url}" could never be fetched (${identified.reason})`, {
      exitCode: EXIT.usage,
      httpStatus: 400,
      advice: 'Give a web address with its scheme, as https://example.com/article',
    });
  const { identity } = identified;
  const page = await loadUrlFacts(db, identity, options);
  // A feed's address may be a page too: both rows are told.
  const channel = await loadUrlFacts(db, identity, { ...options, hash: channelHash(identity.fetchUrl) });
  const known = [page, channel].filter((facts) => facts.row !== null);
  return (known.length > 0 ? known : [page]).map((facts) => ({
    subject: 'url',
    name: facts.url,
    ...describeUrl(facts),
    advice: urlAdvice(facts),
    facts: {
      ...facts,
      row:
        facts.row === null
          ? null
          : { ...facts.row, duplicateOf: facts.row.duplicateOf?.toString('hex') ?? null },
    },
  }));
}

// Asked again these would end the same way, or need something else done before.
const notAgain = new Set(['robots_blocked', 'refused_address', 'refused_port', 'bad_url', 'source_deleted']);

function urlAdvice({ url, row }: UrlFacts): string[] {
  if (row === null) return [`outrider submit ${quoted(url)}`];
  const isGivenUp = row.status === 'dead' && (row.kind === 'article' || row.kind === 'listing');
  return isGivenUp && !notAgain.has(row.errorCode ?? '') ? [`outrider urls retry ${quoted(url)}`] : [];
}

// What is shown is copied into a shell, which takes an & or a ; for its own.
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

async function explainDomain(db: Queryable, name: string, options: ExplainOptions): Promise<Answer> {
  const facts = await loadDomainFacts(db, name, options);
  if (facts === null) throw unknownDomain(name);
  const { bucket: _bucket, domainKey, ...domain } = facts.domain;
  return {
    subject: 'domain',
    name: domain.name,
    ...describeDomain(facts),
    facts: {
      ...facts,
      domain: { key: BigInt.asUintN(64, domainKey).toString(16).padStart(16, '0'), ...domain },
    },
  };
}

async function explainChannel(db: Queryable, name: string, options: ExplainOptions): Promise<Answer> {
  const facts = await loadChannelFacts(db, name, options);
  if (facts === null)
    throw new AppError('channel_unknown', `no channel has the number or the address "${name}"`, {
      exitCode: EXIT.usage,
      httpStatus: 404,
      advice: '"outrider channels" lists them.',
    });
  const { hash: _hash, rhythm: _rhythm, polls, notModified, itemsSeen, itemsNew, ...channel } = facts.channel;
  const { row, ...poll } = facts.poll;
  return {
    subject: 'channel',
    name: channel.url,
    ...describeChannel(facts),
    facts: {
      channel: {
        ...channel,
        polls: Number(polls),
        notModified: Number(notModified),
        itemsSeen: Number(itemsSeen),
        itemsNew: Number(itemsNew),
      },
      source: facts.source,
      push: facts.push,
      poll: { ...poll, row: row === null ? null : { ...row, duplicateOf: null } },
    },
  };
}
