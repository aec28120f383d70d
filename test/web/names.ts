import { type Language, lexicons } from './lexicon/index.ts';
import { slugOf } from './paths.ts';
import { hashOf } from './random.ts';

/** Names no two publishers share: drawn from the language's parts, numbered when they run out. */
export function createNamer(seed: number): (language: Language) => { title: string; domain: string } {
  const taken = new Set<string>();
  const drawn = new Map<Language, number>();
  return (language) => {
    const { first, second } = lexicons[language].names;
    const total = first.length * second.length;
    const nth = drawn.get(language) ?? 0;
    drawn.set(language, nth + 1);
    // A step that shares no divisor with the total visits every pair once, in an order only the seed knows.
    const step = coprimeStep(total, hashOf(seed, language, 'names'));
    const at = ((nth % total) * step + (hashOf(seed, language) % total)) % total;
    const joint = language === 'sv' || language === 'de' ? '' : ' ';
    const title = `${first[Math.floor(at / second.length)]}${joint === '' ? '-' : ' '}${second[at % second.length]}`;
    const round = Math.floor(nth / total);
    const numbered = round === 0 ? title : `${title} ${round + 1}`;
    let domain = `${slugOf(numbered)}.test`;
    for (let i = 2; taken.has(domain); i++) domain = `${slugOf(numbered)}-${language}${i}.test`;
    taken.add(domain);
    return { title: numbered, domain };
  };
}

function coprimeStep(total: number, wish: number): number {
  let step = 1 + (wish % (total - 1));
  while (divisor(step, total) !== 1) step += 1;
  return step;
}

function divisor(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}
