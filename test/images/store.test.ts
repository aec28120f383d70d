import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeDocuments } from '../../src/documents/index.ts';
import { pageImages, sweepImages } from '../../src/images/index.ts';
import { type Source, updateSource } from '../../src/sources/index.ts';
import { identifyUrl } from '../../src/url/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { encodeGif, encodePng, encodeWebp, makeAvif, paint, pngHeader } from './encoders.ts';
import { encodeJpeg } from './jpeg-encoder.ts';
import { ImageLab } from './lab.ts';

const size = { width: 320, height: 260 };
const jpeg = encodeJpeg(size, paint(1, size));
const png = encodePng(size, paint(2, size));
const gif = encodeGif(size, paint(3, size));
const webp = encodeWebp(size, paint(6, size));
const avif = makeAvif(size);
const moved = encodePng(size, paint(4, size));
const led = encodePng(size, paint(5, size));
const sha256 = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

const paper = 'http://paper.test';
const cdn = 'http://img.cdn.test';
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="900"><script>alert(1)</script></svg>';

let lab: ImageLab;
let source: Source;

beforeAll(async () => {
  lab = await ImageLab.open(['paper.test', 'img.cdn.test', 'other.cdn.test', 'plain.test', 'quiet.test']);
  const { site } = lab;
  site.serve(`${cdn}/robots.txt`, { type: 'text/plain', body: 'User-agent: *\nDisallow: /private/\n' });
  site.serve(`${cdn}/lead.jpg`, { type: 'image/jpeg', body: jpeg });
  site.serve(`${cdn}/same-bytes.jpg`, { type: 'image/jpeg', body: jpeg });
  site.serve(`${cdn}/wide.png`, { type: 'image/png', body: png });
  site.serve(`${paper}/pictures/moving.gif`, { type: 'image/gif', body: gif });
  site.serve(`${cdn}/modern.webp`, { type: 'image/webp', body: webp });
  site.serve(`${cdn}/modern.avif`, { type: 'image/avif', body: avif });
  site.serve(`${cdn}/unnamed`, { type: 'application/octet-stream', body: png });
  site.serve(`${cdn}/tiny.png`, {
    type: 'image/png',
    body: encodePng({ width: 1, height: 1 }, () => [0, 0, 0]),
  });
  site.serve(`${cdn}/drawing`, { type: 'image/svg+xml', body: svg });
  site.serve(`${cdn}/disguised-drawing.png`, { type: 'image/png', body: svg });
  site.serve(`${cdn}/page.jpg`, { type: 'text/html', body: '<html><body>Buy our paper</body></html>' });
  site.serve(`${cdn}/disguised-page.jpg`, {
    type: 'image/jpeg',
    body: '<html><body>Buy our paper</body></html>',
  });
  site.serve(`${cdn}/half.jpg`, { type: 'image/jpeg', body: jpeg.subarray(0, jpeg.length >> 1) });
  site.serve(`${cdn}/bomb.png`, { type: 'image/png', body: pngHeader({ width: 60_000, height: 60_000 }) });
  site.serve(`${cdn}/huge.jpg`, {
    type: 'image/jpeg',
    body: Buffer.concat([jpeg, Buffer.alloc(50_000_000)]),
  });
  site.serve(`${cdn}/slow.jpg`, (response) => {
    response.writeHead(200, { 'content-type': 'image/jpeg' });
    const drip = setInterval(() => response.write('x'), 50);
    response.on('close', () => clearInterval(drip));
  });
  site.serve(`${cdn}/private/secret.jpg`, { type: 'image/jpeg', body: jpeg });
  site.serve(`${cdn}/old-name.png`, { status: 301, headers: { location: '/new-name.png' } });
  site.serve(`${cdn}/new-name.png`, { type: 'image/png', body: moved });
  site.serve(`${cdn}/elsewhere.png`, {
    status: 302,
    headers: { location: 'http://other.cdn.test/here.png' },
  });
  site.serve('http://other.cdn.test/here.png', { type: 'image/png', body: led });

  site.servePage(`${paper}/a`, 'The first story', {
    head: `<meta property="og:image" content="${cdn}/lead.jpg">
      <script type="application/ld+json">{"@type":"NewsArticle","headline":"The first story","image":{"url":"${paper}/pictures/moving.gif"}}</script>`,
    images: [
      `<img src="${cdn}/narrow.png" srcset="${cdn}/narrow.png 300w, ${cdn}/wide.png 1200w">`,
      ...[
        'same-bytes.jpg',
        'modern.webp',
        'modern.avif',
        'unnamed',
        'tiny.png',
        'drawing',
        'disguised-drawing.png',
      ]
        .concat('page.jpg', 'disguised-page.jpg', 'half.jpg', 'bomb.png', 'huge.jpg', 'slow.jpg', 'gone.jpg')
        .concat('private/secret.jpg', 'old-name.png', 'elsewhere.png')
        .map((name) => `${cdn}/${name}`),
      `<img src="${cdn}/said-small.png" width="120" height="90">`,
    ],
  });
  source = await lab.source(`${paper}/`, 'store');
  await lab.submit(`${paper}/a`, source);
  lab.start();
  await lab.idle();
}, 120_000);
afterAll(() => lab?.close());

