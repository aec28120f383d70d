import type { Command } from 'commander';
import { type Config, databaseOptions, loadConfig } from '../../config/index.ts';
import { type Database, defaultDataDir, hasCluster, openDatabase } from '../../db/index.ts';
import type { Diagnosis, Finding } from '../../diagnose/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { type GlobalFlags, loadContext } from '../context.ts';
import { printJson, terminalWidth, wrapText } from '../output.ts';
import { paint } from '../style.ts';
import { packageVersion } from '../version.ts';

/** `doctor`. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('look at everything, say in words what is wrong and what to do; exit code 1 if something is')
    .action(async (_flags: object, command: Command) => {
      const flags = command.optsWithGlobals<GlobalFlags>();
      const { config, error } = settingsOf(command, flags);
      const { diagnose } = await import('../../diagnose/index.ts');
      let opened: Database | null = null;
      const diagnosis = await diagnose({
        config,
        configError: error,
        version: packageVersion(),
        open: async () => {
          opened = await openForLooking(config);
          return opened;
        },
      });
      if (flags.json) printJson(diagnosis);
      else process.stdout.write(renderDiagnosis(diagnosis, terminalWidth()));
      process.exitCode = diagnosis.state === 'fail' ? EXIT.failed : EXIT.ok;
      await closeSoon(opened);
    });
}

/** The settings; where they cannot be read, what is known without them, so that the rest can still be looked at. */
function settingsOf(command: Command, flags: GlobalFlags): { config: Config; error: AppError | null } {
  try {
    return { config: loadContext(command).loaded.config, error: null };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { DATABASE_URL, OUTRIDER_DATA_DIR } = process.env;
    const overrides = flags.data === undefined ? {} : { 'data.dir': flags.data };
    return { config: loadConfig({ env: { DATABASE_URL, OUTRIDER_DATA_DIR }, overrides }).config, error };
  }
}

// Nothing is made or migrated: a diagnosis changes nothing. An embedded server that is there is started, as every
// command does, because what is in it can be seen in no other way.
async function openForLooking(config: Config): Promise<Database | null> {
  if (config.database.url === null && !hasCluster(config.data.dir ?? defaultDataDir())) return null;
  return openDatabase({
    ...databaseOptions(config),
    maxConnections: 4,
    applicationName: 'outrider doctor',
    migrate: false,
  });
}

// A connection that hangs is one of the things this command is for; it must not keep the program from ending.
async function closeSoon(database: Database | null): Promise<void> {
  const timer = setTimeout(() => process.exit(process.exitCode), 5000);
  timer.unref();
  try {
    await database?.close();
  } finally {
    clearTimeout(timer);
  }
}

const marks = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** A diagnosis as a person reads it: a line per finding, advice below. */
export function renderDiagnosis({ findings }: Diagnosis, width: number): string {
  const named = Math.max(...findings.map((one) => one.name.length));
  const indent = ' '.repeat(4 + 2 + named + 2);
  const room = Math.max(20, Math.min(width, 110) - indent.length);
  const lines = findings.flatMap(({ name, state, sentence, advice }) => {
    const said = wrapText(sentence, room);
    const told =
      advice === null ? [] : wrapText(advice, room - 2).map((line, at) => (at === 0 ? '→ ' : '  ') + line);
    const [first = '', ...more] = [...said, ...told];
    const mark = paint(marks[state], state.padEnd(4));
    return [`${mark}  ${name.padEnd(named)}  ${first}`, ...more.map((line) => indent + line)];
  });
  return `${lines.join('\n')}\n\n${summaryOf(findings)}\n`;
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (state: Finding['state']): number => findings.filter((one) => one.state === state).length;
  const [broken, doubtful] = [count('fail'), count('warn')];
  if (broken + doubtful === 0) return `All ${findings.length} checks are well.`;
  const parts = [
    ...(broken === 0 ? [] : [`${broken} to mend`]),
    ...(doubtful === 0 ? [] : [`${doubtful} to look at`]),
  ];
  return `${parts.join(', ')}, of ${findings.length} checks.`;
}
