import { Command, CommanderError } from 'commander';
import { AppError, EXIT, messageOf } from '../errors/index.ts';
import { addAddCommand } from './commands/add.ts';
import { addChannelCommands } from './commands/channels.ts';
import { addConfigCommand } from './commands/config.ts';
import { addDatabaseCommands } from './commands/database.ts';
import { addDemoCommand } from './commands/demo.ts';
import { addDocsCommands } from './commands/docs.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addDomainCommands } from './commands/domains.ts';
import { addExtractCommand } from './commands/extract.ts';
import { addFrontierCommands } from './commands/frontier.ts';
import { addImageCommands } from './commands/images.ts';
import { addListCommands } from './commands/lists.ts';
import { addOperateCommands } from './commands/operate.ts';
import { addRoleCommands } from './commands/roles.ts';
import { addRunCommand } from './commands/run.ts';
import { addSinksCommands } from './commands/sinks.ts';
import { addSourceCommands } from './commands/sources.ts';
import { packageVersion } from './version.ts';

/** Runs the command line; answers the exit code. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = buildProgram();
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

function buildProgram(): Command {
  const program = new Command('outrider')
    .description('Feed-first, polite, crash-proof content ingestion.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .option('--config <file>', 'YAML file with settings')
    .option('--data <dir>', 'data directory of the embedded database')
    .option('--json', 'print JSON instead of text')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    // Commands inherit it, so it must be set before they are added.
    .configureHelp({ showGlobalOptions: true })
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
  addRoleCommands(program);
  addDemoCommand(program);
  addRunCommand(program);
  addAddCommand(program);
  addSourceCommands(program);
  addChannelCommands(program);
  addListCommands(program);
  addFrontierCommands(program);
  addDomainCommands(program);
  addOperateCommands(program);
  addExtractCommand(program);
  addDocsCommands(program);
  addSinksCommands(program);
  addImageCommands(program);
  addDatabaseCommands(program);
  addConfigCommand(program);
  addDoctorCommand(program);
  return program;
}

/** Says what failed and what to do; only the unforeseen shows a stack. */
export function reportError(error: unknown): number {
  if (error instanceof AppError) {
    process.stderr.write(`error: ${error.message}\n`);
    if (error.advice !== undefined) process.stderr.write(`${error.advice}\n`);
    return error.exitCode;
  }
  process.stderr.write(`error: something unforeseen happened: ${messageOf(error)}\n`);
  if (error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
  return EXIT.failed;
}