describe('the images of an article', () => {
  it('are stored as they were served, each content once', async () => {
    const expected = [jpeg, png, gif, webp, avif, moved, led];
    const stored = await lab.stored();
    expect(stored.map((image) => image.sha256).sort()).toEqual(expected.map(sha256).sort());
    for (const body of expected) {
      const found = await lab.blobs.get(createHash('sha256').update(body).digest());
      expect(found.outcome === 'found' && found.body.equals(body)).toBe(true);
    }
  });

  it('come with what they are, and a likeness where they can be decoded', async () => {
    const stored = new Map((await lab.stored()).map((image) => [image.sha256, image]));
    for (const [format, body] of Object.entries({ jpeg, png, gif, webp, avif })) {
      const { hash, ...image } = stored.get(sha256(body))!;
      expect(image).toMatchObject({ ...size, format, bytes: body.length, storedIn: 'folder', pages: 1 });
      expect(hash !== null, format).toBe(format !== 'avif');
    }
  });

  it.each([
    ['lead.jpg', 'fetched'],
    ['same-bytes.jpg', 'fetched'],
    ['wide.png', 'fetched'],
    ['narrow.png', null],
    ['said-small.png', null],
    ['unnamed', 'fetched'],
    ['tiny.png', 'dead image_too_small'],
    ['drawing', 'dead unsupported_type'],
    ['disguised-drawing.png', 'dead svg'],
    ['page.jpg', 'dead unsupported_type'],
    ['disguised-page.jpg', 'dead not_an_image'],
    ['half.jpg', 'dead image_truncated'],
    ['bomb.png', 'dead image_too_many_pixels'],
    ['huge.jpg', 'dead image_too_large'],
    ['slow.jpg', 'failed timeout'],
    ['gone.jpg', 'dead not_found'],
    ['private/secret.jpg', 'dead robots_blocked'],
    ['old-name.png', 'redirected'],
    ['new-name.png', 'fetched'],
    ['elsewhere.png', 'redirected'],
  ])('%s ends as %s', async (name, state) => {
    expect(await lab.state(`${cdn}/${name}`)).toBe(state);
    if (name.startsWith('private')) expect(lab.site.count(`${cdn}/${name}`)).toBe(0);
  });

  it('are linked with their page, also through redirects and under two addresses', async () => {
    const page = identifyUrl(`${paper}/a`);
    if (page.outcome === 'rejected') throw new Error(page.reason);
    const { rows: listed } = await pageImages(lab.database.pool, { page: page.identity, limit: 100 });
    const byUrl = new Map(listed.map((image) => [image.url, image]));
    expect(byUrl.get(`${cdn}/lead.jpg`)?.sha256).toBe(sha256(jpeg));
    expect(byUrl.get(`${cdn}/same-bytes.jpg`)?.sha256).toBe(sha256(jpeg));
    expect(byUrl.get(`${cdn}/old-name.png`)?.sha256).toBe(sha256(moved));
    expect(byUrl.get('http://other.cdn.test/here.png')?.sha256).toBe(sha256(led));
    expect(byUrl.get(`${cdn}/gone.jpg`)).toMatchObject({
      sha256: null,
      status: 'dead',
      errorCode: 'not_found',
    });
    expect(listed.every((image) => image.pageUrl === `${paper}/a` && image.sourceId === source.id)).toBe(
      true,
    );
  });

  it('are asked for as images, after the page, and counted by their domain', async () => {
    const asked = lab.site.requests.find((request) => request.url === `${cdn}/lead.jpg`);
    expect(asked?.accept).toMatch(/^image\/jpeg/);
    const levels = await lab.database.pool.query(
      `SELECT DISTINCT level, priority FROM url_frontier WHERE kind = 'image'`,
    );
    expect(levels.rows).toEqual([{ level: 1, priority: 1 }]);
    const domains = await lab.database.pool.query<{ name: string; found: number; stored: number }>(
      `SELECT name, images_found::integer AS found, images_stored::integer AS stored FROM domains ORDER BY name`,
    );
    const of = new Map(domains.rows.map((row) => [row.name, row]));
    expect(of.get('paper.test')).toMatchObject({ found: 21, stored: 1 });
    expect(of.get('img.cdn.test')).toMatchObject({ found: 0, stored: 7 });
  });
});

