import fc from 'fast-check';
import type { Random } from '../../web/random.ts';

/** As much of JSON Schema as the routes use. */
export type Schema = {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
};

const awkwardTexts = [
  '',
  ' ',
  'a',
  '0',
  '-1',
  'null',
  'true',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '\u202e\u200b',
  "'",
  "'; DROP TABLE sources; --",
  '"><script>alert(1)</script>',
  '%',
  '%00',
  '%25',
  '\\',
  '../../../etc/passwd',
  '1e309',
  'NaN',
  '9223372036854775807',
  '9223372036854775808',
  '99999999999999999999999999',
  '2026-02-30',
  '0000-01-01',
  '275760-09-13',
  '-271821-04-20T00:00:00Z',
  'http://127.0.0.1/',
  'http://[::1]/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https://example.com/a?b=c#d',
  'https://例え.テスト/パス',
  'e\u0301'.repeat(40),
  'x'.repeat(3000),
  '__proto__',
  'constructor',
  '{"a":1}',
  'eyJhIjoxfQ',
  '(a+)+$',
  '日本語',
];
const awkwardNumbers = [
  0,
  -0,
  1,
  -1,
  0.5,
  1e21,
  -1e21,
  1e308,
  2 ** 31,
  2 ** 31 - 1,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 63,
  5e-324,
];

const matching = new Map<string, readonly string[]>();
const textsOf = (pattern: string): readonly string[] => {
  let known = matching.get(pattern);
  if (known === undefined) {
    known = fc.sample(fc.stringMatching(new RegExp(pattern)), { numRuns: 50, seed: 7 });
    matching.set(pattern, known);
  }
  return known;
};

function text(schema: Schema, random: Random): string {
  if (schema.pattern !== undefined) return random.pick(textsOf(schema.pattern));
  const fitting = awkwardTexts.filter(
    (one) => one.length >= (schema.minLength ?? 0) && one.length <= (schema.maxLength ?? 1e9),
  );
  if (fitting.length > 0 && random.next() < 0.7) return random.pick(fitting);
  const length = (schema.minLength ?? 0) + random.int(12);
  return Array.from({ length }, () => String.fromCharCode(random.int(random.next() < 0.9 ? 128 : 65_536)))
    .join('')
    .slice(0, schema.maxLength);
}

function number(schema: Schema, random: Random, whole: boolean): number {
  const [least, most] = [schema.minimum ?? -1e9, schema.maximum ?? 1e9];
  const drawn = random.pick([least, most, least + random.next() * (most - least)]);
  return whole ? Math.trunc(drawn) : drawn;
}

/** A value the schema allows. */
export function valid(schema: Schema, random: Random, depth = 0): unknown {
  if ('const' in schema) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return valid(random.pick(choices), random, depth + 1);
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
  switch (type) {
    case 'string':
      return text(schema, random);
    case 'integer':
      return number(schema, random, true);
    case 'number':
      return number(schema, random, false);
    case 'boolean':
      return random.next() < 0.5;
    case 'null':
      return null;
    case 'array': {
      const most = Math.min(schema.maxItems ?? 5, (schema.minItems ?? 0) + 5);
      const length = Math.max(schema.minItems ?? 0, random.int(most + 1));
      return Array.from({ length }, () => valid(schema.items ?? {}, random, depth + 1));
    }
    case 'object':
      return object(schema, random, depth);
    default:
      return random.pick([null, 1, 'text', true, [], {}]);
  }
}

function object(schema: Schema, random: Random, depth: number): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(schema.properties ?? {}))
    if (schema.required?.includes(name) || random.next() < 0.4) made[name] = valid(one, random, depth + 1);
  for (const [pattern, one] of Object.entries(schema.patternProperties ?? {}))
    for (let n = random.int(3); n > 0; n -= 1)
      made[random.pick(textsOf(pattern))] = valid(one, random, depth + 1);
  return made;
}

/** A value that the schema may or may not allow: of another type, out of its bounds, or hostile. */
export function hostile(schema: Schema, random: Random): unknown {
  switch (random.int(8)) {
    case 0:
      return random.pick(awkwardTexts);
    case 1:
      return random.pick(awkwardNumbers);
    case 2:
      return random.pick([null, true, [], {}, [[]], { a: { b: {} } }]);
    case 3:
      return JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`);
    case 4:
      return JSON.parse('{"__proto__":{"role":"admin"},"constructor":{"prototype":1}}');
    case 5: {
      const made = valid(schema, random);
      if (typeof made !== 'object' || made === null || Array.isArray(made)) return [made];
      return { ...made, [random.pick(['extra', '__proto__', 'limit', 'id'])]: random.pick(awkwardTexts) };
    }
    default: {
      // One field wrong and the rest right reaches furthest.
      const made = valid(schema, random);
      if (typeof made !== 'object' || made === null || Array.isArray(made)) return random.pick(awkwardTexts);
      const names = Object.keys(schema.properties ?? {});
      if (names.length === 0) return made;
      const name = random.pick(names);
      return { ...made, [name]: random.pick([...awkwardTexts, ...awkwardNumbers, null, [], {}]) };
    }
  }
}
