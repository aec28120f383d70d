import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decideRobots, parseRobots, type Robots } from '../../src/robots/index.ts';
import { attempt, loadJson, type Part, type PartOptions } from './part.ts';

type RobotsCase = {
  robots?: string;
  robotsBase64?: string;
  file?: string;
  agent: string;
  url: string;
  allowed: boolean;
  test?: string;
};
type Score = { cases: number; right: number; wrongAllow: number };

/** robots.txt: Google's cases, real files, and the escapes of RFC 9309. */
export const robots: Part = {
  name: 'robots',
  async run(corpusDir, options) {
    const folder = join(corpusDir, 'formats', 'robots');
    const scores: Record<string, object> = {};
    for (const [name, file] of [
      ['robots', 'expectations.json'],
      ['robotsReal', 'real-expectations.json'],
      ['robotsEscapes', 'rfc9309-escapes.json'],
    ] as const) {
      const cases = loadJson<RobotsCase[]>(folder, file);
      if (cases === null) continue;
      options.progress(`${name}: ${cases.length} cases`);
      const score = await scoreCases(name, folder, cases, options);
      scores[name] = name === 'robotsEscapes' ? { cases: score.cases, right: score.right } : score;
    }
    return Object.keys(scores).length === 0 ? null : scores;
  },
};

async function scoreCases(
  part: string,
  folder: string,
  cases: readonly RobotsCase[],
  options: PartOptions,
): Promise<Score> {
  const score = { cases: cases.length, right: 0, wrongAllow: 0 };
  const files = new Map<string, Robots>();
  for (const one of cases) {
    const expected = expectedOf(one);
    const result = await attempt(() => decideRobots(load(folder, one, files), one.agent, one.url));
    if ('value' in result && result.value.allowed === expected) {
      score.right += 1;
      continue;
    }
    if ('value' in result && result.value.allowed) score.wrongAllow += 1;
    const name = `${one.file ?? one.test ?? ''} agent=${one.agent} url=${one.url}`;
    options.fail({ part, case: name, expected, got: 'value' in result ? result.value : result.threw });
  }
  return score;
}

/** RFC 9309 section 2.2.2: `/robots.txt` is always allowed. Google's matcher, which made the cases, does not know it. */
function expectedOf(one: RobotsCase): boolean {
  return one.allowed || /^https?:\/\/[^/?#]+\/robots\.txt$/.test(one.url);
}

function load(folder: string, one: RobotsCase, files: Map<string, Robots>): Robots {
  if (one.robots !== undefined) return parseRobots(Buffer.from(one.robots, 'utf8'));
  if (one.file === undefined) return parseRobots(Buffer.from(one.robotsBase64 ?? '', 'base64'));
  let parsed = files.get(one.file);
  if (parsed === undefined) {
    parsed = parseRobots(readFileSync(join(folder, one.file)));
    files.set(one.file, parsed);
  }
  return parsed;
}
