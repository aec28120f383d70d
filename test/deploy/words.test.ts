import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { buildProgram } from '../../src/cli/program.ts';
import { unknownCommands, wrongPartOf } from './commands.ts';
import { filesBelow, manifest, problemsOfEnvironment, read, unknownVariables } from './files.ts';

// What stands in any file of deploy/, and in the guides about it.
const files = filesBelow('deploy');
const guides = ['deploying', 'backup', 'upgrading'].map((name) => `docs/guides/${name}.md`);
const isTemplate = (path: string): boolean => path.includes('/templates/');

test.each([...files, ...guides])('%s names only variables and commands that there are', async (path) => {
  const text = read(path);
  expect(unknownVariables(text)).toEqual([]);
  const program = await buildProgram();
  const calls = [...text.matchAll(/main\.js((?: +[a-z-]+| +"[a-z-]+")+)/g)].map((match) =>
    match[1]!.trim().split(/ +/),
  );
  for (const words of calls) expect(wrongPartOf(program, words)).toBeNull();
  // A folder, a user, a service and a release have the same name as the program.
  const prose = text
    .replace(/([/@=-]|skuid )outrider\b/g, '$1x')
    .replace(/\boutrider +(?=outrider\b)/g, '')
    .replace(/^.*(tar|kubectl create|helm install) .*$/gm, '');
  expect(unknownCommands(program, prose)).toEqual([]);
});

test.each(files)('%s can be read and holds no secret', (path) => {
  const text = read(path);
  if (/\.ya?ml$/.test(path) && !isTemplate(path))
    for (const document of parseAllDocuments(text, { merge: true })) expect(document.errors).toEqual([]);
  if (path.endsWith('.json')) expect(JSON.parse(text)).toBeTypeOf('object');
  expect(text).not.toMatch(/-----BEGIN [A-Z ]*PRIVATE KEY/);
  // Words in capitals and what a shell puts in are places for one.
  for (const [, password] of text.matchAll(/\/\/[a-z]+:([^@\s'"]+)@/g))
    expect(password).toMatch(/^([A-Z_]+|%s)$/);
  for (const [, value] of text.matchAll(
    /(?:password|secret|token|api_?key)["']?\s*[:=]\s*["']?([\w+/=-]{12,})/gi,
  ))
    expect(value, path).toMatch(/^([a-z]+-[a-z]+|\/[a-z/-]+)$/);
});

test.each(files)('%s has the version of the program and no address of a registry', (path) => {
  const text = read(path);
  for (const [, version] of text.matchAll(/\boutrider[:-](\d+\.\d+\.\d+)/g))
    expect(version).toBe(manifest.version);
  for (const [, image] of text.matchAll(/^\s*(?:image:|FROM)\s+["']?([^\s"'{$]+)/gm))
    expect(image!.split('/')[0], image).not.toMatch(/[.:].*\//);
  expect(text).not.toMatch(/\b(docker\.io|ghcr\.io|quay\.io|registry\.)/);
});

test('every kind of file is one that is looked at', () => {
  const known = /(\.(yml|yaml|json|service|timer|conf|sysusers|sh|tpl)|\/(Dockerfile|NOTES\.txt))$/;
  expect(files.filter((path) => !known.test(path))).toEqual([]);
  expect(files.length).toBeGreaterThan(20);
});

test('the checks see what is wrong', async () => {
  expect(unknownVariables('OUTRIDER_FETCH_DELAY DATABASE_URL_FILE LOG_LEVEL OUTRIDER_API_PORT_FILE')).toEqual(
    ['OUTRIDER_FETCH_DELAY', 'OUTRIDER_API_PORT_FILE'],
  );
  expect(
    problemsOfEnvironment({ OUTRIDER_API_PORT: 'x', AUTH_JWT_SECRET: 'y', LOG_FORMAT: 'json' }),
  ).toHaveLength(2);
  expect(
    problemsOfEnvironment({ AUTH_JWT_SECRET: `\${AUTH_JWT_SECRET:-}`, DATABASE_URL_FILE: '/run/x' }),
  ).toEqual([]);
  expect(wrongPartOf(await buildProgram(), ['fetch', '--health-prot'])).toBe('outrider fetch --health-prot');
});
