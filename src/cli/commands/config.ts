import type { Command } from 'commander';
import { type DumpLine, dumpConfig } from '../../config/index.ts';
import { loadContext } from '../context.ts';
import { printJson, printTable } from '../output.ts';
import { requireRoles } from '../require-roles.ts';

const roomForVariables = 120;

/** `config`: what is in force and where it came from. */
export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('show the settings in force, with secrets masked and the origin of each value')
    .option('--check', 'only say whether the configuration is valid')
    .option('--dump', 'list every setting (the default)')
    .action(async (flags: { check?: boolean }, command: Command) => {
      const { loaded, flags: globals } = loadContext(command);
      if (flags.check) {
        await requireRoles(loaded.config);
        if (globals.json) printJson({ valid: true });
        else process.stdout.write('The configuration is valid.\n');
        return;
      }
      const lines = dumpConfig(loaded);
      if (globals.json) return printJson(lines);
      const variables = { title: 'ENVIRONMENT', value: (row: DumpLine) => row.env };
      printTable(lines, [
        { title: 'SETTING', value: (row) => row.key },
        { title: 'VALUE', value: (row) => String(row.value ?? '') || '–', flexible: true },
        { title: 'FROM', value: (row) => row.origin },
        // A variable that is cut names nothing; narrow terminals have the reference page.
        ...((process.stdout.columns ?? Number.POSITIVE_INFINITY) < roomForVariables ? [] : [variables]),
      ]);
    });
}
