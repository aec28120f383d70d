import { createHash } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Database, Queryable } from '../db/index.ts';
import { loadDocument, loadRawPage, type StoredDocument } from '../documents/index.ts';
import { AppError } from '../errors/index.ts';
import { escapeHtml, paragraphsOf } from '../html/index.ts';
import { loadSources } from '../sources/index.ts';
import { strict, text } from './schemas.ts';

// What a page weighs in a database and unpacked; a heavier one is shown by its text, which is what was made of it.
const mostPackedBytes = 4_000_000;
const mostPageBytes = 10_000_000;
const mostTextBytes = 900_000;

const style =
  ':root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;max-width:44rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}' +
  'h1{font-size:1.5rem;line-height:1.3}small{opacity:.7}pre{white-space:pre-wrap}table{border-collapse:collapse}td,th{border:1px solid #8884;padding:.25rem .5rem;text-align:left}' +
  'blockquote{border-left:3px solid #8884;margin-left:0;padding-left:1rem}';

/*
 * The style is named by its hash and not by 'self': a sandboxed page has no origin, so a stylesheet would be asked for
 * without the session. Nothing but these letters counts as style, whatever else might get into the page.
 */
const policy =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; sandbox; ` +
  "frame-ancestors 'self'; base-uri 'none'; form-action 'none'";

/** `GET /api/v1/documents/:id/html`: an article to be looked at in a frame. */
export function addDocumentPage(instance: FastifyInstance, { database }: { database: Database }): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = database;
  app.get(
    '/api/v1/documents/:id/html',
    {
      schema: {
        operationId: 'getDocumentHtml',
        tags: ['documents'],
        summary: 'The article as a small page that does nothing, for a frame',
        description:
          'Made of the kept page with the elements that its text stood in, or of the text alone where no page is kept. No scripts, no images, no styles of the publisher; links lead to the web. At most 1 MB.',
        params: Type.Object({ id: text(200) }, strict),
        querystring: Type.Object({}, strict),
        response: {
          200: Type.Unsafe<unknown>({
            description: 'the page',
            content: { 'text/html': { schema: Type.String() } },
          }),
        },
      },
    },
    async ({ params: { id } }, reply) => {
      const document = await loadDocument(pool, id);
      if (document === null)
        throw new AppError('document_unknown', `there is no document ${id.slice(0, 100)}`, {
          httpStatus: 404,
        });
      return reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', policy)
        .header('x-frame-options', 'SAMEORIGIN')
        .send(renderPage(document, await bodyOf(pool, document)));
    },
  );
}

type Body = { html: string; isCut: boolean };

async function bodyOf(db: Queryable, document: StoredDocument): Promise<Body> {
  const kept = await readKept(db, document);
  return kept === null || kept.html === '' ? paragraphsOf(document.text, mostTextBytes) : kept;
}

/** The article of the kept page; null where there is none that can be read. */
async function readKept(db: Queryable, document: StoredDocument): Promise<Body | null> {
  const raw = await loadRawPage(db, document, mostPackedBytes);
  if (raw === null) return null;
  // Here and not above: half a second that only this route needs.
  const { unpackPage } = await import('../fetch/index.ts');
  const body = await unpackPage(raw.body, raw.encoding, mostPageBytes);
  if (body === null) return null;
  const { readArticleHtml } = await import('../ingest/index.ts');
  const { url, hash, sourceId } = document;
  const [source = null] = sourceId === null ? [] : await loadSources(db, [sourceId]);
  return readArticleHtml(
    {
      row: { hash, url, kind: 'article', origin: 'manual', sourceId, depth: 0 },
      finalUrl: url,
      finalHash: hash,
      status: 200,
      headers: raw.contentType === null ? {} : { 'content-type': raw.contentType },
      body,
      wireBody: null,
      contentEncoding: null,
    },
    { source, channel: null, minWords: 0, minBodyBytes: 0, keepHtml: 'none', sitemapMaxAgeMs: 0, nowMs: 0 },
  );
}

const mostTitleChars = 2000;

function renderPage({ title, text, language }: StoredDocument, { html, isCut }: Body): string {
  const named = escapeHtml(title?.slice(0, mostTitleChars) ?? 'Without a title');
  // Some pages repeat their title in their text.
  const isTold = title === null || text.startsWith(title);
  const lang = language === null ? '' : ` lang="${escapeHtml(language)}"`;
  return (
    `<!doctype html><html${lang}><head><meta charset="utf-8"><title>${named}</title><style>${style}</style></head>` +
    `<body dir="auto">${isTold ? '' : `<h1>${named}</h1>`}\n${html}\n${isCut ? '<p><small>The rest is left out.</small></p>' : ''}</body></html>`
  );
}
