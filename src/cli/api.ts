import type { Context } from './context.ts';
import { openQuietly, quietLog } from './context.ts';
import { operatorName } from './operator.ts';
import { problemOf } from './problems.ts';
import { askServer } from './remote.ts';

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
};
/** An answer before anybody has judged it. */
export type ApiAnswer = { status: number; headers: Readonly<Record<string, string>>; text: string };

/** The API as a command uses it; what the API refuses is an AppError with its code and advice. */
export type Api = {
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  put<T>(path: string, body?: unknown): Promise<T>;
  patch<T>(path: string, body?: unknown): Promise<T>;
  delete<T>(path: string, query?: Query): Promise<T>;
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
    return work(apiOf(server, (request) => askServer({ server, token, version: context.version }, request)));
  }
  // Side by side: the server of the database starts while the routes are read in.
  const [{ buildApi }, database, { createMetrics, systemClock }] = await Promise.all([
    import('../api/index.ts'),
    openQuietly(context),
    import('../telemetry/index.ts'),
  ]);
  try {
    const app = await buildApi({
      database,
      config: context.loaded.config,
      clock: systemClock,
      log: quietLog(context),
      metrics: createMetrics(),
      version: context.version,
      loops: () => [],
      operator: { name: operatorName(), role: 'admin' },
    });
    try {
      return await work(
        apiOf(null, async ({ method, path, body }) => {
          const answer = await app.inject({
            method,
            url: path,
            ...(body === undefined ? {} : { payload: body as object }),
          });
          const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
          return { status: answer.statusCode, headers: Object.fromEntries(headers), text: answer.payload };
        }),
      );
    } finally {
      await app.close();
    }
  } finally {
    await database.close();
  }
}

// A token over plain HTTP is anybody's on the way, except to this machine itself.
function isOpenRoad(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function apiOf(server: string | null, ask: (request: ApiRequest) => Promise<ApiAnswer>): Api {
  const send = async <T>(method: ApiRequest['method'], path: string, body?: unknown): Promise<T> => {
    const answer = await ask({ method, path, ...(body === undefined ? {} : { body }) });
    if (answer.status < 200 || answer.status >= 300) throw problemOf(answer, server);
    if (answer.text === '') return undefined as T;
    try {
      return JSON.parse(answer.text) as T;
    } catch {
      // A proxy's page, or a server of another kind: said as such, not as a stack.
      throw problemOf({ ...answer, status: 502 }, server);
    }
  };
  return {
    get: (path, query) => send('GET', withQuery(path, query)),
    post: (path, body) => send('POST', path, body),
    put: (path, body) => send('PUT', path, body),
    patch: (path, body) => send('PATCH', path, body),
    delete: (path, query) => send('DELETE', withQuery(path, query)),
  };
}

function withQuery(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** A path with its parts escaped: pathOf`/api/v1/sinks/${name}/retry`. */
export const pathOf = (parts: TemplateStringsArray, ...values: readonly string[]): string =>
  parts.reduce((path, part, index) => path + encodeURIComponent(values[index - 1] ?? '') + part);
