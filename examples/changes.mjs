// Follows Outrider's change feed and never misses or repeats a document, whatever crashes: the place is written down
// after the work is done.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Headers that say who asks. Make a token with: outrider token create --name my-program --role write */
export const headers = process.env.OUTRIDER_TOKEN
  ? { authorization: `Bearer ${process.env.OUTRIDER_TOKEN}` }
  : {};

/**
 * Calls work(document) for each document that is new, changed or judged, in order, until the signal aborts.
 * @param {{ api: string, placeFile: string, status?: string, signal: AbortSignal, pauseMs?: number }} options
 * @param {(document: any) => Promise<void>} work
 */
export async function followChanges({ api, placeFile, status, signal, pauseMs = 1000 }, work) {
  let after = existsSync(placeFile) ? readFileSync(placeFile, 'utf8').trim() : '0';
  while (!signal.aborted) {
    try {
      const query = new URLSearchParams({ after, ...(status ? { status } : {}) });
      const response = await fetch(`${api}/api/v1/documents/changes?${query}`, { headers, signal });
      const page = await response.json();
      if (!response.ok) throw new Error(`${response.status} ${page.code}: ${page.detail}`);
      for (const { document } of page.items) await work(document);
      if (page.next !== after) {
        after = page.next;
        writeFileSync(`${placeFile}.new`, after);
        renameSync(`${placeFile}.new`, placeFile);
      }
      if (page.more) continue;
    } catch (error) {
      if (signal.aborted) return;
      console.error(`${error.message}; trying again`);
    }
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
    });
  }
}

/** A signal that aborts with Ctrl-C or SIGTERM. */
export function stopSignal() {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort());
  return stop.signal;
}
