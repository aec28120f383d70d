import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { Lab, plain } from '../fetch/lab.ts';
import type { FaultSpec } from '../web/index.ts';

// What a feed lists is not all for us: files, shops for apps, and what its source leaves out.
const item = (link: string): string => `<item><title>${link}</title><link>${link}</link></item>`;
const lists = (...links: string[]): FaultSpec => ({
  name: 'fixed',
  on: ['feed'],
  options: {
    status: 200,
    type: 'application/rss+xml',
    text: `<rss version="2.0"><channel>${links.map(item).join('')}</channel></rss>`,
  },
});

let lab: Lab;

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      plain('wide', [
        lists(
          '/2024/06/05/the-harbour-is-open',
          '/2024/06/05/introducing-node.js',
          '/sport/2024/06/05/they-have-won',
          '/2024/06/05/report.pdf',
          'https://play.google.com/store/apps/details?id=wide',
        ),
      ]),
    ],
  });
  const { source } = await createSource(lab.database.pool, {
    url: 'http://wide.test/',
    mode: 'feed',
    settings: { exclude: ['/sport/'] },
  });
  await createChannel(lab.database.pool, {
    sourceId: source.id,
    kind: 'feed',
    url: 'http://wide.test/feed',
    intervalSeconds: 900,
    foundBy: 'manual',
  });
  lab.start();
  await lab.idle();
});
afterAll(() => lab?.close());

test('files, foreign shops and what the source leaves out never become rows', async () => {
  const rows = await lab.database.pool.query<{ url: string }>(
    `SELECT url FROM url_frontier WHERE kind = 'article' ORDER BY url`,
  );
  expect(rows.rows.map(({ url }) => url)).toEqual([
    'http://wide.test/2024/06/05/introducing-node.js',
    'http://wide.test/2024/06/05/the-harbour-is-open',
  ]);
});

test('they are seen and not new', async () => {
  const state = await lab.database.pool.query(
    'SELECT items_seen::integer AS seen, items_new::integer AS fresh FROM channel_state',
  );
  expect(state.rows).toEqual([{ seen: 5, fresh: 2 }]);
});
