import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ground } from './ground.ts';

/** (5) Every version of every document is at each sink under its id, waits in the outbox, or is a dead letter. */
export async function checkDeliveries({ stage, db }: Ground): Promise<string[]> {
  const wanted = await db.query<{ key: string; id: string; version: number; stub: boolean }>(
    `SELECT encode(int8send(domain_key), 'hex') || '-' || encode(url_hash, 'hex') AS id, version,
            page_type = 'stub' AS stub FROM documents`,
  );
  const pending = await db.query<{ sink: string; id: string }>(
    `SELECT sink, encode(int8send(domain_key), 'hex') || '-' || encode(url_hash, 'hex') AS id FROM outbox
     UNION ALL SELECT sink, encode(int8send(domain_key), 'hex') || '-' || encode(url_hash, 'hex') FROM dead_letters`,
  );
  const waiting = new Set(pending.rows.map((row) => `${row.sink} ${row.id}`));
  const files = readFiles(stage.filesDir);
  const problems: string[] = [];
  const { taken, forged } = stage.receiver;
  for (const { id, version, stub } of wanted.rows) {
    if (stub) continue;
    const key = `${id} ${version}`;
    if (!taken.has(key) && !waiting.has(`webhook ${id}`)) problems.push(`${key} never reached the receiver`);
    if (!files.has(key) && !waiting.has(`files ${id}`)) problems.push(`${key} is in no file`);
  }
  for (const [key, texts] of taken)
    if (texts.size > 1) problems.push(`${key} was delivered with ${texts.size} different texts`);
  if (forged > 0) problems.push(`${forged} deliveries had a wrong signature`);
  return problems;
}

/** Id and version of everything in the NDJSON files; every line must be whole. */
function readFiles(dir: string): Set<string> {
  const found = new Set<string>();
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    if (!/\.ndjson(\.open|\.part|\.tmp)?$/.test(name)) continue;
    for (const line of readFileSync(join(dir, name), 'utf8').split('\n')) {
      if (line === '') continue;
      const { id, version } = JSON.parse(line) as { id: string; version: number };
      found.add(`${id} ${version}`);
    }
  }
  return found;
}
