import { Command, CommanderError, Help, Option } from 'commander';
import { forbidden, isDiskFull, isForbidden, isPassing } from '../db/index.ts';
import { AppError, EXIT, messageOf } from '../errors/index.ts';
import { isAboutThisMachine, localOnly, nameOf } from './context.ts';
import { allowExcess, refuseEmpty, refuseExcess } from './excess.ts';
import { packageVersion } from './version.ts';

/** Runs the command line; answers the exit code. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = await buildProgram(args);
  if (args.length === 0) {
    program.outputHelp();
    return EXIT.ok;
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return typeof process.exitCode === 'number' ? process.exitCode : EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return reportError(error);
  }
}

type Group = { names: readonly string[]; load: () => Promise<(program: Command) => void> };

/** The commands in the order the help lists them, by the file that has them. */
const groups: readonly Group[] = [
  {
    names: ['up', 'serve', 'fetch', 'schedule'],
    load: async () => (await import('./commands/roles.ts')).addRoleCommands,
  },
  { names: ['demo'], load: async () => (await import('./commands/demo.ts')).addDemoCommand },
  { names: ['run'], load: async () => (await import('./commands/run.ts')).addRunCommand },
  { names: ['add'], load: async () => (await import('./commands/add.ts')).addAddCommand },
  { names: ['sources'], load: async () => (await import('./commands/sources.ts')).addSourceCommands },
  { names: ['channels'], load: async () => (await import('./commands/channels.ts')).addChannelCommands },
  { names: ['import', 'export'], load: async () => (await import('./commands/lists.ts')).addListCommands },
  {
    names: ['submit', 'urls', 'explain'],
    load: async () => (await import('./commands/frontier.ts')).addFrontierCommands,
  },
  { names: ['jobs'], load: async () => (await import('./commands/jobs.ts')).addJobCommands },
  { names: ['domain'], load: async () => (await import('./commands/domains.ts')).addDomainCommands },
  {
    names: ['workers', 'switch'],
    load: async () => (await import('./commands/operate.ts')).addOperateCommands,
  },
  { names: ['extract'], load: async () => (await import('./commands/extract.ts')).addExtractCommand },
  { names: ['docs'], load: async () => (await import('./commands/docs.ts')).addDocsCommands },
  { names: ['sinks'], load: async () => (await import('./commands/sinks.ts')).addSinksCommands },
  { names: ['images'], load: async () => (await import('./commands/images.ts')).addImageCommands },
  {
    names: ['backup', 'restore'],
    load: async () => (await import('./commands/backup.ts')).addBackupCommands,
  },
  {
    names: ['db', 'migrate'],
    load: async () => (await import('./commands/database.ts')).addDatabaseCommands,
  },
  { names: ['scale'], load: async () => (await import('./commands/scale.ts')).addScaleCommand },
  { names: ['token'], load: async () => (await import('./commands/token.ts')).addTokenCommands },
  { names: ['config'], load: async () => (await import('./commands/config.ts')).addConfigCommand },
  {
    names: ['completion'],
    load: async () => {
      const { addCompletionCommand } = await import('./commands/completion.ts');
      return (program) => addCompletionCommand(program, buildProgram);
    },
  },
  { names: ['health'], load: async () => (await import('./commands/health.ts')).addHealthCommand },
  { names: ['doctor'], load: async () => (await import('./commands/doctor.ts')).addDoctorCommand },
];

/**
 * A file of commands brings its part of the engine with it, and all of them half a second of start. So only the one that
 * is named is read, unless the first word is none of ours: then help, or a suggestion, needs them all.
 */
function isWanted({ names }: Group, args: readonly string[] | null): boolean {
  if (args !== null && args.length > 0 && args.every((arg) => arg === '--version' || arg === '-V'))
    return false;
  const first = args?.find((arg) => !arg.startsWith('-'));
  const isKnown = first !== undefined && groups.some((group) => group.names.includes(first));
  return args === null || !isKnown || names.includes(first);
}

// Whoever writes --server beside a command about this machine means something that cannot be.
function refuseServer(command: Command): void {
  const { server } = command.optsWithGlobals<{ server?: string }>();
  if (server !== undefined && isAboutThisMachine(command)) throw localOnly(nameOf(command), server);
}

/** What can stand behind a command; behind a group what its list takes, which it is where none of its commands is named. */
function optionsOf(this: Help, command: Command): Option[] {
  const own = Help.prototype.visibleOptions.call(this, command);
  const { _defaultCommandName: name } = command as unknown as { _defaultCommandName: string | null };
  const list = command.commands.find((one) => one.name() === name);
  return list === undefined ? own : [...list.options.filter((option) => !option.hidden), ...own];
}

/** The whole command line, or the part of it that some arguments need. */
export async function buildProgram(args: readonly string[] | null = null): Promise<Command> {
  const program = new Command('outrider')
    .description('Feed-first, polite, crash-proof content ingestion.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .option('--config <file>', 'YAML file with settings')
    .option('--data <dir>', 'data directory of the embedded database')
    .option('--json', 'print JSON instead of text')
    .option('--server <url>', 'work with the API at this address instead of the database (OUTRIDER_SERVER)')
    .option(
      '--token <token>',
      'token for that API; better in OUTRIDER_TOKEN, where no list of processes shows it',
    )
    .addOption(
      new Option('--log-level <level>', 'least severity that is logged').choices([
        'trace',
        'debug',
        'info',
        'warn',
        'error',
        'silent',
      ]),
    )
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    // Commands inherit it, so it must be set before they are added.
    .configureHelp({ showGlobalOptions: true, visibleOptions: optionsOf })
    .showSuggestionAfterError(true)
    .showHelpAfterError('Run "outrider --help" to see every command.')
    .exitOverride()
    .addHelpText(
      'after',
      `
First steps:
  outrider demo                      watch it work, all on this machine
  outrider up                        start everything, database included
  outrider add https://example.com   follow a publisher, in another terminal
  outrider docs search "some words"  search what was gathered`,
    );
  for (const { load } of groups.filter((group) => isWanted(group, args))) (await load())(program);
  allowExcess(program);
  program.hook('preAction', (_self, command) => {
    refuseExcess(command);
    refuseEmpty(command);
    refuseServer(command);
  });
  return program;
}

/** Says what failed and what to do; only the unforeseen shows a stack. */
export function reportError(error: unknown): number {
  if (error instanceof AppError) {
    process.stderr.write(`error: ${error.message}\n`);
    if (error.advice !== undefined) process.stderr.write(`${error.advice}\n`);
    return error.exitCode;
  }
  // A restore that filled it is undone whole: trying again without more room would end the same way.
  if (isDiskFull(error)) {
    process.stderr.write(
      `error: the disk of the database is full: ${messageOf(error)}\nFree some room there, or give it a larger disk; what this command had begun in the database is undone.\n`,
    );
    return EXIT.diskFull;
  }
  // A server that restarts while a command or a role begins: nothing is wrong here, and the code says whom to blame.
  if (isPassing(error)) {
    process.stderr.write(
      `error: the database went away, is full, busy or read-only: ${messageOf(error)}\nTry again in a moment; "outrider doctor" looks closer.\n`,
    );
    return EXIT.database;
  }
  if (isForbidden(error)) {
    const { sentence, advice } = forbidden(error);
    process.stderr.write(`error: ${sentence}\n${advice}\n`);
    return EXIT.database;
  }
  process.stderr.write(`error: something unforeseen happened: ${messageOf(error)}\n`);
  if (error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
  return EXIT.failed;
}
