import type { Command } from 'commander';
import {
  type ApiToken,
  createSignInCode,
  type Role,
  replaceSessionKey,
  roles,
  signInLink,
  signInMinutes,
  tokenNamePattern,
} from '../../auth/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { type Api, type Json, listItems, withApi } from '../api.ts';
import { type Context, loadContext, withDatabase } from '../context.ts';
import { operatorName } from '../operator.ts';
import { printJson, printTable, relativeTime } from '../output.ts';
import { signInName } from '../sign-in.ts';

type CreateFlags = { name: string; role: string; expires?: string };

const mostTokens = 10_000;

/** `token`: who may use the API. */
export function addTokenCommands(program: Command): void {
  const token = program
    .command('token')
    .description('tokens for programs that use the API, and sign-in links');
  token
    .command('create')
    .description('make a token and print it, once')
    .requiredOption('--name <name>', 'who uses it; events and the audit say it')
    .requiredOption('--role <role>', roles.join(', '))
    .option('--expires <time>', 'how long it works, such as 12h, 90d, 52w; for good unless said')
    .action(async (flags: CreateFlags, command: Command) => runCreate(loadContext(command), flags));
  token
    .command('list', { isDefault: true })
    .description('list tokens with their roles and last use')
    .option('--revoked', 'with those that were revoked')
    .action(async (flags: { revoked?: boolean }, command: Command) => {
      const context = loadContext(command);
      const tokens = await withApi(context, (api) => loadTokens(api, flags.revoked ?? false));
      if (context.flags.json) return printJson(tokens);
      printTokens(tokens);
    });
  token
    .command('revoke <name|id>')
    .description('end a token and the sessions it was exchanged for, within seconds')
    .action(async (which: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const ended = await withApi(context, (api) => revokeNamed(api, which));
      if (ended === null)
        throw new AppError('token_unknown', `there is no token "${which}" in use`, {
          exitCode: EXIT.usage,
          advice: 'The ID and NAME columns of "outrider token list" list them.',
        });
      if (context.flags.json) return printJson(ended);
      process.stdout.write(`Revoked ${ended.name} (${ended.prefix}…).\n`);
    });
  token
    .command('sign-in')
    .description(`print a link that signs a browser in, once, within ${signInMinutes} minutes`)
    .option('--url <address>', 'address of the API as the browser reaches it')
    .action(async (flags: { url?: string }, command: Command) => {
      const context = loadContext(command);
      const base = flags.url === undefined ? usualBase(context) : checkedBase(flags.url);
      const code = await withDatabase(context, ({ pool }) => createSignInCode(pool, signInName()));
      const link = signInLink(base, code);
      if (context.flags.json) return printJson({ link, minutes: signInMinutes });
      process.stdout.write(`${link}\n`);
    });
  token
    .command('end-sessions')
    .description('sign every browser out and void open sign-in links; tokens go on working')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      await withDatabase(context, ({ pool }) => replaceSessionKey(pool, operatorName()));
      if (context.flags.json) return printJson({ ended: true });
      process.stdout.write('All sessions have ended. Sign in with: outrider token sign-in\n');
    });
}

async function runCreate(context: Context, flags: CreateFlags): Promise<void> {
  const role = roles.find((one): one is Role => one === flags.role);
  if (role === undefined) throw usage(`--role takes ${roles.join(', ')}; not "${flags.role}"`);
  if (!new RegExp(tokenNamePattern).test(flags.name))
    throw usage(
      '--name takes up to 100 letters, digits, spaces and . _ @ : + -, beginning with a letter or digit',
    );
  const expiresInSeconds = flags.expires === undefined ? undefined : secondsOf(flags.expires);
  const { token, ...made } = await withApi(context, (api) =>
    api.post<TokenAnswer & { token: string }>('/api/v1/tokens', {
      name: flags.name,
      role,
      expires_in_seconds: expiresInSeconds,
    }),
  );
  if (context.flags.json) return printJson({ ...tokenOf(made), token });
  // The token alone on standard output, so that it can be piped; what a person should know beside it.
  process.stderr.write('This is shown once; keep it safe. Use it as: Authorization: Bearer …\n');
  process.stdout.write(`${token}\n`);
}

type Token = Json<ApiToken>;
/** A token as its routes answer it. */
type TokenAnswer = Pick<Token, 'id' | 'name' | 'role' | 'prefix'> & {
  created_at: string;
  created_by: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
};

const tokenOf = ({ id, name, role, prefix, ...rest }: TokenAnswer): Token => ({
  id,
  name,
  role,
  prefix,
  createdAt: rest.created_at,
  createdBy: rest.created_by,
  expiresAt: rest.expires_at,
  lastUsedAt: rest.last_used_at,
  revokedAt: rest.revoked_at,
});

async function loadTokens(api: Api, revoked: boolean): Promise<Token[]> {
  const { items } = await listItems<TokenAnswer>(api, '/api/v1/tokens', { revoked }, mostTokens);
  return items.map(tokenOf);
}

/** A name comes first: it may look like the number of another. */
async function revokeNamed(api: Api, which: string): Promise<Token | null> {
  const inUse = await loadTokens(api, false);
  const found = inUse.find((one) => one.name === which) ?? inUse.find((one) => String(one.id) === which);
  return found === undefined ? null : tokenOf(await api.delete<TokenAnswer>(`/api/v1/tokens/${found.id}`));
}

function printTokens(tokens: readonly Token[]): void {
  if (tokens.length === 0)
    return void process.stdout.write(
      'There are no tokens. Make one with: outrider token create --name NAME --role read\n',
    );
  printTable(tokens, [
    { title: 'ID', value: (row) => String(row.id), align: 'right' },
    { title: 'NAME', value: (row) => row.name, flexible: true },
    { title: 'ROLE', value: (row) => row.role },
    { title: 'TOKEN', value: (row) => `${row.prefix}…` },
    { title: 'CREATED', value: (row) => relativeTime(row.createdAt) },
    {
      title: 'LAST USED',
      value: (row) => (row.lastUsedAt === null ? 'never' : relativeTime(row.lastUsedAt)),
    },
    {
      title: 'ENDS',
      value: (row) =>
        row.revokedAt === null
          ? row.expiresAt === null
            ? 'never'
            : relativeTime(row.expiresAt)
          : `revoked ${relativeTime(row.revokedAt)}`,
    },
  ]);
}

const units: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400, w: 604_800 };
const mostSeconds = 3650 * 86_400;

function secondsOf(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,4})([mhdw])$/.exec(text.trim()) ?? [];
  const seconds = amount === undefined ? 0 : Number(amount) * units[unit!]!;
  if (seconds === 0 || seconds > mostSeconds)
    throw usage(`--expires takes a time such as 12h, 90d or 52w, up to ten years; not "${text}"`);
  return seconds;
}

function usualBase({ loaded: { config } }: Context): string {
  const { host, port, hosts } = config.api;
  if (hosts[0] !== undefined) return `https://${hosts[0]}`;
  if (port !== 0) return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  throw usage('the port is not known; give the address of the API with --url');
}

function checkedBase(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).origin;
  throw usage(`--url takes an http(s) address, not "${text}"`);
}

const usage = (message: string): AppError => new AppError('usage', message, { exitCode: EXIT.usage });
