import type { Exchange, RequestKind } from '../exchange.ts';
import type { FaultDefinition } from './fault.ts';

const on: readonly RequestKind[] = ['robots'];

function sendText(exchange: Exchange, body: string | Buffer, type = 'text/plain'): 'answered' {
  exchange.send({ status: 200, type, body: Buffer.from(body as string) });
  return 'answered';
}

/** robots.txt in its broken forms; a status, slowness or a stall of robots.txt is any other fault with `on: robots`. */
export const robotsFaults: readonly FaultDefinition[] = [
  {
    name: 'robots-deny-all',
    says: 'Everything is disallowed.',
    on,
    options: {},
    apply: (exchange) => sendText(exchange, 'User-agent: *\nDisallow: /\n'),
  },
  {
    name: 'robots-html',
    says: 'A page of HTML with status 200: no rules.',
    on,
    options: {},
    apply: (exchange) =>
      sendText(exchange, '<!DOCTYPE html><title>Hello</title><p>Disallow: /</p>', 'text/html'),
  },
  {
    name: 'robots-binary',
    says: 'Bytes that are no text: no rules.',
    on,
    options: {},
    apply: (exchange) => sendText(exchange, Buffer.alloc(4_096, 0x9c), 'application/octet-stream'),
  },
  {
    name: 'robots-mess',
    says: 'The publisher’s rules between a byte order mark, old line ends, unknown words and a line without end.',
    on,
    options: {},
    apply: (exchange) => {
      const rules = exchange.reply().body.toString().replaceAll('\n', '\r');
      const noise = `\ufeffsite: news\rDisallow /no-colon\r: no name\rUser agent *\r\u0000\r#${'x'.repeat(100_000)}\r`;
      return sendText(
        exchange,
        noise + rules.replaceAll('User-agent', 'USER-AGENT').replaceAll('Disallow', ' disallow '),
      );
    },
  },
  {
    name: 'robots-huge',
    says: 'The publisher’s rules, then comments far beyond 500 KiB, then a rule against everything.',
    on,
    options: { kb: 2_000 },
    apply: (exchange, options) => {
      const filler = '# nothing to see on this line of the file, go on please\n'.repeat(
        options.number('kb') * 18,
      );
      return sendText(exchange, `${exchange.reply().body.toString()}${filler}User-agent: *\nDisallow: /\n`);
    },
  },
  {
    name: 'robots-redirect',
    says: 'The rules after a number of redirects.',
    on: ['robots', 'other'],
    options: { hops: 5 },
    apply: (exchange, options) => {
      const hop =
        exchange.kind === 'robots' ? 0 : Number(/^\/robots-hop\/(\d+)$/.exec(exchange.path)?.[1] ?? -1);
      if (hop < 0) return 'pass';
      if (hop >= options.number('hops')) {
        exchange.send(exchange.replyFor('/robots.txt', ''));
        return 'answered';
      }
      const location = `http://${exchange.host}/robots-hop/${hop + 1}`;
      exchange.send({ status: 302, type: 'text/plain', body: Buffer.alloc(0), location });
      return 'answered';
    },
  },
  {
    name: 'robots-crawl-delay',
    says: 'The publisher’s rules with another Crawl-delay.',
    on,
    options: { seconds: 3_600 },
    apply: (exchange, options) =>
      sendText(
        exchange,
        `User-agent: *\nCrawl-delay: ${options.text('seconds')}\n${exchange.reply().body.toString()}`,
      ),
  },
];
