// Writes docs/reference/configuration.md and .env.example from the settings table (npm run build first).
// src/config/describe.test.ts fails while the files and the table disagree.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderEnvExample, renderReference } from '../dist/src/config/index.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const files = { 'docs/reference/configuration.md': renderReference(), '.env.example': renderEnvExample() };
for (const [name, text] of Object.entries(files)) {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  console.log(`wrote ${name}`);
}
