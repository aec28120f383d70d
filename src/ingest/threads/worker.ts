import { parentPort } from 'node:worker_threads';
import { ingestArticle, needsSecondOpinion } from '../article.ts';
import { previewArticle } from '../article-preview.ts';
import { handleResponse } from '../handle.ts';
import { ingestImage } from '../images.ts';
import type { Ingested } from '../response.ts';
import { sampleSelectors } from '../selector-sample.ts';
import { type ReadAnswer, type ReadRequest, unpackRequest } from './message.ts';

const port = parentPort;
if (port === null) throw new Error('this file is the entry of a worker thread');
const say = (answer: ReadAnswer): void => port.postMessage(answer);

port.on('message', (message: ReadRequest) => {
  read(message).then(
    (ingested) => say({ answer: 'done', ingested }),
    (error: unknown) => say({ answer: 'threw', error }),
  );
});
say({ answer: 'ready' });

async function read(message: ReadRequest): Promise<Ingested> {
  const { response, settings, task } = unpackRequest(message);
  if (response.row.kind === 'image') {
    const known = await ingestImage(response, settings, { decode: false });
    // Decoding may take too long; format and size then stand, without a likeness.
    if (known.outcome === 'image') say({ answer: 'interim', ingested: known });
    return known.outcome === 'image' ? ingestImage(response, settings) : known;
  }
  if (task === 'selectors') return { outcome: 'probe', result: sampleSelectors(response, settings) };
  if (task === 'preview') return { outcome: 'probe', result: previewArticle(response, settings) };
  if (task === 'whole') {
    const own = await handleResponse(response, settings);
    if (!needsSecondOpinion(own)) return own;
    // Readability may not come back in time; this reading then stands.
    say({ answer: 'interim', ingested: own });
  }
  return ingestArticle(response, settings, { allowFallback: true });
}
