import { createHash } from 'node:crypto';
import { createChannel } from '../../src/channels/index.ts';
import { submit } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import type { ApiLab } from '../api/lab.ts';
import { storeDocuments } from '../sinks/store.ts';

/** The addresses of documents that tests look at. */
export const at = {
  ferry: 'https://herald.example/2026/11/ferry',
  bridge: 'https://herald.example/2026/11/bridge',
  hostile: 'https://herald.example/2026/11/hostile',
  edited: 'https://herald.example/2026/11/tides',
  faehren: 'https://bote.example/faehren',
  exact: 'https://wire.example/ferry',
  near: 'https://gazette.example/ferry',
} as const;

/** The feed that told of the ferry. */
export const feed = 'https://herald.example/feed.xml';

const words =
  'anchor barrel captain deck eastern fog gale hull island jetty keel lantern mast north oar pilot quay rope sail tide upper vessel wharf yard'.split(
    ' ',
  );

/** Paragraphs of their own for each subject: copies are found by the text, so no two may be alike by chance. */
function paragraphs(subject: string, count = 6): string {
  const word = (n: number): string =>
    words[(createHash('sha256').update(`${subject} ${n}`).digest()[0] ?? 0) % words.length]!;
  return Array.from({ length: count }, (_, p) => {
    const told = Array.from({ length: 24 }, (_, n) => word(p * 24 + n));
    return `About the ${subject}: ${told.slice(0, 12).join(' ')}. Then the ${told.slice(12).join(' ')}.`;
  }).join('\n\n');
}

export const hostileTitle = '<script>window.broken = 1</script><img src=x onerror="window.broken = 2"> ferry';
const hostileText = `A pamphlet: <script>window.broken = 3</script> and <img src=x onerror="window.broken = 4"> and </p><b>bold</b>. ${paragraphs('pamphlet')}`;

/** Sources, documents with copies and versions, and who told of them. */
export async function fillDocuments(lab: ApiLab): Promise<{ channelId: number }> {
  const { pool } = lab.database;
  const { source: herald } = await createSource(pool, { url: 'https://herald.example/', name: 'The Herald' });
  const { source: bote } = await createSource(pool, { url: 'https://bote.example/', name: 'Bote' });
  const { channel } = await createChannel(pool, {
    sourceId: herald.id,
    kind: 'feed',
    url: feed,
    intervalSeconds: 900,
    foundBy: 'link',
  });
  const told = { kind: 'article', origin: 'feed', priority: 5, own: true } as const;
  await submit(pool, [{ ...told, url: at.ferry, sourceId: herald.id, parentUrl: feed }]);
  const sail = paragraphs('ferry');
  const own = { sourceId: herald.id, language: 'en', authors: ['Ada Writer', 'Ben Scribe'] };
  await storeDocuments(pool, [
    {
      ...own,
      url: at.ferry,
      title: 'The ferry sails again',
      text: `The ferry crossed the strait for the first time since spring.\n\n${sail}`,
      section: 'Harbour',
      description: 'After eight months on the dry dock the old ship is back.',
      publishedAt: new Date('2026-10-01T08:00:00Z'),
      leadImage: 'https://herald.example/ferry.jpg',
      meta: {
        evidence: { title: 'og:title', publishedAt: 'article:published_time', text: 'blocks' },
        openGraph: { title: 'The ferry sails again' },
        images: [{ url: 'https://herald.example/ferry.jpg', alt: 'the ship' }],
      },
    },
    {
      ...own,
      url: at.bridge,
      title: 'Plans for a bridge',
      text: `People would rather have a bridge than a ferry, the council heard.\n\n${paragraphs('bridge')}`,
      publishedAt: new Date('2026-11-01T08:00:00Z'),
    },
    { ...own, url: at.hostile, title: hostileTitle, text: hostileText },
    { ...own, url: at.edited, title: 'Tides', text: lines().join('\n') },
    {
      url: at.faehren,
      sourceId: bote.id,
      language: 'de',
      title: 'Neue Fähren für die Häfen',
      text: `Die Häfen bekommen neue Fähren, sagt der Minister.\n\n${paragraphs('Hafen')}`,
      publishedAt: null,
    },
  ]);
  await storeDocuments(pool, [
    {
      ...own,
      url: at.edited,
      title: 'Tides, corrected',
      text: lines({ 6: 'A correction of the sixth line.' }).join('\n'),
    },
    {
      url: at.exact,
      title: 'Ferry back in service',
      text: `The ferry crossed the strait for the first time since spring.\n\n${sail}`,
    },
    {
      url: at.near,
      title: 'A ferry returns',
      text: `The ferry crossed the strait for the first time since spring.\n\n${sail}\n\nMore soon.`,
    },
  ]);
  await storeDocuments(pool, [
    {
      ...own,
      url: at.edited,
      title: 'Tides, corrected',
      text: lines({ 6: 'A correction of the sixth line.', 2: 'The second line was wrong too.' }).join('\n'),
    },
  ]);
  await lab.index();
  return { channelId: channel.id };
}

function lines(changed: Readonly<Record<number, string>> = {}): string[] {
  return Array.from(
    { length: 14 },
    (_, n) => changed[n] ?? `Line ${n} of a long report on tides at the pier.`,
  );
}

/** Many plain documents, for pages of a list. */
export async function storeMany(lab: ApiLab, count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, n) => ({
    url: `https://many.example/report/${n}`,
    title: `Harbour report ${n}`,
    text: `Number ${n} of the reports on cargo. ${paragraphs(`cargo of day ${n}`, 3)}`,
  }));
  await storeDocuments(lab.database.pool, all);
  await lab.index();
}
