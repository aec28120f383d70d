import type { Publisher } from '../../publisher.ts';
import type { Random } from '../../random.ts';

/** Writes the names and numbers that theme authors, bundlers and trackers put into a page. */
export interface Naming {
  /** Value of a class attribute for a component and one of its parts. */
  classes(component: string, part: string): string;
  /** Attributes nobody but the site's own scripts read. */
  data(component: string, position: number): string;
  /** A short name as a bundler makes them. */
  short(): string;
  /** Lower-case letters and digits, as in build numbers and keys. */
  hash(length: number): string;
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const utilities =
  'flex grid items-center justify-between md:flex-row lg:w-1/3 px-4 py-2 mt-6 mb-3 text-sm text-gray-700 hover:underline focus-visible:ring-2 dark:text-gray-200 sm:col-span-2 font-semibold leading-snug tracking-tight'.split(
    ' ',
  );
// Elements of a kind that are written differently.
const ODD_SHARE = 0.4;
const breakpoints = ['tablet', 'desktop', 'wide'];

/** Publishers write class names in one of three ways: blocks and elements, modules with hashes, utilities. */
export function createNaming(publisher: Publisher, random: Random): Naming {
  const hash = (length: number): string => {
    let text = '';
    for (let i = 0; i < length; i++) text += letters[random.int(letters.length)];
    return text;
  };
  const hashes = new Map<string, string>();
  const moduleOf = (component: string): string => {
    let known = hashes.get(component);
    if (known === undefined) {
      known = `${component.charAt(0).toUpperCase()}${component.slice(1)}_${hash(5)}`;
      hashes.set(component, known);
    }
    return known;
  };
  const write = (component: string, part: string): string => {
    switch (publisher.index % 3) {
      case 0:
        return `c-${component}__${part} c-${component}__${part}--${random.pick(['compact', 'wide'])} u-mt-${random.int(5)}@${random.pick(breakpoints)}`;
      case 1:
        return `${moduleOf(component)}__${part} ${moduleOf(`${component}-${part}`)}`;
      default:
        return `${component}-${part} ${random.pick(utilities)} ${random.pick(utilities)} ${random.pick(utilities)}`;
    }
  };
  // A theme writes the same on every item of a list but for the odd one: on real pages a third of the values differ.
  const usual = new Map<string, string>();
  const classes = (component: string, part: string): string => {
    const key = `${component} ${part}`;
    const value = usual.get(key) ?? write(component, part);
    usual.set(key, value);
    return random.next() < ODD_SHARE ? write(component, part) : value;
  };
  return {
    classes,
    hash,
    short: () => letters[random.int(26)]! + (random.next() < 0.4 ? letters[random.int(26)] : ''),
    data: (component, position) =>
      publisher.index % 2 === 0
        ? `data-${component}="${hash(6)}" data-position="${position}"`
        : `data-track='{"c":"${component}","p":${position},"k":"${hash(6)}"}'`,
  };
}

/** Repeats a part until the bytes are filled, or nearly: a part is never cut, and the last one left out when it is more than half too much. */
export function fillBytes(bytes: number, part: (position: number) => string): string {
  let text = '';
  let left = bytes;
  for (let position = 0; ; position++) {
    const one = part(position);
    const size = Buffer.byteLength(one);
    if (left < size / 2) return text;
    text += one;
    left -= size;
  }
}
