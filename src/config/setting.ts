import { isIP } from 'node:net';

/** One configurable value: how it is written, read and described. */
export type Setting<T> = {
  /** Environment variable; derived from the path unless a conventional name exists. */
  env?: string;
  description: string;
  default: T;
  secret?: boolean;
  /** How the value is written, shown in the reference: "whole number 1–65535". */
  form: string;
  /** Reads a value from text (environment) or YAML; throws an Error whose message completes "must be …". */
  parse: (value: unknown) => T;
};

type Options<T> = { default: T; description: string; env?: string; secret?: boolean };

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Error('a single value');
}

/** A whole number within bounds. */
export function integer(options: Options<number> & { min: number; max: number }): Setting<number> {
  const { min, max, ...rest } = options;
  const form = `whole number ${min}–${max}`;
  return {
    ...rest,
    form,
    parse: (value) => {
      const text = asText(value).trim();
      const number = Number(text);
      if (!/^-?\d+$/.test(text) || number < min || number > max) throw new Error(`a ${form}`);
      return number;
    },
  };
}

/** Free text; an empty value means "not set". */
export function text(options: Options<string | null>): Setting<string | null> {
  return { ...options, form: 'text', parse: (value) => asText(value).trim() || null };
}

/** What may stand in a header: other characters make a request that cannot be sent, whoever it is for. */
export const headerWords = { test: (one: string) => /^[\x20-\x7e]+$/.test(one), form: 'text in ASCII' };

/** Text that stands in a header of requests; an empty value means "not set". */
export function headerText(options: Options<string | null>): Setting<string | null> {
  const { test, form } = headerWords;
  return {
    ...options,
    form,
    parse: (value) => {
      const text = asText(value).trim();
      if (text !== '' && !test(text)) throw new Error(`a ${form}`);
      return text || null;
    },
  };
}

/** An IP address; an empty value means "not set". */
export function ipAddress(options: Options<string | null>): Setting<string | null> {
  const form = 'IP address';
  return {
    ...options,
    form,
    parse: (value) => {
      const text = asText(value).trim();
      if (text !== '' && isIP(text) === 0) throw new Error(`an ${form}`);
      return text || null;
    },
  };
}

/** A secret that is too long to be guessed; an empty value means "not set". */
export function secretText(
  options: Omit<Options<string | null>, 'secret'> & { minBytes: number },
): Setting<string | null> {
  const { minBytes, ...rest } = options;
  const form = `text of at least ${minBytes} bytes`;
  return {
    ...rest,
    secret: true,
    form,
    parse: (value) => {
      const text = asText(value).trim();
      if (text === '') return null;
      if (Buffer.byteLength(text) < minBytes) throw new Error(`a ${form}`);
      return text;
    },
  };
}

/** An http(s) address that paths are added to, without its last slash; an empty value means "not set". */
export function webAddress(options: Options<string | null>): Setting<string | null> {
  const form = 'http(s) address';
  return {
    ...options,
    form,
    parse: (value) => {
      const text = asText(value).trim();
      if (text === '') return null;
      const url = URL.canParse(text) ? new URL(text) : null;
      if (url === null || !/^https?:$/.test(url.protocol)) throw new Error(`an ${form}`);
      // Paths are added behind it, and hubs would pass a password on.
      if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
        throw new Error(`an ${form} without user, query and fragment`);
      return url.href.replace(/\/+$/, '');
    },
  };
}

/** The address of a service of the operator's; a user, a password and a query may stand in it. Empty means "not set". */
export function serviceAddress(options: Options<string | null>): Setting<string | null> {
  const form = 'http(s) address';
  return {
    ...options,
    form,
    parse: (value) => {
      const text = asText(value).trim();
      if (text === '') return null;
      if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw new Error(`an ${form}`);
      return text;
    },
  };
}

/** Free text that always has a value. */
export function requiredText(options: Options<string>): Setting<string> {
  return {
    ...options,
    form: 'text',
    parse: (value) => {
      const trimmed = asText(value).trim();
      if (trimmed === '') throw new Error('not empty');
      return trimmed;
    },
  };
}

/** The name rules of robots.txt address a crawler by (RFC 9309 section 2.2.1); rules for any other are never found. */
export const productToken = (options: Options<string>): Setting<string> =>
  word(options, /^[a-zA-Z_-]+$/, 'name of letters, _ and -');

/** A short name of a-z, 0-9, - and _, as groups of fetchers have: another spelling of one would be a group of its own. */
export const shortName = (options: Options<string>): Setting<string> =>
  word(options, /^[a-z0-9_-]{1,40}$/, 'short name of a-z, 0-9, - and _');

function word(options: Options<string>, pattern: RegExp, form: string): Setting<string> {
  return {
    ...options,
    form,
    parse: (value) => {
      const trimmed = asText(value).trim();
      if (!pattern.test(trimmed)) throw new Error(`a ${form}`);
      return trimmed;
    },
  };
}

/** One of a few words. */
export function choice<const C extends string>(
  options: Options<NoInfer<C>> & { choices: readonly C[] },
): Setting<C> {
  const { choices, ...rest } = options;
  const form = choices.join(' | ');
  return {
    ...rest,
    form,
    parse: (value) => {
      const word = asText(value).trim().toLowerCase();
      const match = choices.find((one) => one === word);
      if (match === undefined) throw new Error(`one of ${form}`);
      return match;
    },
  };
}

/** Several values: comma-separated in the environment, a list in YAML. */
export function list(
  options: Options<readonly string[]> & { item?: { test: (one: string) => boolean; form: string } },
): Setting<readonly string[]> {
  const { item, ...rest } = options;
  return {
    ...rest,
    form: `list of ${item?.form ?? 'text'}`,
    parse: (value) => {
      const parts = Array.isArray(value) ? value.map(asText) : asText(value).split(',');
      const values = parts.map((part) => part.trim()).filter((part) => part !== '');
      const bad = values.find((one) => item !== undefined && !item.test(one));
      if (bad === undefined) return values;
      // A slip in the scheme of a proxy must not bring its password into a log.
      const which = rest.secret ? `number ${values.indexOf(bad) + 1}` : `"${bad}"`;
      throw new Error(`a list of ${item?.form} (${which} is not one)`);
    },
  };
}
