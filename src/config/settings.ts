import { isIP } from 'node:net';
import { fetchingSettings } from './fetching-settings.ts';
import { keepingSettings } from './keeping-settings.ts';
import {
  choice,
  integer,
  list,
  requiredText,
  type Setting,
  secretText,
  text,
  webAddress,
} from './setting.ts';
import { sinkSettings } from './sink-settings.ts';

const isAddressOrNetwork = (one: string): boolean => {
  const [address = '', bits, ...more] = one.split('/');
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return (
    more.length === 0 && longest > 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && +bits <= longest))
  );
};

/**
 * Every setting there is. Types, `--help`, the reference page, `.env.example` and `config --dump` are made from this
 * table; the file key is the path in snake case, the environment variable `OUTRIDER_` + the path unless named here.
 */
export const settings = {
  database: {
    url: text({
      env: 'DATABASE_URL',
      default: null,
      secret: true,
      description:
        'PostgreSQL 15 or newer to use; without it an embedded server is started in the data directory.',
    }),
    directUrl: text({
      env: 'DATABASE_DIRECT_URL',
      default: null,
      secret: true,
      description:
        'The same database past a pooler such as PgBouncer, for migrations and for hearing of new work at once; not needed for either.',
    }),
    connections: integer({
      default: 10,
      min: 2,
      max: 200,
      description: 'Connections each process may open.',
    }),
  },
  data: {
    dir: text({
      default: null,
      description: 'Where the embedded server keeps its data; a directory of the current user unless set.',
    }),
  },
  api: {
    host: requiredText({ default: '127.0.0.1', description: 'Address the API listens on.' }),
    port: integer({
      default: 8060,
      min: 0,
      max: 65535,
      description: 'Port the API listens on; 0 picks a free one.',
    }),
    hosts: list({
      default: [],
      item: { test: (one) => /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(one), form: 'host name' },
      description:
        'Names the API answers to besides those of loopback and the address it listens on; requests by another name get 421.',
    }),
    trustProxy: list({
      default: [],
      item: { test: isAddressOrNetwork, form: 'IP address or CIDR' },
      description: 'Proxies whose X-Forwarded-For, -Proto and -Host are believed; nobody else is.',
    }),
    requestsPerMinute: integer({
      default: 600,
      min: 1,
      max: 1_000_000,
      description: 'Requests a minute of one signed-in caller, or of one address on public pages.',
    }),
    refusalsPerMinute: integer({
      default: 60,
      min: 1,
      max: 1_000_000,
      description: 'Requests a minute of one address without credentials, and again as many with wrong ones.',
    }),
    streams: integer({
      default: 100,
      min: 1,
      max: 10_000,
      description: 'Streams of server-sent events one API process keeps open.',
    }),
    streamsPerCaller: integer({
      default: 10,
      min: 1,
      max: 10_000,
      description: 'Streams of those that one caller may have.',
    }),
  },
  auth: {
    jwtSecret: secretText({
      env: 'AUTH_JWT_SECRET',
      default: null,
      minBytes: 32,
      description: 'Shared secret that HS256 JWTs are signed with.',
    }),
    jwtDefaultRole: choice({
      env: 'AUTH_JWT_DEFAULT_ROLE',
      choices: ['none', 'read', 'write', 'admin'],
      default: 'read',
      description: 'Role of a JWT that names none; none refuses it.',
    }),
    jwksUrl: webAddress({
      default: null,
      description: 'Address of the key set (JWKS) that RS256 and ES256 JWTs are verified by.',
    }),
    jwtIssuer: text({ default: null, description: 'Issuer (`iss`) a JWT must have; any unless set.' }),
    jwtAudience: text({ default: null, description: 'Audience (`aud`) a JWT must have; any unless set.' }),
    sessionHours: integer({
      default: 168,
      min: 1,
      max: 8760,
      description: 'Hours until a browser must sign in again.',
    }),
  },
  ...fetchingSettings,
  polling: {
    sitemapIntervalMinutes: integer({
      default: 360,
      min: 1,
      max: 43_200,
      description: 'Minutes between sitemap polls.',
    }),
    sitemapMaxAgeHours: integer({
      default: 48,
      min: 1,
      max: 87_600,
      description: 'Sitemap entries modified longer ago are not submitted.',
    }),
  },
  websub: {
    callbackUrl: webAddress({
      default: null,
      description:
        'Public address that leads to the API, as https://crawler.example.org; hubs then push news to /websub/… below it. Unset, feeds are only polled.',
    }),
    leaseDays: integer({
      default: 10,
      min: 1,
      max: 90,
      description: 'Days a subscription is asked for; it is renewed before they end.',
    }),
  },
  jobs: {
    atOnce: integer({
      default: 20,
      min: 1,
      max: 1000,
      description: 'Jobs one scheduler runs at once.',
    }),
    maxMinutes: integer({
      default: 720,
      min: 1,
      max: 10_080,
      description: 'Minutes a run of a job may last; what still waits then is left for its next run.',
    }),
    lostSeconds: integer({
      default: 60,
      min: 3,
      max: 3600,
      description: 'Seconds without a heartbeat after which a running job is taken from its scheduler.',
    }),
    spiderIntervalMinutes: integer({
      default: 360,
      min: 15,
      max: 43_200,
      description: 'Minutes between runs of the crawl job that a new source read by links gets by itself.',
    }),
    keepExecutions: integer({
      default: 100,
      min: 1,
      max: 10_000,
      description: 'Newest executions of a job that are kept.',
    }),
  },
  ...sinkSettings,
  s3: {
    endpoint: webAddress({
      default: null,
      description:
        'Address of the S3-compatible store of blobs and the archive, as https://s3.eu-central-1.amazonaws.com or http://minio:9000; it may be private.',
    }),
    region: requiredText({ default: 'us-east-1', description: 'Region that requests are signed for.' }),
    accessKey: text({ default: null, secret: true, description: 'Access key of the store.' }),
    secretKey: text({ default: null, secret: true, description: 'Secret key of the store.' }),
    style: choice({
      choices: ['path', 'host'],
      default: 'path',
      description: 'Whether the bucket stands in the path or in the name of the host.',
    }),
  },
  ...keepingSettings,
  up: {
    fetchers: integer({
      default: 0,
      min: 0,
      max: 64,
      description: 'Fetcher processes of `up`; 0 means by cores.',
    }),
    graceSeconds: integer({
      default: 25,
      min: 1,
      max: 600,
      description: 'Time a role has to finish when it is stopped.',
    }),
  },
  watchdog: {
    stallSeconds: integer({
      default: 300,
      min: 10,
      max: 86_400,
      description:
        'Seconds without a sign of life after which a loop has stalled: the role says why and is replaced.',
    }),
    blockedSeconds: integer({
      default: 30,
      min: 1,
      max: 3600,
      description: 'Seconds a role may be blocked, unable to answer anybody, before it is replaced.',
    }),
    databaseSeconds: integer({
      default: 600,
      min: 1,
      max: 86_400,
      description: 'Seconds the database may be away before a role ends with code 3 to be started anew.',
    }),
    memoryLimitMb: integer({
      default: 0,
      min: 0,
      max: 1_048_576,
      description:
        'Megabytes a role may use; beyond 80 % of it the role finishes what is under way and is started anew. 0 is a share of what the container or the machine has.',
    }),
    networkCheckUrl: webAddress({
      default: null,
      description:
        'Page that always answers while the network works; asked only when many different hosts fail at once, to tell whose fault that is.',
    }),
  },
  health: {
    host: requiredText({
      default: '127.0.0.1',
      description:
        'Address that port listens on. Beyond loopback whoever reaches it may read /healthz, /readyz and /metrics; keep it inside your network.',
    }),
    port: integer({
      default: 0,
      min: 0,
      max: 65535,
      description:
        'Port of /healthz, /readyz, /health and /metrics in a role that serves no API; `up` counts on from it. 0 is off.',
    }),
  },
  cli: {
    server: webAddress({
      env: 'OUTRIDER_SERVER',
      default: null,
      description:
        'API that commands work with, such as https://outrider.example.com; without it they use the database.',
    }),
    token: text({
      env: 'OUTRIDER_TOKEN',
      default: null,
      secret: true,
      description: 'Token that commands show to that API.',
    }),
  },
  log: {
    level: choice({
      env: 'LOG_LEVEL',
      choices: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
      description: 'Least severity that is logged.',
    }),
    format: choice({
      env: 'LOG_FORMAT',
      choices: ['auto', 'text', 'json'],
      default: 'auto',
      description: 'Log lines as text or JSON; auto is text in a terminal and JSON elsewhere.',
    }),
  },
} as const satisfies Record<string, Record<string, unknown>>;

type Table = typeof settings;

/** The effective configuration: one value per setting, by group and name. */
export type Config = {
  readonly [G in keyof Table]: {
    readonly [N in keyof Table[G]]: Table[G][N] extends Setting<infer T> ? T : never;
  };
};

/** A setting with its three names. */
export type NamedSetting = Setting<unknown> & { group: string; name: string; key: string; env: string };

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Every setting with its file key and environment variable, in table order. */
export function listSettings(): NamedSetting[] {
  return Object.entries(settings).flatMap(([group, entries]) =>
    Object.entries(entries as Record<string, Setting<unknown>>).map(([name, setting]) => ({
      ...setting,
      group,
      name,
      key: `${group}.${snake(name)}`,
      env: setting.env ?? `OUTRIDER_${snake(group)}_${snake(name)}`.toUpperCase(),
    })),
  );
}
