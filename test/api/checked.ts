import { Ajv } from 'ajv';
import { expect } from 'vitest';
import type { ApiLab } from './lab.ts';

type Operation = {
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
};
type Description = { paths: Record<string, Record<string, Operation>> };

/** Asks as the lab does, and holds every answer against what the API says of itself; nothing may be a 5xx. */
export async function createChecked(lab: ApiLab): Promise<ApiLab['ask']> {
  const described = (await lab.ask('GET', '/api/v1/openapi.json')).body as Description;
  const ajv = new Ajv({ strict: false });
  const routes = Object.entries(described.paths).map(([path, operations]) => ({
    pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '([^/]+)')}$`),
    isExact: !path.includes('{'),
    operations,
  }));
  return async (method, path, body) => {
    const answered = await lab.ask(method, path, body);
    const name = `${method} ${path} -> ${answered.status} ${JSON.stringify(answered.body)?.slice(0, 500)}`;
    expect(answered.status, name).toBeLessThan(500);
    const plain = path.split('?')[0]!;
    const matching = routes.filter((route) => route.pattern.test(plain));
    const route = matching.find((one) => one.isExact) ?? matching[0];
    const responses = route?.operations[method.toLowerCase()]?.responses;
    if (responses === undefined) return answered;
    const response = responses[answered.status] ?? (answered.status >= 400 ? responses['4XX'] : undefined);
    expect(response, `${name} is not described`).toBeDefined();
    const schema = response?.content?.['application/json']?.schema;
    expect(schema, `${name} has no schema`).toBeDefined();
    const isValid = ajv.compile(schema!);
    expect(isValid(answered.body), `${name}: ${ajv.errorsText(isValid.errors)}`).toBe(true);
    return answered;
  };
}

/** Texts that break things: NUL, half a surrogate pair, long, markup, formula, injection. */
export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udc00x',
  "' OR 1=1 --",
  '"; DROP TABLE sources; --',
  '%',
  '\\',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '=cmd()',
  '__proto__',
  'constructor',
  'x'.repeat(5000),
  '\u202e\ufeff\u0301',
  '9999999999999999999999',
  '-1',
  'NaN',
  'null',
  'true',
  '1e400',
  '[]',
  '{}',
];

/** Values of every kind that no field expects. */
export const hostileValues: readonly unknown[] = [
  ...hostileTexts,
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  [],
  {},
  [[[]]],
  { a: { b: {} } },
  ['\u0000'],
];
