import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** How the receiver answers. */
export type Mood = 'well' | 'slow' | 'busy' | 'broken' | 'partly';

/** Whoever the documents are delivered to: takes them, remembers them, and has moods. */
export type Receiver = {
  url: string;
  secret: string;
  mood: Mood;
  /** What was taken: id and version to the hashes of what came under them. */
  readonly taken: ReadonlyMap<string, ReadonlySet<string>>;
  readonly forged: number;
  close(): Promise<void>;
};

const secret = `whsec_${Buffer.from('the secret of a tortured receiver').toString('base64')}`;
const slowMs = 1500;

export async function startReceiver(): Promise<Receiver> {
  const taken = new Map<string, Set<string>>();
  const hook = new Webhook(secret);
  let mood: Mood = 'well';
  let forged = 0;
  let asked = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      // Cut off in the middle: nothing was taken.
      return;
    }
    const body = Buffer.concat(chunks).toString('utf8');
    const end = (status: number, headers = {}): void => void response.writeHead(status, headers).end();
    asked += 1;
    if (mood === 'busy') return end(429, { 'retry-after': '1' });
    if (mood === 'broken') return end(503);
    if (mood === 'partly' && asked % 3 === 0) return end(500);
    if (mood === 'slow') await new Promise((resolve) => setTimeout(resolve, slowMs));
    try {
      hook.verify(body, request.headers as Record<string, string>);
    } catch {
      forged += 1;
      return end(401);
    }
    const { data } = JSON.parse(body) as { data: { id: string; version: number; text: string } };
    const key = `${data.id} ${data.version}`;
    const known = taken.get(key) ?? new Set();
    taken.set(key, known.add(createHash('sha256').update(data.text).digest('base64')));
    end(204);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    secret,
    taken,
    get mood() {
      return mood;
    },
    set mood(next) {
      mood = next;
    },
    get forged() {
      return forged;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
