import { allPages } from '../exchange.ts';
import type { FaultDefinition } from './fault.ts';
import { later, startStream } from './wire.ts';

const pieceBytes = 65_536;

/** Answers that take too long, one way or the other. */
export const slowFaults: readonly FaultDefinition[] = [
  {
    name: 'slow',
    says: 'The whole answer comes delayMs late.',
    on: allPages,
    options: { delayMs: 3_000 },
    apply: (exchange, options) => {
      later(exchange, options.number('delayMs'), () => exchange.send(exchange.reply()));
      return 'answered';
    },
  },
  {
    name: 'stall',
    says: 'The request is taken and never answered.',
    on: allPages,
    options: {},
    expects: () => ({ outcome: 'dead', reason: 'max_retries' }),
    apply: (exchange) => {
      exchange.response.once('close', () => exchange.log.end(exchange.seq, 0, true));
      return 'answered';
    },
  },
  {
    name: 'drip-headers',
    says: 'A status line, then header bytes one at a time and never the end of them.',
    on: allPages,
    options: { everyMs: 200 },
    expects: () => ({ outcome: 'dead', reason: 'max_retries' }),
    apply: (exchange, options) => {
      const { socket } = exchange.response;
      if (socket === null) return 'answered';
      socket.write('HTTP/1.1 200 OK\r\nX-Wait: ');
      const timer = setInterval(() => socket.write('a'), options.number('everyMs'));
      exchange.response.once('close', () => {
        clearInterval(timer);
        exchange.log.end(exchange.seq, 0, true);
      });
      return 'answered';
    },
  },
  {
    name: 'drip',
    says: 'Headers at once, then the page a few bytes at a time, so that an idle time-out never fires.',
    on: allPages,
    options: { bytes: 1, everyMs: 200 },
    expects: () => ({ outcome: 'dead', reason: 'max_retries' }),
    apply: (exchange, options) => {
      const { body, type } = exchange.reply();
      const stream = startStream(exchange, 200, { 'Content-Type': type, 'Content-Length': body.length });
      let at = 0;
      stream.every(options.number('everyMs'), () => {
        const piece = body.subarray(at, at + options.number('bytes'));
        at += piece.length;
        stream.write(piece);
        if (at >= body.length) stream.end();
      });
      return 'answered';
    },
  },
  {
    name: 'endless',
    says: 'A body without end, as fast as the client reads (ends at maxMb, to spare the machine).',
    on: allPages,
    options: { maxMb: 500, type: 'text/html; charset=utf-8' },
    expects: () => ({ outcome: 'dead', reason: 'max_retries' }),
    apply: (exchange, options) => {
      const stream = startStream(exchange, 200, { 'Content-Type': options.text('type') });
      const piece = Buffer.from('<p>and so on and so on</p>\n'.repeat(Math.floor(pieceBytes / 27)));
      let left = (options.number('maxMb') * 1_000_000) / piece.length;
      const pump = () => {
        while (left > 0 && !exchange.response.destroyed) {
          left -= 1;
          if (!stream.write(piece)) return;
        }
        if (!exchange.response.destroyed) stream.end();
      };
      stream.whenDrained(pump);
      pump();
      return 'answered';
    },
  },
];
