import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { createWebhookSink } from '../../src/sinks/webhook/index.ts';
import type { Received, SinkWorld } from './world.ts';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, ok').toString('base64')}`;

/** A receiver that checks signatures with a library of others and keeps what it is sent. */
export async function startWebhookWorld(): Promise<
  SinkWorld & {
    url: string;
    secret: string;
    /** Answers everything so; null: as it should. */
    answer(status: number | null): void;
    /** Fails on the document of an address: answers 500, or hangs up. */
    stumble(url: string | null, how?: 'fails' | 'hangs up'): void;
    /** Messages whose signature was wrong. */
    bad(): number;
    /** Times the messages since the last call said they were sent at, in seconds. */
    takeStamps(): number[];
  }
> {
  const kept = new Map<string, { version: number; text: string; keys: Set<string> }>();
  let broken = false;
  let refused: string | null = null;
  let status: number | null = null;
  let stumbling: string | null = null;
  let hangsUp = false;
  let bad = 0;
  let stamps: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const end = (code: number, text = ''): void => void response.writeHead(code).end(text);
    stamps.push(Number(request.headers['webhook-timestamp']));
    if (broken) return request.socket.destroy();
    if (status !== null) return end(status, 'told to');
    try {
      new Webhook(secret).verify(body, request.headers as Record<string, string>);
    } catch {
      bad += 1;
      return end(401, 'bad signature');
    }
    const { data } = JSON.parse(body) as {
      data: { id: string; version: number; url: string; title: string; text: string };
    };
    if (data.url === stumbling) return hangsUp ? void request.socket.destroy() : end(500, 'out of order');
    if (refused !== null && data.title.includes(refused)) return end(422, `no ${refused} here`);
    const before = kept.get(data.id);
    const keys = new Set(before?.keys).add(String(request.headers['idempotency-key']));
    // As a receiver should: an older version that comes late changes nothing.
    if (before === undefined || before.version <= data.version) kept.set(data.id, { ...data, keys });
    end(204);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const make = () => createWebhookSink({ name: 'webhook', url, secret, userAgent: 'test', concurrency: 4 });
  const sinks = [make()];
  return {
    url,
    secret,
    sink: sinks[0]!,
    again: () => {
      const sink = make();
      sinks.push(sink);
      return sink;
    },
    received: async () =>
      new Map<string, Received>(
        // Two keys for one version would be two documents to a receiver.
        [...kept].map(([id, { version, text, keys }]) => [id, { id, text, times: keys.size - version + 1 }]),
      ),
    break: async () => {
      broken = true;
    },
    mend: async () => {
      broken = false;
    },
    refuse: (word) => {
      refused = word;
    },
    answer: (code) => {
      status = code;
    },
    stumble: (at, how = 'fails') => {
      stumbling = at;
      hangsUp = how === 'hangs up';
    },
    bad: () => bad,
    takeStamps: () => {
      const taken = stamps;
      stamps = [];
      return taken;
    },
    close: async () => {
      for (const sink of sinks) await sink.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
