import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveHostRules } from '../../src/frontier/index.ts';
import { domainIdentity } from '../../src/url/index.ts';
import { Lab, plain } from './lab.ts';

// Rules that came after a row: no scheduler runs here, so the row is fetched under the key it has.
let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      plain('choosy', [{ name: 'parameter-selects' }]),
      plain('moving', [{ name: 'redirect-chain', options: { hops: 1 } }, { name: 'parameter-selects' }]),
    ],
  });
  for (const name of ['choosy', 'moving']) {
    await lab.ask(`${lab.article(name)}?ref=1`);
    await saveHostRules(lab.database.pool, domainIdentity(`${name}.test`), { keepParameters: ['ref'] });
  }
  lab.start();
  await lab.idle();
}, 180_000);
afterAll(() => lab?.close());

test('a page is stored under the key of its row, not under that of its address today', async () => {
  expect(await lab.row(lab.article('choosy'))).toMatchObject({
    status: 'fetched',
    url: `${lab.article('choosy')}?ref=1`,
    documents: 1,
  });
  expect(await lab.statuses('choosy')).toEqual({ fetched: 1 });
});

test('where it leads is named by the rules of today', async () => {
  const target = `${lab.article('moving')}?ref=1&hop=1`;
  expect(await lab.row(lab.article('moving'))).toMatchObject({ status: 'redirected', redirectedTo: target });
  const found = await lab.database.pool.query<{ url: string; documents: number }>(
    `SELECT f.url, (SELECT count(*)::integer FROM documents d WHERE d.bucket = f.bucket AND d.domain_key = f.domain_key
                       AND d.url_hash = f.url_hash) AS documents
       FROM url_frontier f WHERE f.status = 'fetched' AND f.url LIKE '%moving%'`,
  );
  expect(found.rows).toEqual([{ url: target, documents: 1 }]);
});
