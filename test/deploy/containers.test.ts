import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { listSettings } from '../../src/config/settings.ts';
import { wrongPartOf } from './commands.ts';
import {
  manifest,
  megabytes,
  problemsOfEnvironment,
  read,
  readYaml,
  root,
  seconds,
  toldMemory,
} from './files.ts';

const defaultOf = (key: string): unknown => listSettings().find((one) => one.key === key)!.default;
const graceSeconds = defaultOf('up.grace_seconds') as number;
const dockerfile = read('deploy/docker/Dockerfile').replace(/\\\n/g, ' ');
const instructions = dockerfile.split('\n').flatMap((line) => {
  const match = /^([A-Z]+) +(.*)$/.exec(line.trim());
  return match === null ? [] : [{ name: match[1]!, value: match[2]! }];
});
const valuesOf = (name: string): string[] =>
  instructions.filter((one) => one.name === name).map((one) => one.value);
const uid = /useradd --uid (\d+)/.exec(dockerfile)![1]!;

describe('the image', () => {
  test('stands on a Node that the program runs on, and on glibc', () => {
    const [major, minor] = /^ARG NODE=(\d+)(?:\.(\d+))?-bookworm-slim$/m
      .exec(dockerfile)!
      .slice(1)
      .map(Number);
    const [leastMajor, leastMinor] = />=(\d+)\.(\d+)/.exec(manifest.engines.node)!.slice(1).map(Number);
    expect(major! > leastMajor! || (major === leastMajor && minor! >= leastMinor!)).toBe(true);
    expect(dockerfile).not.toMatch(/^FROM .*(alpine|musl)/m);
  });

  test('is built in steps, installs from the lock file, and leaves development packages behind', () => {
    const froms = valuesOf('FROM');
    expect(froms.length).toBeGreaterThanOrEqual(3);
    expect(valuesOf('RUN').filter((run) => /npm (install|i)\b/.test(run))).toEqual([]);
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last).not.toContain('npm ');
    expect(last).toContain('COPY --from=packages /app/node_modules');
    expect(dockerfile).toContain('npm ci --omit=dev');
  });

  test('copies what is there and what .dockerignore lets through', () => {
    const let_ = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const sources = valuesOf('COPY')
      .filter((copy) => !copy.startsWith('--from'))
      .flatMap((copy) => copy.split(' ').slice(0, -1))
      .filter((source) => source !== '.');
    expect(sources.length).toBeGreaterThan(5);
    for (const source of sources) {
      expect(existsSync(join(root, source)), source).toBe(true);
      expect(
        let_.some((one) => source === one || source.startsWith(`${one}/`)),
        source,
      ).toBe(true);
    }
    for (const one of let_) expect(existsSync(join(root, one)), one).toBe(true);
  });

  test('is nobody, by a number, and starts the program itself', async () => {
    expect(valuesOf('USER')).toEqual([`${uid}:${uid}`]);
    const program = await buildProgram();
    const entry = JSON.parse(valuesOf('ENTRYPOINT')[0]!) as string[];
    expect(entry).toEqual(['node', '/app/dist/src/cli/main.js']);
    expect(wrongPartOf(program, JSON.parse(valuesOf('CMD')[0]!) as string[])).toBeNull();
    const check = /CMD (\[.*\])$/.exec(valuesOf('HEALTHCHECK')[0]!)![1]!;
    expect(wrongPartOf(program, (JSON.parse(check) as string[]).slice(entry.length))).toBeNull();
    expect(valuesOf('EXPOSE')[0]!.split(' ')).toContain(String(defaultOf('api.port')));
  });

  test('has settings that there are, and none that is a secret', () => {
    const environment = Object.fromEntries(
      [
        ...valuesOf('ENV')
          .join(' ')
          .matchAll(/(\w+)=(\S+)/g),
      ].map((match) => [match[1]!, match[2]!]),
    );
    expect(environment.OUTRIDER_DATA_DIR).toBe(valuesOf('VOLUME')[0]);
    expect(problemsOfEnvironment(environment)).toEqual([]);
  });
});

type Service = {
  image: string;
  user?: string;
  command?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  ports?: string[];
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  mem_limit?: string;
  stop_grace_period?: string;
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
};
type Compose = { services: Record<string, Service>; secrets: Record<string, { file: string }> };
const composeFiles = ['single', 'distributed'].map((name) => `deploy/compose/${name}.yml`);
const services = composeFiles.flatMap((path) =>
  Object.entries(readYaml<Compose>(path).services).map(([name, service]) => ({ path, name, service })),
);

describe.each(services)('$path: $name', ({ path, name, service }) => {
  const isOurs = service.image.startsWith('outrider:');

  test('may do little, has bounds, is looked after and given time to stop', () => {
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toContain('no-new-privileges:true');
    expect(service.read_only === true || name === 'opensearch').toBe(true);
    expect(megabytes(service.mem_limit!)).toBeGreaterThan(0);
    expect(seconds(service.stop_grace_period!)).toBeGreaterThan(graceSeconds);
    expect(service.healthcheck!.test[0]).toBe('CMD');
    // What is open to the world is a choice of the operator's.
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test.runIf(isOurs)('calls what there is, with settings that there are', async () => {
    const program = await buildProgram();
    expect(wrongPartOf(program, service.command!)).toBeNull();
    const [cmd, word, ...check] = service.healthcheck!.test;
    expect([cmd, word]).toEqual(['CMD', 'outrider']);
    expect(wrongPartOf(program, check)).toBeNull();
    expect(problemsOfEnvironment(service.environment!)).toEqual([]);
    const role = service.command![0]!;
    expect(megabytes(service.mem_limit!)).toBeGreaterThanOrEqual(toldMemory()[role]!);
    const port =
      role === 'up' || role === 'serve'
        ? defaultOf('api.port')
        : Number(service.environment!.OUTRIDER_HEALTH_PORT);
    expect(port).toBeGreaterThan(0);
    for (const [, owner] of (service.tmpfs ?? []).join(' ').matchAll(/\/data:uid=(\d+)/g))
      expect(owner).toBe(uid);
  });

  test('its secrets are files that the file names', () => {
    const named = Object.keys(readYaml<Compose>(path).secrets);
    expect((service.secrets ?? []).filter((one) => !named.includes(one))).toEqual([]);
    for (const [variable, value] of Object.entries(service.environment ?? {}))
      if (variable.endsWith('_FILE')) expect(service.secrets).toContain(value.replace('/run/secrets/', ''));
  });

  test.runIf(isOurs && path.includes('distributed'))('waits for its database', () => {
    expect(service.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
  });
});

test('compose brings a PostgreSQL that is new enough, and every role', () => {
  const { services: all } = readYaml<Compose>('deploy/compose/distributed.yml');
  expect(Number(/^postgres:(\d+)/.exec(all.postgres!.image)![1])).toBeGreaterThanOrEqual(15);
  expect(
    Object.values(all)
      .flatMap((one) => (one.image.startsWith('outrider') ? [one.command![0]] : []))
      .sort(),
  ).toEqual(['fetch', 'schedule', 'serve']);
});
