// Writes the pages of docs/reference that are made from code, and .env.example (npm run build first).
// test/docs/reference.test.ts fails while the files and the code disagree.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../dist/src/db/index.js';
import { renderPages } from '../dist/test/docs/pages/index.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dataDir = mkdtempSync(join(tmpdir(), 'outrider-reference-'));
const database = await openDatabase({ dataDir });
try {
  for (const [name, text] of Object.entries(await renderPages(database))) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote ${name}`);
  }
} finally {
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
}
