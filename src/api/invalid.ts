import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { oneLine, storable } from './schemas.ts';

// What a validator tells with `verbose`: the schema around the word that failed.
type Failure = FastifySchemaValidationError & {
  data?: unknown;
  parentSchema?: { properties?: Record<string, unknown>; description?: string };
};

const parts: Readonly<Record<string, string>> = {
  querystring: 'parameter',
  params: 'address',
  headers: 'header',
  body: 'field',
};

// More of them nobody reads.
const mostListed = 30;

/** What is wrong with a request, in words: which parameter or field it is about, and what it takes. */
export function sayInvalid(failures: readonly FastifySchemaValidationError[], part: string): Error {
  return new Error(wordsOf(failures as readonly Failure[], part) ?? `the ${part} is not as it must be`);
}

function wordsOf(failures: readonly Failure[], part: string): string | null {
  const failure = mostTelling(failures);
  if (failure === undefined) return null;
  const { keyword, params, instancePath, parentSchema, message = 'is not as it must be' } = failure;
  const path = instancePath.slice(1).replaceAll('/', '.');
  const kind = parts[part] ?? part;
  const here = path === '' ? `the ${part === 'body' ? 'body' : 'address'}` : placeOf(part, path);
  const under = path === '' ? '' : `${path}.`;
  switch (keyword) {
    case 'additionalProperties': {
      const known = Object.keys(parentSchema?.properties ?? {});
      const name = `${under}${String(params.additionalProperty)}`.slice(0, 100);
      const others = known.length === 0 || known.length > mostListed ? '' : `; there are ${listed(known)}`;
      return `there is no ${kind} "${name}"${others}`;
    }
    case 'required':
      return `the ${kind} "${under}${String(params.missingProperty)}" is missing`;
    case 'enum':
    case 'const':
      return `${here} must be one of ${listed(allowedAt(failures, instancePath))}`;
    case 'minLength':
      return params.limit === 1
        ? `${here} must not be empty`
        : `${here} must have ${String(params.limit)} characters or more`;
    case 'maxLength':
      return `${here} must not have more than ${String(params.limit)} characters`;
    case 'minItems':
      return params.limit === 1
        ? `${here} must not be empty`
        : `${here} must have ${String(params.limit)} items or more`;
    case 'maxItems':
      return `${here} must not have more than ${String(params.limit)} items`;
    case 'type':
      if (path === '' && failure.data === null) return `${here} is missing`;
      return `${here} must be of the type ${String(params.type).replaceAll(',', ' or ')}`;
    case 'pattern': {
      const about = parentSchema?.description;
      return `${here} ${patternWords(String(params.pattern)) ?? (about === undefined ? message : `${message} (${about})`)}`;
    }
    default:
      return `${here} ${message}`;
  }
}

/** What a pattern is about, for those that say it to nobody. */
function patternWords(pattern: string): string | null {
  if (pattern === oneLine) return 'must be one line without control characters';
  if (pattern === storable) return 'must not hold a NUL or half of a character';
  // Words with commas between them.
  const choice = /^\^\(([a-z0-9_|]+)\)\(,\(\1\)\)\{0,\d+\}\$$/.exec(pattern);
  return choice === null ? null : `takes, separated by commas, ${listed(choice[1]!.split('|'))}`;
}

const placeOf = (part: string, path: string): string =>
  part === 'params' ? `"${path}" in the address` : `the ${parts[part] ?? part} "${path}"`;

/**
 * Of a choice of schemas every one says why it is not it, and "must be null" says nothing to whoever gave a value: the
 * failure that lies deepest is about what was meant.
 */
function mostTelling(failures: readonly Failure[]): Failure | undefined {
  const depth = ({ instancePath }: Failure): number => instancePath.split('/').length;
  const rank = ({ keyword, params }: Failure): number =>
    keyword === 'anyOf' || keyword === 'oneOf' ? 2 : keyword === 'type' && params.type === 'null' ? 1 : 0;
  return failures.toSorted((a, b) => rank(a) - rank(b) || depth(b) - depth(a))[0];
}

const allowedAt = (failures: readonly Failure[], path: string): string[] =>
  failures
    .filter(({ instancePath }) => instancePath === path)
    .flatMap(({ keyword, params }) =>
      keyword === 'enum'
        ? (params.allowedValues as unknown[])
        : keyword === 'const'
          ? [params.allowedValue]
          : [],
    )
    .map(String);

const listed = (names: readonly string[]): string => names.join(', ');