describe('later', () => {
  it('a page that shows known images is linked with them, and nothing is fetched again', async () => {
    const before = lab.site.requests.length;
    const images = ['lead.jpg', 'old-name.png', 'elsewhere.png'].map((name) => `${cdn}/${name}`);
    lab.site.servePage(`${paper}/b`, 'Another story', { images });
    await lab.submit(`${paper}/b`, source);
    await lab.idle();
    const pages = new Map((await lab.stored()).map((image) => [image.sha256, image.pages]));
    for (const body of [jpeg, moved, led]) expect(pages.get(sha256(body))).toBe(2);
    expect(lab.site.requests.slice(before).map((request) => request.url)).toEqual([`${paper}/b`]);
  });

  it('sources that only refer to images, or ignore them, fetch none', async () => {
    const plain = await lab.source('http://plain.test/', null);
    const quiet = await lab.source('http://quiet.test/', 'off');
    for (const [host, owner] of [
      ['http://plain.test', plain],
      ['http://quiet.test', quiet],
    ] as const) {
      lab.site.servePage(`${host}/story`, `A story of ${host}`, { images: [`${host}/own.jpg`] });
      lab.site.serve(`${host}/own.jpg`, { type: 'image/jpeg', body: jpeg });
      await lab.submit(`${host}/story`, owner);
    }
    await lab.idle();
    const documents = await lab.database.pool.query<{ url: string; images: number }>(
      `SELECT url, jsonb_array_length(meta -> 'images') AS images FROM documents WHERE url LIKE '%/story' ORDER BY url`,
    );
    expect(documents.rows).toEqual([
      { url: 'http://plain.test/story', images: 1 },
      { url: 'http://quiet.test/story', images: 0 },
    ]);
    expect(await lab.state('http://plain.test/own.jpg')).toBe(null);
    expect(lab.site.count('http://plain.test/own.jpg') + lab.site.count('http://quiet.test/own.jpg')).toBe(0);
  });

  it('images that wait when storing is switched off are given up, and wanted again when it is on', async () => {
    await updateSource(lab.database.pool, source.slug, { images: 'reference' }, 'test');
    await lab.renew();
    const image = `${cdn}/late.png`;
    lab.site.serve(image, { type: 'image/png', body: encodePng(size, paint(9, size)) });
    // As it was submitted while storing was on, and is leased only now.
    await lab.submitImage(image, source, `${paper}/b`);
    await lab.idle();
    expect(await lab.state(image)).toBe('dead images_off');
    expect(lab.site.count(image)).toBe(0);
    await updateSource(lab.database.pool, source.slug, { images: 'store' }, 'test');
    await lab.renew();
    await lab.submitImage(image, source, `${paper}/b`);
    await lab.idle();
    expect(await lab.state(image)).toBe('fetched');
  });

  it('images of deleted documents are swept with their bytes, and fetched anew for the next page', async () => {
    const { db, pool } = lab.database;
    expect(await sweepImages(db, lab.blobs, { graceDays: 0 })).toEqual({ swept: 0, failed: null });
    await removeDocuments(db, source.id);
    const left = await pool.query('SELECT FROM image_sightings WHERE source_id = $1', [source.id]);
    expect(left.rowCount).toBe(0);
    // The grace is not over.
    expect(await sweepImages(db, lab.blobs, { graceDays: 1 })).toEqual({ swept: 0, failed: null });
    await pool.query(`UPDATE images SET idle_since = idle_since - interval '8 days'`);
    const scheduler = lab.start({}, 'schedule');
    await waitUntil('the scheduler has swept them', async () => {
      const images = await pool.query('SELECT FROM images');
      return images.rowCount === 0 || `${images.rowCount} left: ${scheduler.stderr}`;
    });
    await scheduler.stop();
    const hash = createHash('sha256').update(jpeg).digest();
    expect(await lab.blobs.has(hash)).toEqual({ outcome: 'missing' });

    lab.site.servePage(`${paper}/c`, 'A story with an old picture', { images: [`${cdn}/lead.jpg`] });
    await lab.submit(`${paper}/c`, source);
    await lab.idle();
    expect(lab.site.count(`${cdn}/lead.jpg`)).toBe(2);
    expect(await lab.stored()).toMatchObject([{ sha256: sha256(jpeg), pages: 1 }]);
    expect(await lab.blobs.has(hash)).toEqual({ outcome: 'found' });
  });
});
