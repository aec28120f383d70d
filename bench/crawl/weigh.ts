import { get } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { BenchPage, BenchWeb } from './web.ts';

// Every publisher once, so that all encodings and layouts count as they do in the crawl.
const sampled = 200;

/** What a page weighs, on the wire and unpacked, as a mean over one page of every publisher. */
export async function weighPages(web: BenchWeb): Promise<{ wireBytes: number; decodedBytes: number }> {
  let wireBytes = 0;
  let decodedBytes = 0;
  const pages = web.pages.slice(0, sampled);
  for (const page of pages) {
    const { wire, encoding } = await ask(web, page);
    wireBytes += wire.length;
    if (encoding === 'gzip') decodedBytes += gunzipSync(wire).length;
    else if (encoding === 'br') decodedBytes += brotliDecompressSync(wire).length;
    else decodedBytes += wire.length;
  }
  return {
    wireBytes: Math.round(wireBytes / pages.length),
    decodedBytes: Math.round(decodedBytes / pages.length),
  };
}

function ask(web: BenchWeb, page: BenchPage): Promise<{ wire: Buffer; encoding: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = get(
      {
        host: web.addresses[page.host],
        port: web.port,
        path: page.path,
        headers: { host: page.host, 'accept-encoding': 'gzip, br' },
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ wire: Buffer.concat(chunks), encoding: response.headers['content-encoding'] }),
        );
      },
    );
    request.on('error', reject);
  });
}
