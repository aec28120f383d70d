// A classifier in one page: reads every new document, decides what it is about, and writes its verdict back.
//   OUTRIDER_TOKEN=otr_… node examples/classifier.mjs http://127.0.0.1:8060 [place file]
import { followChanges, headers, stopSignal } from './changes.mjs';

const [api = 'http://127.0.0.1:8060', placeFile = '.classifier-place'] = process.argv.slice(2);

// Replace this by your model. A topic is what most of its words speak for.
const topics = {
  politics: ['government', 'minister', 'election', 'council', 'parliament', 'vote', 'law'],
  economy: ['market', 'company', 'price', 'bank', 'trade', 'budget', 'workers'],
  sport: ['match', 'team', 'season', 'coach', 'goal', 'league', 'champion'],
};

function classify({ title, text }) {
  const words = `${title ?? ''} ${text}`.toLowerCase().match(/\p{L}+/gu) ?? [];
  const scores = Object.entries(topics).map(([topic, hints]) => [
    topic,
    words.filter((word) => hints.includes(word)).length,
  ]);
  const [topic, score] = scores.sort(([, a], [, b]) => b - a)[0];
  return { topic: score > 0 ? topic : 'other', score };
}

await followChanges({ api, placeFile, status: 'pending', signal: stopSignal() }, async (document) => {
  const labels = classify(document);
  const response = await fetch(`${api}/api/v1/documents/${document.id}/classification`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ version: document.version, status: 'classified', labels }),
  });
  // 409: it has changed since; its new version comes by itself. 404: it was deleted.
  if (!response.ok && response.status !== 409 && response.status !== 404)
    throw new Error(
      `the verdict on ${document.url} was not taken: ${response.status} ${await response.text()}`,
    );
  console.log(`${labels.topic.padEnd(8)}  ${document.title}`);
});
