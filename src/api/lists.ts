import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  type BadLine,
  countSources,
  exportSources,
  type ImportReport,
  importSources,
} from '../channels/index.ts';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import {
  createListWriter,
  type ListEntry,
  type ListedSource,
  type ListFormat,
  listFormats,
  readList,
} from '../source-lists/index.ts';
import { saveAudit } from '../switches/index.ts';
import { type AddressCheck, loadAddressCheck } from './addresses.ts';
import type { Identity } from './identity.ts';
import { stayWith } from './long-work.ts';
import { answer, count, oneOf, strict } from './schemas.ts';
import { adminSetting } from './source-schemas.ts';

const mostBytes = 32 * 1024 * 1024;
const tags = ['sources'];
const types: Readonly<Record<ListFormat, string>> = {
  opml: 'text/x-opml; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  lines: 'text/plain; charset=utf-8',
};
const endings: Readonly<Record<ListFormat, string>> = {
  opml: 'opml',
  csv: 'csv',
  json: 'json',
  ndjson: 'ndjson',
  lines: 'txt',
};

const reportShape = answer({
  lines: count,
  added: count,
  known: count,
  updated: count,
  channelsAdded: count,
  channelsKnown: count,
  searches: count,
  deep: count,
  bad: count,
  badLines: Type.Array(answer({ line: count, reason: Type.String(), text: Type.String() })),
  dryRun: Type.Boolean(),
});

type Options = { database: Database; config: Config };

/** Lists of sources as files, in and out. */
export function addListRoutes(instance: FastifyInstance, options: Options): void {
  addExport(instance, options);
  // A scope of its own: here a body of any type is a file, elsewhere it is JSON.
  instance.register(async (scope) => addImport(scope, options));
}

function addExport(instance: FastifyInstance, { database }: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  app.get(
    '/api/v1/sources/export',
    {
      // Nobody who asks for the head alone should have everything read for it.
      exposeHeadRoute: false,
      schema: {
        operationId: 'exportSources',
        tags,
        summary: 'Every source with its settings and channels as a file',
        description:
          'JSON, NDJSON, CSV and OPML keep every setting and can be imported again; lines keep addresses only. Proxies may hold passwords and are left out unless an admin asks.',
        querystring: Type.Object({ format: Type.Optional(oneOf(listFormats)) }, strict),
        response: {
          // Nothing that TypeScript should compare with the stream that is sent.
          200: Type.Unsafe<unknown>({
            description: 'the file',
            content: Object.fromEntries(
              Object.values(types).map((type) => [
                type.split(';')[0]!,
                {
                  schema: type.startsWith('application/json')
                    ? Type.Array(Type.Object({ url: Type.String() }, { additionalProperties: true }))
                    : Type.String(),
                },
              ]),
            ),
          }),
        },
      },
    },
    async ({ query, identity }, reply) => {
      const format = query.format ?? 'json';
      return (
        reply
          .type(types[format])
          .header('content-disposition', `attachment; filename="sources.${endings[format]}"`)
          .header('cache-control', 'no-store')
          // Whoever writes it down wants to say how many, and not every format can be counted by its lines.
          .header('outrider-sources', await countSources(database.pool, 2_147_483_000))
          .send(Readable.from(writeSources(database, format, identity), { objectMode: false }))
      );
    },
  );
}

async function* writeSources(
  { pool }: Database,
  format: ListFormat,
  identity: Identity,
): AsyncGenerator<string> {
  const writer = createListWriter(format, { created: new Date() });
  yield writer.head();
  for await (const source of exportSources(pool))
    yield writer.source(identity.role === 'admin' ? source : withoutProxies(source));
  yield writer.foot();
}

function withoutProxies(source: ListedSource): ListedSource {
  const { proxies: _proxies, ...settings } = source.settings ?? {};
  return { ...source, settings };
}

function addImport(scope: FastifyInstance, options: Options): void {
  const app = scope.withTypeProvider<TypeBoxTypeProvider>();
  const turns = new Turns();
  app.removeAllContentTypeParsers();
  // Taken in whole before it is read: the server gives a client 30 seconds for its request, and the database may need
  // more for a million lines. One at a time, so that this is the only one in memory.
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: mostBytes }, (_request, body, done) =>
    done(null, body),
  );
  app.post(
    '/api/v1/sources/import',
    {
      bodyLimit: mostBytes,
      schema: {
        operationId: 'importSources',
        tags,
        summary: 'Follow the publishers of a file: OPML, CSV, JSON, NDJSON or one address per line',
        description:
          'The body is the file, of at most 32 MB. What is followed already is counted and not added twice, so an import that broke off is finished by sending the file again. Entries that cannot be used are told with their lines, and the rest goes on; a file without any that can is an error.',
        consumes: Object.values(types).map((type) => type.split(';')[0]!),
        // Described and not checked: what comes is bytes, and whoever reads them tells what is wrong, by line.
        body: Type.Unsafe<unknown>({ description: 'the file' }),
        querystring: Type.Object(
          {
            format: Type.Optional(oneOf(listFormats)),
            update: Type.Optional(
              Type.Boolean({ description: 'sources that are followed take over what the list says' }),
            ),
            dry_run: Type.Optional(Type.Boolean({ description: 'only say what would be done' })),
            part: Type.Optional(
              Type.Boolean({
                description:
                  'a part of a longer list: one without any entry that can be used is no error, and up to 10,000 bad lines are told instead of 100',
              }),
            ),
          },
          strict,
        ),
        response: { 200: reportShape },
      },
      preParsing: async (request, reply) => {
        const encoding = request.headers['content-encoding'];
        if (encoding !== undefined && encoding !== 'identity')
          throw new AppError('request_invalid', 'a list is taken uncompressed', { httpStatus: 415 });
        turns.take(reply.raw);
      },
    },
    (request) => turns.work(() => runImport(options, request)),
  );
}

