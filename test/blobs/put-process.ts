import { createHash } from 'node:crypto';
import { openFolderStore } from '../../src/blobs/index.ts';

// Puts the same blobs as others do at the same time, over and over: `node put-process.js FOLDER COUNT`.
const [folder, count] = process.argv.slice(2);
const store = openFolderStore(folder!);
for (let i = 0; i < Number(count); i += 1) {
  const body = Buffer.alloc(20_000, `blob ${i} `);
  const result = await store.put(createHash('sha256').update(body).digest(), body, 'image/png');
  if (result.outcome === 'failed') throw new Error(result.detail);
}
