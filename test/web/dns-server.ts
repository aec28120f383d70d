import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

/** What the name server says to a question; undefined: nothing, for ever. */
export type DnsAnswer =
  | { addresses: readonly string[] }
  | { code: 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' }
  | undefined;

/** A name server on loopback that answers as a test says. */
export interface DnsServer {
  /** `address:port`, as `dns.setServers` takes it. */
  readonly address: string;
  /** Names that were asked for, in order; one question is sent again when no answer comes. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const responseCodes = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 } as const;
const headerBytes = 12;
const typeA = 1;

/** Starts a name server (RFC 1035, A records only, UDP); `answer` gets the name and how often it was asked before. */
export async function startDnsServer(
  answer: (name: string, before: number) => DnsAnswer,
): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  const times = new Map<string, number>();
  socket.on('message', (query, from) => {
    const question = readQuestion(query);
    if (question === null) return;
    const { name, type } = question;
    const before = times.get(name) ?? 0;
    // A question for another type is not another visit: the resolver asks for AAAA when A brought nothing.
    if (type === typeA) {
      times.set(name, before + 1);
      asked.push(name);
    }
    const said = answer(name, type === typeA ? before : Math.max(0, before - 1));
    if (said !== undefined) socket.send(reply(query, question, said), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

type Question = { name: string; type: number; end: number };

function readQuestion(query: Buffer): Question | null {
  if (query.length < headerBytes || query.readUInt16BE(4) !== 1) return null;
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
    if (at >= query.length) return null;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function reply(query: Buffer, { type, end }: Question, said: Exclude<DnsAnswer, undefined>): Buffer {
  const addresses = 'addresses' in said && type === typeA ? said.addresses : [];
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2);
  // Response, recursion wanted and available, and the code.
  header.writeUInt16BE(0x8180 | ('code' in said ? responseCodes[said.code] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const record = Buffer.alloc(16);
    // A pointer to the name in the question, class IN, no time to live: whoever caches it does so by his own rules.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(typeA, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(4, 10);
    for (const [i, part] of address.split('.').entries()) record[12 + i] = Number(part);
    return record;
  });
  return Buffer.concat([header, query.subarray(headerBytes, end), ...records]);
}
