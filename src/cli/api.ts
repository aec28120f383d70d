import type { FastifyInstance } from 'fastify';
import type { Database } from '../db/index.ts';
import type { Context } from './context.ts';
import { openQuietly, quietLog } from './context.ts';
import { operatorName } from './operator.ts';
import { problemOf } from './problems.ts';
import { askServer, streamFromServer } from './remote.ts';

/** Parameters of an address; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** A value as JSON brings it: times are text, and 64-bit numbers too. */
export type Json<T> = T extends Date | bigint
  ? string
  : T extends (infer One)[]
    ? Json<One>[]
    : T extends object
      ? { [Key in keyof T]: Json<T[Key]> }
      : T;

/** A request as both ways of asking take it. */
export type ApiRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  /** A file instead of a value: it goes as it is. */
  file?: ApiFile;
  /** How long an answer may take; half a minute unless said. */
  timeoutMs?: number;
};
/** What is sent as it is. */
export type ApiFile = { type: string; text: string };
/** An answer before anybody has judged it. */
export type ApiAnswer = { status: number; headers: Readonly<Record<string, string>>; text: string };
/** An answer whose body comes in pieces. */
export type ApiStream = {
  status: number;
  headers: Readonly<Record<string, string>>;
  pieces: AsyncIterable<Uint8Array>;
};
/** How a request may differ from others. */
export type AskOptions = { timeoutMs?: number };

/** For work that grows with what is stored; fetch itself gives up on a silent server after five minutes. */
export const patiently: AskOptions = { timeoutMs: 300_000 };

/** The API as a command uses it; what the API refuses is an AppError with its code and advice. */
export type Api = {
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body?: unknown, options?: AskOptions): Promise<T>;
  put<T>(path: string, body?: unknown): Promise<T>;
  patch<T>(path: string, body?: unknown, options?: AskOptions): Promise<T>;
  delete<T>(path: string, query?: Query, options?: AskOptions): Promise<T>;
  /** Sends a file; patient, because it is read there. */
  upload<T>(path: string, query: Query, file: ApiFile): Promise<T>;
  /** A file of any length, piece by piece, with the headers it came with. */
  download(path: string, query: Query): Promise<Omit<ApiStream, 'status'>>;
};

/** The two ways of asking: for a whole answer, and for one in pieces. */
type Asker = {
  whole(request: ApiRequest): Promise<ApiAnswer>;
  pieces(path: string): Promise<ApiStream>;
};

/**
 * Gives a command the API: that of a server where one is named, else one of its own inside this process on the
 * database. Either way the same routes answer, so a command shows what everybody else is told.
 */
export async function withApi<T>(context: Context, work: (api: Api) => Promise<T>): Promise<T> {
  const { server } = context;
  const { token } = context.loaded.config.cli;
  if (server !== null) {
    if (token !== null && isOpenRoad(server))
      process.stderr.write(`warning: the token travels to ${server} unencrypted; use https://\n`);
    const remote = { server, token, version: context.version };
    return work(
      apiOf(server, {
        whole: (request) => askServer(remote, request),
        pieces: (path) => streamFromServer(remote, path),
      }),
    );
  }
  const inside = new ApiInside(context);
  try {
    return await work(apiOf(null, inside));
  } finally {
    await inside.close();
  }
}

