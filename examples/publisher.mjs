// A publisher in one page: puts every classified document into a folder of its topic, one file each.
//   OUTRIDER_TOKEN=otr_… node examples/publisher.mjs http://127.0.0.1:8060 published [place file]
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { followChanges, stopSignal } from './changes.mjs';

const [api = 'http://127.0.0.1:8060', folder = 'published', placeFile = '.publisher-place'] =
  process.argv.slice(2);
const topics = ['politics', 'economy', 'sport', 'other'];

await followChanges({ api, placeFile, status: 'classified', signal: stopSignal() }, async (document) => {
  const { topic } = document.labels;
  const name = `${document.id}.json`;
  // A later verdict may move it.
  for (const other of topics) if (other !== topic) rmSync(join(folder, other, name), { force: true });
  mkdirSync(join(folder, topic), { recursive: true });
  const path = join(folder, topic, name);
  const { url, title, published_at: publishedAt, text, source } = document;
  writeFileSync(`${path}.new`, JSON.stringify({ url, title, publishedAt, source, text }, null, 2));
  renameSync(`${path}.new`, path);
  console.log(`published ${topic}: ${title}`);
});
