import { allPages } from '../exchange.ts';
import type { FaultDefinition } from './fault.ts';
import { sendRaw } from './wire.ts';

const retriesEnd = () => ({ outcome: 'dead', reason: 'max_retries' }) as const;

/** Answers that break the protocol or the connection. */
export const brokenFaults: readonly FaultDefinition[] = [
  {
    name: 'reset',
    says: 'The connection is reset instead of an answer.',
    on: allPages,
    options: {},
    expects: retriesEnd,
    apply: (exchange) => {
      exchange.log.end(exchange.seq, 0, true);
      exchange.response.socket?.resetAndDestroy();
      return 'answered';
    },
  },
  {
    name: 'truncated',
    says: 'The body ends early: fewer bytes than Content-Length says, then the connection is closed.',
    on: allPages,
    options: { share: 0.5 },
    expects: retriesEnd,
    apply: (exchange, options) => {
      const { body, type } = exchange.reply();
      const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
      const part = body.subarray(0, Math.floor(body.length * options.number('share')));
      sendRaw(exchange, 200, Buffer.concat([Buffer.from(head), part]));
      return 'answered';
    },
  },
  {
    name: 'header-flood',
    says: 'More header bytes than any client should take.',
    on: allPages,
    options: { kb: 256 },
    expects: retriesEnd,
    apply: (exchange, options) => {
      const lines = 'X-Flood: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(
        options.number('kb') * 16,
      );
      sendRaw(exchange, 200, Buffer.from(`HTTP/1.1 200 OK\r\n${lines}Content-Length: 0\r\n\r\n`));
      return 'answered';
    },
  },
  {
    name: 'garbage',
    says: 'Bytes that are not HTTP.',
    on: allPages,
    options: {},
    expects: retriesEnd,
    apply: (exchange) => {
      sendRaw(exchange, 0, Buffer.from('\u0000\u0001\u0002 220 mail.test ESMTP ready\r\n', 'latin1'));
      return 'answered';
    },
  },
  {
    name: 'bad-chunks',
    says: 'A chunked body whose chunk size is not a number.',
    on: allPages,
    options: {},
    expects: retriesEnd,
    apply: (exchange) => {
      const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n';
      sendRaw(exchange, 200, Buffer.from(`${head}5\r\n<p>on\r\nzz\r\nbroken\r\n`));
      return 'answered';
    },
  },
  {
    name: 'monster-validators',
    says: 'A healthy answer with an entity tag of many kilobytes and a date that is none.',
    on: ['feed', 'sitemap', 'listing', 'article'],
    options: { kb: 8 },
    apply: (exchange, options) => {
      const reply = { ...exchange.reply() };
      delete reply.lastModifiedMs;
      reply.etag = `"${'m'.repeat(options.number('kb') * 1024)}"`;
      reply.headers = { ...reply.headers, 'Last-Modified': 'the day before yesterday' };
      exchange.replace(reply);
      return 'pass';
    },
  },
];
