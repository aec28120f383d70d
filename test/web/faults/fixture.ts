import { startWeb, type Web } from '../index.ts';

/** A small web with its clock stopped: `faulty.test` for the faults, `neighbour.test` for where they lead. */
export async function startFaultyWeb(): Promise<{ web: Web; article: string }> {
  const web = await startWeb({
    seed: 3,
    publishers: 4,
    startMs: Date.parse('2026-03-04T12:00:00Z'),
    speed: 0,
    changes: [
      {
        domain: 'faulty.test',
        host: 'faulty.test',
        charset: 'utf-8',
        charsetDeclaration: 'header',
        urlStyle: 'dated',
        sitemaps: [{ kind: 'urlset', path: '/sitemap.xml', inRobots: true, lastmod: true }],
      },
      { domain: 'neighbour.test', host: 'neighbour.test' },
    ],
  });
  return { web, article: web.groundTruth('faulty.test')[0]?.articles.at(-1)?.url ?? '' };
}
