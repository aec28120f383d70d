/** Figures as people read them: a line for each, what belongs together under one name. */
export function tableOf(figures: object): string {
  const lines = linesOf(figures, 0);
  const widest = lines.reduce((most, [name]) => Math.max(most, name.length), 0);
  return lines.map(([name, value]) => `${name.padEnd(widest)}  ${value}`.trimEnd()).join('\n');
}

type Line = [name: string, value: string];

function linesOf(figures: object, depth: number): Line[] {
  const indent = '  '.repeat(depth);
  return Object.entries(figures).flatMap(([name, value]): Line[] => {
    if (typeof value !== 'object' || value === null) return [[indent + name, wordOf(value)]];
    const isFlat = Array.isArray(value) && value.every((one) => typeof one !== 'object' || one === null);
    if (isFlat) return [[indent + name, value.map(wordOf).join('  ')]];
    return [[indent + name, ''], ...linesOf(value, depth + 1)];
  });
}

const wordOf = (value: unknown): string =>
  typeof value === 'number'
    ? value.toLocaleString('en', { maximumSignificantDigits: 12 })
    : String(value ?? '–');
