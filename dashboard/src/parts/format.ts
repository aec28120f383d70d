const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A number of things, in full up to 99,999 and shortened beyond. */
export const countText = (count: number): string =>
  Math.abs(count) < 100_000 ? whole.format(Math.round(count)) : short.format(count);

/** A count that may only be a lower bound. */
export const totalText = ({ count, exact }: { count: number; exact: boolean }): string =>
  `${countText(count)}${exact ? '' : ' or more'}`;

/** "1 page", "2 pages". */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;

/** A rate a person can read: two digits where it is small. */
export const rateText = (rate: number): string =>
  rate === 0 ? '0' : rate < 0.1 ? '<0.1' : rate < 10 ? rate.toFixed(1) : countText(rate);

/** A share in per cent. */
export const shareText = (share: number): string =>
  share > 0 && share < 0.01 ? '<1 %' : `${Math.round(share * 100)} %`;

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Bytes with the unit that fits. */
export function bytesText(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < byteUnits.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${byteUnits[unit]}`;
}

const spans = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** A span of time in its largest unit, with the next one where that says more. */
export function spanText(seconds: number): string {
  const whole = Math.abs(seconds);
  if (whole < 1) return `${Math.round(whole * 1000)} ms`;
  for (const [index, [unit, size]] of spans.entries()) {
    if (whole < size) continue;
    const count = Math.floor(whole / size);
    const next = spans[index + 1];
    const rest = next === undefined ? 0 : Math.floor((whole % size) / next[1]);
    return count < 10 && rest > 0 && next !== undefined
      ? `${count} ${unit} ${rest} ${next[0]}`
      : `${count} ${unit}`;
  }
  return `${whole < 10 ? Number(whole.toFixed(1)) : Math.round(whole)} s`;
}

/** A word of the API as people write it: `needs_render` → "needs render". */
export const wordsOf = (name: string): string =>
  name.replace(/_/g, ' ').replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
