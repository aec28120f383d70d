import iconv from 'iconv-lite';
import type { FaultDefinition } from './fault.ts';

/** Bytes that are not what the headers say. */
export const encodingFaults: readonly FaultDefinition[] = [
  {
    name: 'charset-lie',
    says: 'The page in one character set, the header naming another; meta and body keep the first.',
    on: ['article', 'listing'],
    options: { declared: 'utf-8', actual: 'windows-1252' },
    apply: (exchange, options) => {
      const reply = exchange.reply();
      const text = iconv.decode(reply.body, exchange.site.publisher.charset);
      exchange.send({
        status: reply.status,
        type: `text/html; charset=${options.text('declared')}`,
        body: iconv.encode(text, options.text('actual')),
      });
      return 'answered';
    },
  },
  {
    name: 'charset-unknown',
    says: 'A charset label nobody knows.',
    on: ['article', 'listing', 'feed'],
    options: { label: 'x-martian' },
    apply: (exchange, options) => {
      const reply = exchange.reply();
      const type = reply.type.split(';', 1)[0] as string;
      exchange.send({ ...reply, type: `${type}; charset=${options.text('label')}` });
      return 'answered';
    },
  },
  {
    name: 'no-type',
    says: 'No Content-Type at all.',
    on: ['article', 'listing', 'feed', 'sitemap'],
    options: {},
    apply: (exchange) => {
      exchange.send({ ...exchange.reply(), type: '' });
      return 'answered';
    },
  },
  {
    name: 'wrong-type',
    says: 'The right body under a wrong Content-Type.',
    on: ['article'],
    options: { type: 'application/pdf' },
    expects: (options) =>
      options.text('type').startsWith('text/html')
        ? { outcome: 'document' }
        : { outcome: 'dead', reason: 'unsupported_type' },
    apply: (exchange, options) => {
      exchange.send({ ...exchange.reply(), type: options.text('type') });
      return 'answered';
    },
  },
  {
    name: 'nul-bytes',
    says: 'NULs and stray control characters between the words.',
    on: ['article', 'listing', 'feed'],
    options: {},
    apply: (exchange) => {
      const reply = exchange.reply();
      const text = reply.body.toString('latin1').replaceAll('. ', '.\u0000 \u0007');
      exchange.send({ status: reply.status, type: reply.type, body: Buffer.from(text, 'latin1') });
      return 'answered';
    },
  },
];
