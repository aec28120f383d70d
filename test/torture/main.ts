import { randomInt } from 'node:crypto';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { UsageError } from '../../bench/options.ts';
import { faults } from './faults.ts';
import { foundStorms } from './found.ts';
import { type TortureResult, torture } from './run.ts';
import { strikeStages } from './stage.ts';

const help = `npm run torture -- [options]

Runs the whole product as real processes on a simulated web, breaks everything that can break, and then
holds eleven promises against the ground truth. Nothing leaves this machine.

  --seconds N      how long the storm lasts (60); waiting for quiet afterwards comes on top
  --seed S         which storm (random; printed)
  --publishers N   how many publishers (24)
  --fetchers N     how many fetchers (3), beside two schedulers and the API
  --every MS       mean time between two faults (3000)
  --only A,B       only these faults
  --found          every storm that once found something, one after the other
  --list           name the faults and end
  --keep           keep logs and files even if all is well
  --json           one JSON object on the last line
`;

function readValues() {
  try {
    return parseArgs({
      options: {
        seconds: { type: 'string', default: '60' },
        seed: { type: 'string' },
        publishers: { type: 'string', default: '24' },
        fetchers: { type: 'string', default: '3' },
        every: { type: 'string', default: '3000' },
        only: { type: 'string', default: '' },
        found: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${help}`);
  }
}

async function main(): Promise<void> {
  const values = readValues();
  if (values.help) return void process.stdout.write(help);
  if (values.list)
    return void process.stdout.write(faults.map((one) => `${one.name.padEnd(20)} ${one.says}\n`).join(''));
  const only = values.only.split(',').filter((name) => name !== '');
  const unknown = only.filter((name) => !faults.some((fault) => fault.name === name));
  if (unknown.length > 0) throw new UsageError(`there is no fault called ${unknown.join(', ')}; see --list`);
  const seed = values.seed === undefined ? randomInt(1, 2 ** 31) : numberOf('seed', values.seed);
  const storms: readonly { seed: number; seconds: number }[] = values.found
    ? foundStorms
    : [{ seed, seconds: numberOf('seconds', values.seconds) }];
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void strikeStages().finally(() => process.exit(130)));
  let ok = true;
  for (const storm of storms) {
    say(`torture with seed ${storm.seed}; load ${loadavg()[0]!.toFixed(1)}`);
    const result = await torture({
      ...storm,
      publishers: numberOf('publishers', values.publishers),
      fetchers: numberOf('fetchers', values.fetchers),
      everyMs: numberOf('every', values.every),
      only,
      keep: values.keep,
      say,
    });
    ok &&= result.ok;
    process.stdout.write(tableOf(result));
    if (values.json) process.stdout.write(`${JSON.stringify({ ...result, load: loadavg() })}\n`);
  }
  process.exit(ok ? 0 : 1);
}

const say = (words: string): void => void process.stderr.write(`${words}\n`);

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number < 0) throw new UsageError(`--${name} takes a number, not "${text}"`);
  return number;
}

function tableOf(result: TortureResult): string {
  const lines = result.verdicts.map(({ number, promise, problems }) => {
    const name = number === 0 ? '    ' : `(${number})`.padStart(4);
    const detail = problems
      .map((problem) => `\n          ${problem.replaceAll('\n', '\n          ')}`)
      .join('');
    return `  ${problems.length === 0 ? 'holds ' : 'BROKEN'} ${name} ${promise}${detail}`;
  });
  const { kills } = result;
  const struck = Object.values(result.faults).reduce((sum, count) => sum + count, 0);
  return `
${lines.join('\n')}

  ${struck} faults of ${Object.keys(result.faults).length} kinds, ${result.requests} requests, ${result.documents} documents, ${result.staleSettles} requests settled too late
  ${kills.leases} leases of killed fetchers were taken over, the slowest after ${kills.longestMs} ms (${kills.mostMs} allowed); for ${Math.round(result.ableShare * 100)} % of the time somebody could
  seed ${result.seed}: ${result.ok ? 'every promise holds' : `broken; logs are in ${result.home}`}
`;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  say(error.message);
  process.exitCode = 2;
}