type ImportRequest = FastifyRequest<{
  Querystring: { format?: ListFormat; update?: boolean; dry_run?: boolean; part?: boolean };
}>;

/** One import at a time, from its first byte until it has ended and its caller has heard so, or has left. */
class Turns {
  #isTaken = false;
  #isWorking = false;
  #response: ServerResponse | null = null;

  take(response: ServerResponse): void {
    if (this.#isTaken)
      throw new AppError('import_under_way', 'another import is under way', {
        httpStatus: 409,
        retry: true,
        advice: 'Try again when it has ended.',
      });
    this.#isTaken = true;
    this.#response = response;
    // Finished comes first where the connection is kept; closed alone where the caller has left. Of this one only: the
    // connection of an import before may be closed while this one is sent.
    for (const end of ['finish', 'close'])
      response.once(end, () => {
        if (!this.#isWorking && this.#response === response) this.#isTaken = false;
      });
  }

  async work<T>(act: () => Promise<T>): Promise<T> {
    this.#isWorking = true;
    try {
      return await act();
    } finally {
      this.#isWorking = false;
      if (this.#response?.closed) this.#isTaken = false;
    }
  }
}

async function runImport({ database, config }: Options, request: ImportRequest) {
  const { format = null, update = false, dry_run: dryRun = false, part = false } = request.query;
  const { identity } = request;
  stayWith(request.raw);
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const check = await loadAddressCheck(config);
  const entries = guarded(readList(pieces(body), { format }), check, identity);
  const bad: BadLine[] = [];
  const report = await importSources(database, untilGone(entries, request.raw.socket), {
    actor: identity.name,
    sitemapIntervalSeconds: config.polling.sitemapIntervalMinutes * 60,
    update,
    dryRun,
    onBad: (one) => {
      if (bad.length < mostBadOfPart) bad.push(one);
    },
  });
  if (part) report.badLines = bad;
  else requireUsed(report);
  if (!dryRun)
    await saveAudit(database.pool, {
      actor: identity.name,
      action: 'sources_import',
      subject: 'sources',
      detail: { added: report.added, updated: report.updated, channels: report.channelsAdded },
    });
  return { ...report, dryRun };
}

const mostBadOfPart = 10_000;
const pieceBytes = 65_536;

function* pieces(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

/** Entries that this caller may bring; the others are told as bad lines. */
async function* guarded(
  entries: AsyncIterable<ListEntry>,
  check: AddressCheck,
  identity: Identity,
): AsyncGenerator<ListEntry> {
  for await (const entry of entries) {
    const reason = entry.outcome === 'bad' ? null : refusal(entry.source, check, identity);
    if (reason === null || entry.outcome === 'bad') yield entry;
    else yield { outcome: 'bad', line: entry.line, reason, text: entry.source.url.slice(0, 300) };
  }
}

function refusal(source: ListedSource, check: AddressCheck, identity: Identity): string | null {
  for (const url of [source.url, ...source.channels.map((channel) => channel.url)]) {
    const reason = check(url);
    if (reason !== null) return `"${url.slice(0, 100)}" may not be fetched: ${reason}`;
  }
  const needsAdmin = identity.role === 'admin' ? null : adminSetting(source.settings ?? {});
  return needsAdmin === null ? null : `settings.${needsAdmin} needs the admin role`;
}

/** Whoever does not wait for the end may send the file again; nobody reads the rest of this one. */
async function* untilGone(
  entries: AsyncIterable<ListEntry>,
  socket: { destroyed: boolean },
): AsyncGenerator<ListEntry> {
  for await (const entry of entries) {
    if (socket.destroyed) return;
    yield entry;
  }
}

function requireUsed(report: ImportReport): void {
  if (report.added + report.known > 0) return;
  const [first] = report.badLines;
  throw new AppError(
    'list_unusable',
    first === undefined
      ? 'the list has no entries'
      : `no entry can be used; the first, in line ${first.line}: ${first.reason}`,
    { httpStatus: 422, advice: 'Give the format, or mend the list; dry_run tells what would be done.' },
  );
}
