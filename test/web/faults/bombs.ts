import { once } from 'node:events';
import { constants, createBrotliCompress, createGzip, gzipSync } from 'node:zlib';
import { allPages, type Exchange } from '../exchange.ts';
import type { FaultDefinition } from './fault.ts';
import { closeRecord } from './wire.ts';

const pieceBytes = 1_000_000;

/** Bombs are made once for each size, in pieces, so that making one holds up nobody's request. */
const made = new Map<string, Promise<Buffer>>();

function bombOf(encoding: 'gzip' | 'br', mb: number): Promise<Buffer> {
  const key = `${encoding} ${mb}`;
  let bomb = made.get(key);
  if (bomb === undefined) {
    bomb = makeBomb(encoding, mb);
    made.set(key, bomb);
  }
  return bomb;
}

async function makeBomb(encoding: 'gzip' | 'br', mb: number): Promise<Buffer> {
  const packer =
    encoding === 'gzip'
      ? createGzip({ level: 9 })
      : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  const parts: Buffer[] = [];
  packer.on('data', (part: Buffer) => parts.push(part));
  const piece = Buffer.alloc(pieceBytes, 0x20);
  packer.write('<!DOCTYPE html><title>b</title><p>');
  for (let i = 0; i < mb; i++) if (!packer.write(piece)) await once(packer, 'drain');
  packer.end();
  await once(packer, 'end');
  return Buffer.concat(parts);
}

function sendPacked(exchange: Exchange, encoding: string, body: Buffer): void {
  const { response, log, seq } = exchange;
  if (response.destroyed) return;
  response.writeHead(200, {
    'Content-Type': exchange.kind === 'feed' ? 'application/rss+xml' : 'text/html; charset=utf-8',
    'Content-Encoding': encoding,
    'Content-Length': body.length,
  });
  log.headers(seq, 200);
  response.end(body);
}

function bomb(encoding: 'gzip' | 'br', says: string): FaultDefinition {
  return {
    name: encoding === 'gzip' ? 'gzip-bomb' : 'brotli-bomb',
    says,
    on: allPages,
    options: { mb: 100 },
    expects: () => ({ outcome: 'dead', reason: 'max_retries' }),
    apply: (exchange, options) => {
      let bytes = 0;
      // Before the bomb is made: the client may not wait for it.
      closeRecord(exchange, () => bytes);
      bombOf(encoding, options.number('mb')).then(
        (body) => {
          bytes = body.length;
          sendPacked(exchange, encoding, body);
        },
        (error: unknown) => exchange.response.destroy(error as Error),
      );
      return 'answered';
    },
  };
}

// Enough text for an article, so that what is read at the bottom does not hang on how a single word is judged.
const bottom = ['The shaft', 'The lift', 'The lamp', 'The pump']
  .map(
    (thing) =>
      `<p>${thing} was lowered to the bottom in the spring of last year, and nobody has been able to bring it up since, although the council has paid for three attempts so far.</p>`,
  )
  .join('');

/** Small on the wire, big in memory. */
export const bombFaults: readonly FaultDefinition[] = [
  bomb('gzip', 'A gzip body of about a thousandth of its unpacked size.'),
  bomb('br', 'A brotli body of some dozens of bytes a megabyte.'),
  {
    name: 'stacked-encodings',
    says: 'The page gzipped several times over, and said so.',
    on: allPages,
    options: { layers: 5 },
    expects: (options) =>
      options.number('layers') > 2 ? { outcome: 'dead', reason: 'max_retries' } : { outcome: 'document' },
    apply: (exchange, options) => {
      let { body } = exchange.reply();
      const layers = options.number('layers');
      for (let i = 0; i < layers; i++) body = gzipSync(body, { level: 1 });
      closeRecord(exchange, () => body.length);
      sendPacked(exchange, Array(layers).fill('gzip').join(', '), body);
      return 'answered';
    },
  },
  {
    name: 'bad-gzip',
    says: 'Says gzip and sends the plain page.',
    on: allPages,
    options: {},
    expects: () => ({ outcome: 'dead', reason: 'max_retries' }),
    apply: (exchange) => {
      const { body } = exchange.reply();
      closeRecord(exchange, () => body.length);
      sendPacked(exchange, 'gzip', body);
      return 'answered';
    },
  },
  {
    name: 'deep-html',
    says: 'An article inside a hundred thousand nested elements.',
    on: ['article', 'listing'],
    options: { depth: 100_000 },
    apply: (exchange, options) => {
      const depth = options.number('depth');
      const html = `<!DOCTYPE html><title>deep</title>${'<div>'.repeat(depth)}<h1>deep</h1>${bottom}${'</div>'.repeat(depth)}`;
      exchange.send({ status: 200, type: 'text/html; charset=utf-8', body: Buffer.from(html) });
      return 'answered';
    },
  },
];