// A token over plain HTTP is anybody's on the way, except to this machine itself.
function isOpenRoad(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** The API inside this process: of each subject that a command asks about, the routes. */
class ApiInside implements Asker {
  readonly #context: Context;
  readonly #database: Promise<Database>;
  readonly #apps = new Map<string, Promise<FastifyInstance>>();

  constructor(context: Context) {
    this.#context = context;
    // At once: the server of the database starts while routes are read in. What it meets is thrown when it is asked.
    this.#database = openQuietly(context);
    this.#database.catch(() => undefined);
  }

  async whole({ method, path, body, file }: ApiRequest): Promise<ApiAnswer> {
    const app = await this.#appOf(path);
    const answer = await app.inject({
      method,
      url: path,
      ...(body === undefined ? {} : { payload: body as object }),
      ...(file === undefined ? {} : { payload: file.text, headers: { 'content-type': file.type } }),
    });
    return { status: answer.statusCode, headers: headersOf(answer.headers), text: answer.payload };
  }

  async pieces(path: string): Promise<ApiStream> {
    const app = await this.#appOf(path);
    const answer = await app.inject({ method: 'GET', url: path, payloadAsStream: true });
    return { status: answer.statusCode, headers: headersOf(answer.headers), pieces: answer.stream() };
  }

  async close(): Promise<void> {
    for (const app of await Promise.allSettled(this.#apps.values()))
      if (app.status === 'fulfilled') await app.value.close();
    const database = await this.#database.catch(() => null);
    await database?.close();
  }

  #appOf(path: string): Promise<FastifyInstance> {
    const subject = /^\/api\/v1\/([a-z]+)/.exec(path)?.[1] ?? '';
    const app = this.#apps.get(subject) ?? this.#build(subject);
    this.#apps.set(subject, app);
    return app;
  }

  async #build(subject: string): Promise<FastifyInstance> {
    const [{ buildApi, subjects }, { createMetrics, systemClock }] = await Promise.all([
      import('../api/index.ts'),
      import('../telemetry/index.ts'),
    ]);
    const known = subjects.find((one) => one === subject);
    return buildApi({
      database: await this.#database,
      config: this.#context.loaded.config,
      clock: systemClock,
      log: quietLog(this.#context),
      metrics: createMetrics(),
      version: this.#context.version,
      loops: () => [],
      operator: { name: operatorName(), role: 'admin' },
      ...(known === undefined ? {} : { subject: known }),
    });
  }
}

const headersOf = (headers: object): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

function apiOf(server: string | null, ask: Asker): Api {
  const send = async <T>(request: ApiRequest): Promise<T> => {
    const answer = await ask.whole(request);
    if (answer.status < 200 || answer.status >= 300) throw problemOf(answer, server);
    if (answer.text === '') return undefined as T;
    try {
      return JSON.parse(answer.text) as T;
    } catch {
      // A proxy's page, or a server of another kind: said as such, not as a stack.
      throw problemOf({ ...answer, status: 502 }, server);
    }
  };
  const withBody = (body: unknown): { body?: unknown } => (body === undefined ? {} : { body });
  return {
    get: (path, query) => send({ method: 'GET', path: withQuery(path, query) }),
    post: (path, body, options) => send({ method: 'POST', path, ...withBody(body), ...options }),
    put: (path, body) => send({ method: 'PUT', path, ...withBody(body) }),
    patch: (path, body, options) => send({ method: 'PATCH', path, ...withBody(body), ...options }),
    delete: (path, query, options) => send({ method: 'DELETE', path: withQuery(path, query), ...options }),
    upload: (path, query, file) => send({ method: 'POST', path: withQuery(path, query), file, ...patiently }),
    download: async (path, query) => {
      const answer = await ask.pieces(withQuery(path, query));
      if (answer.status === 200) return answer;
      throw problemOf({ ...answer, text: await headOf(answer.pieces) }, server);
    },
  };
}

const mostProblemBytes = 65_536;

/** What a refusal says; more than a problem has nobody reads. */
async function headOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    parts.push(piece);
    size += piece.byteLength;
    if (size > mostProblemBytes) break;
  }
  return Buffer.concat(parts).toString('utf8');
}

const itemsPerPage = 1000;

/** The items of a list, as many as are wanted, however many pages that takes; and whether there are more. */
export async function listItems<T>(
  api: Api,
  path: string,
  query: Query,
  limit: number,
): Promise<{ items: T[]; isMore: boolean }> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: T[]; cursor: string | null } = await api.get(path, {
      ...query,
      limit: Math.min(itemsPerPage, limit - items.length),
      cursor: cursor ?? undefined,
    });
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== null && items.length < limit);
  return { items, isMore: cursor !== null };
}

function withQuery(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** A path with its parts escaped: pathOf`/api/v1/sinks/${name}/retry`. */
export const pathOf = (parts: TemplateStringsArray, ...values: readonly string[]): string =>
  parts.reduce((path, part, index) => path + encodeURIComponent(values[index - 1] ?? '') + part);
