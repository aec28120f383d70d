import type { Command } from 'commander';
import type { WorkerState } from '../../domains/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { type SwitchName, type SwitchState, switchNames } from '../../switches/index.ts';
import { type Json, withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { onOff } from '../operator.ts';
import { printJson, printTable, relativeTime } from '../output.ts';

type Flags = { reason?: string };

/** `workers`, `switch`. */
export function addOperateCommands(program: Command): void {
  program
    .command('workers')
    .description('list processes with the domains they hold and when the first lease ends')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const { items: workers } = await withApi(context, (api) =>
        api.get<{ items: Json<WorkerState>[] }>('/api/v1/workers'),
      );
      if (context.flags.json) return printJson(workers);
      if (workers.length === 0)
        return void process.stdout.write('Nothing runs. Start everything with: outrider up\n');
      printTable(workers, [
        { title: 'ID', value: (row) => row.id, flexible: true },
        { title: 'ROLE', value: (row) => row.role ?? 'unknown' },
        { title: 'HOST', value: (row) => row.host ?? '–', flexible: true },
        { title: 'PID', value: (row) => String(row.pid ?? '–'), align: 'right' },
        { title: 'VERSION', value: (row) => row.version ?? '–' },
        {
          title: 'LEASES',
          value: (row) => (row.expired === 0 ? String(row.leases) : `${row.leases} (${row.expired} expired)`),
          align: 'right',
        },
        { title: 'FIRST ENDS', value: (row) => relativeTime(row.earliestExpiry) },
        {
          title: 'LAST SEEN',
          value: (row) =>
            row.isAlive ? relativeTime(row.heartbeatAt) : `${relativeTime(row.heartbeatAt)}, silent`,
        },
      ]);
    });
  program
    .command('switch [name] [on|off]')
    .description('list what can be switched off while everything runs, or switch it')
    .option('--reason <words>', 'why; it is kept for good')
    .action(async (name: string | undefined, state: string | undefined, flags: Flags, command: Command) => {
      const chosen = name === undefined ? null : switchOf(name);
      const isOn = state === undefined ? null : onOff(state);
      if (flags.reason !== undefined && isOn === null)
        throw new AppError('usage', '--reason says why something is switched', {
          exitCode: EXIT.usage,
          advice: 'Name the switch and how it shall stand: outrider switch fetching off --reason "…"',
        });
      const context = loadContext(command);
      const rows = await withApi(context, async (api) => {
        if (chosen !== null && isOn !== null)
          return [
            await api.put<Json<SwitchState>>(`/api/v1/switches/${chosen}`, {
              on: isOn,
              reason: flags.reason,
            }),
          ];
        const { items } = await api.get<{ items: Json<SwitchState>[] }>('/api/v1/switches');
        return items.filter((one) => chosen === null || one.name === chosen);
      });
      if (context.flags.json) return printJson(rows);
      printTable(rows, [
        { title: 'SWITCH', value: (row) => row.name },
        { title: 'STATE', value: (row) => (row.on ? 'on' : 'OFF') },
        { title: 'CHANGED', value: (row) => relativeTime(row.changedAt) },
        { title: 'BY', value: (row) => row.changedBy ?? '–', flexible: true },
      ]);
    });
}

function switchOf(name: string): SwitchName {
  const found = switchNames.find((one) => one === name.replaceAll('-', '_'));
  if (found !== undefined) return found;
  throw new AppError('usage', `there is no switch "${name}"`, {
    exitCode: EXIT.usage,
    advice: `Known: ${switchNames.join(', ')}.`,
  });
}
