import { describe, expect, it } from 'vitest';
import { formulaAt } from './formulas.ts';
import { nextNode } from './node.ts';
import { parsePage } from './parse-page.ts';

/** The formulas of a body in their order. */
function formulasIn(body: string): string[] {
  const page = parsePage(`<html><body>${body}</body></html>`, { url: 'https://post.example/a' });
  const found: string[] = [];
  for (let at = nextNode(page.body, page.body); at !== null; ) {
    const formula = formulaAt(at);
    if (formula !== null && formula.text !== '') found.push(formula.text);
    at = nextNode(formula?.holder ?? at, page.body, formula !== null);
  }
  return found;
}

const math = (inner: string) => `<math>${inner}</math>`;

describe('a formula is written as TeX', () => {
  it.each([
    [
      'from its annotation, once',
      '<span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi><annotation encoding="application/x-tex">x_1</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x1</span></span>',
      '$x_1$',
    ],
    [
      'from the words for who cannot see it, without the style of its letters',
      '<span class="mwe-math-element"><span><math alttext="{\\displaystyle a^{2}}" display="block"><mi>a</mi></math></span><img class="mwe-math-fallback-image" alt="{\\displaystyle a^{2}}"></span>',
      '$$a^{2}$$',
    ],
    ['from a script', '<script type="math/tex">a < b</script>', '$a < b$'],
    ['from a script for a line of its own', '<script type="math/tex; mode=display">a</script>', '$$a$$'],
    ['from the words of its picture', '<img class="latex" src="f.png" alt="f(x)">', '$f(x)$'],
    ['from words that are TeX', '<img src="f.png" alt="\\frac{a}{b}">', '$\\frac{a}{b}$'],
    [
      'from the address of its picture',
      '<img src="https://latex.codecogs.com/png.latex?%5Cfrac%7Ba%7D%7Bb%7D">',
      '$\\frac{a}{b}$',
    ],
  ])('%s', (_, body, tex) => {
    expect(formulasIn(body)).toEqual([tex]);
  });

  it.each([
    [
      'powers and indices',
      math(
        '<msup><mi>x</mi><mn>2</mn></msup><msub><mi>a</mi><mrow><mi>k</mi><mo>+</mo><mn>1</mn></mrow></msub>',
      ),
      '$x^2a_{k+1}$',
    ],
    [
      'limits',
      math('<munderover><mo>∑</mo><mrow><mi>k</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>'),
      '$∑_{k=1}^n$',
    ],
    [
      'fractions and roots',
      math('<mfrac><mn>1</mn><msqrt><mn>2</mn></msqrt></mfrac><mroot><mi>x</mi><mn>3</mn></mroot>'),
      '$\\frac{1}{\\sqrt{2}}\\sqrt[3]{x}$',
    ],
    [
      'tables',
      math('<mtable><mtr><mtd>a</mtd><mtd>b</mtd></mtr><mtr><mtd>c</mtd><mtd>d</mtd></mtr></mtable>'),
      '$\\begin{matrix}a & b \\\\ c & d\\end{matrix}$',
    ],
    [
      'fences, without signs nobody sees',
      math('<mi>f</mi><mo>\u2061</mo><mfenced><mi>x</mi><mi>y</mi></mfenced>'),
      '$f(x,y)$',
    ],
    [
      'what is said in one form only',
      math('<semantics><mi>x</mi><annotation-xml><ci>x</ci></annotation-xml></semantics>'),
      '$x$',
    ],
  ])('and made from MathML: %s', (_, body, tex) => {
    expect(formulasIn(body)).toEqual([tex]);
  });

  it.each([
    ['an empty one', math('')],
    ['another script', '<script>a < b</script>'],
    ['another picture', '<img class="photo" src="f.jpg" alt="A lamp = light">'],
    ['an address that cannot be read', '<img src="https://latex.codecogs.com/png.latex?%E0%A4%A">'],
  ])('but not %s', (_, body) => {
    expect(formulasIn(body)).toEqual([]);
  });
});
