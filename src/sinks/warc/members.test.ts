import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { lastMemberEnd } from './members.ts';

const dir = mkdtempSync(join(tmpdir(), 'outrider-members-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function withFile<T>(bytes: Buffer, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(join(dir, 'file'), 'w+');
  try {
    await handle.write(bytes);
    return await use(handle);
  } finally {
    await handle.close();
  }
}

// A page that came packed lies in its record as it came: bytes that look like members of their own.
const packed = gzipSync(randomBytes(3_000_000));
const contents = ['warcinfo', 'a record', packed, '', randomBytes(1_200_000), 'the last'];
const members = contents.map((content) => gzipSync(content));
const file = Buffer.concat(members);
const starts = members.map((_, n) => Buffer.concat(members.slice(0, n)).length);
const cuts = members.flatMap((member, n) =>
  [1, 9, 10, 15, member.length >> 1, member.length - 8, member.length - 1].map((bytes): [number, number] => [
    starts[n]! + bytes,
    starts[n]!,
  ]),
);

test.each([[0, 0], [file.length, file.length], ...cuts])(
  'of %i bytes that were written, %i are whole',
  (cut, whole) =>
    withFile(file.subarray(0, cut), async (handle) => {
      expect(await lastMemberEnd(handle, cut)).toBe(whole);
    }),
);

test('what is no member of ours ends it', () =>
  withFile(Buffer.concat([members[0]!, randomBytes(500)]), async (handle) => {
    expect(await lastMemberEnd(handle, members[0]!.length + 500)).toBe(members[0]!.length);
  }));
