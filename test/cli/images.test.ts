import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodePng, paint } from '../images/encoders.ts';
import { ImageLab } from '../images/lab.ts';
import { CliHost, type Ended } from '../process/outrider.ts';

// Real processes are for the tests that kill them: these ask much and would load the program again each time.
const host = new CliHost();

const size = { width: 320, height: 280 };
const png = encodePng(size, paint(1, size));
const sha256 = createHash('sha256').update(png).digest('hex');
const image = 'http://cdn.test/lead.png';

let lab: ImageLab;
const run = (...args: string[]): Promise<Ended> => host.run(args, { home: lab.dir, env: lab.env });

beforeAll(async () => {
  lab = await ImageLab.open(['paper.test', 'cdn.test', 'other.test']);
  lab.site.serve(image, { type: 'image/png', body: png });
  lab.site.serve('http://cdn.test/small.png', {
    type: 'image/png',
    body: encodePng({ width: 9, height: 9 }, () => [0, 0, 0]),
  });
  lab.site.servePage('http://paper.test/a', 'A story', { images: [image, 'http://cdn.test/small.png'] });
  const source = await lab.source('http://paper.test/', null);
  const { code, stdout } = await run('sources', 'set', 'paper_test', '--images', 'store');
  expect([code, stdout]).toEqual([0, expect.stringContaining('is changed')]);
  await lab.submit('http://paper.test/a', source);
  lab.start();
  await lab.idle();
});
afterAll(() => host.close());
afterAll(() => lab?.close());

test('images lists what articles show, as a table and as JSON', async () => {
  const table = await run('images', '--source', 'paper_test');
  expect(table.stdout).toMatch(/stored +png +320 × 280 +\d+ +[0-9a-f]{12}/);
  expect(table.stdout).toContain('image_too_small');
  const json = await run('images', '--document', 'http://paper.test/a', '--json');
  const listed = JSON.parse(json.stdout) as { url: string; sha256: string | null; pageUrl: string }[];
  expect(listed.map(({ url, sha256: hash, pageUrl }) => [url, hash, pageUrl]).sort()).toEqual([
    [image, sha256, 'http://paper.test/a'],
    ['http://cdn.test/small.png', null, 'http://paper.test/a'],
  ]);
  expect((await run('images', '--document', 'http://paper.test/none')).stdout).toContain('No images yet');
});

test('images get writes the bytes', async () => {
  const file = join(lab.dir, 'out.png');
  expect((await run('images', 'get', sha256, file)).code).toBe(0);
  expect(readFileSync(file).equals(png)).toBe(true);
  const missing = await run('images', 'get', '0'.repeat(64), file);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('is missing')]);
  expect((await run('images', 'get', 'abc', file)).code).toBe(2);
});

test('explain tells of an image', async () => {
  const stored = await run('explain', image);
  expect(stored.stdout).toContain(`It is stored as ${sha256}: PNG, 320 × 280 pixels`);
  expect(stored.stdout).toContain('One page shows it');
  expect((await run('explain', 'http://cdn.test/small.png')).stdout).toContain('too small to be stored');
});

test('a source goes back to what is configured, its setting travels in lists, and nonsense is refused', async () => {
  const exported = await run('export', '--format', 'json');
  expect(exported.stdout).toContain('"images":"store"');
  expect((await run('sources', 'set', 'paper_test', '--images', 'default')).code).toBe(0);
  expect((await run('export', '--format', 'json')).stdout).not.toContain('"images"');
  expect((await run('sources', 'set', 'paper_test', '--images', 'everything')).code).toBe(2);
  expect((await run('sources', 'set', 'paper_test', '--copies', 'hold')).code).toBe(0);
  expect((await run('export', '--format', 'json')).stdout).toContain('"copies":"hold"');
  expect((await run('sources', 'set', 'paper_test', '--copies', 'some')).code).toBe(2);
});
