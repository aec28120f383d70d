import { attribute, collapse, nextNode, type PageNode, TEXT, textOf } from './node.ts';

/**
 * A formula as TeX between dollars, or '' for MathML that says nothing, and the element that holds it in all the forms the
 * page has it in.
 */
export type Formula = { text: string; holder: PageNode };

const MAX_CHARS = 2_000;
// Elements of a formula that are looked at.
const MAX_NODES = 4_000;
// Renderers put what is read aloud, what is seen and pictures side by side into one element.
const HOLDER = /(?:^|\s)(?:katex|mwe-math-element)(?:\s|$)/;
const HOLDER_LEVELS = 3;
// What MathJax made of the TeX in a script that stays behind it.
const RENDERED = /^(?:MathJax|mjx-chtml)/;
const PICTURE_NAME = /(?:^|\s)(?:latex|tex)(?:\s|$)|quicklatex|mwe-math/i;
const PICTURE_SOURCE = /latex\.php\?|codecogs\.com\/[^?]*\?/i;
// Words that are a command, and a sign that joins them: no other caption has both.
const TEX = /^(?=.*\\[a-zA-Z]{2})(?=.*[{}_^=])/;

/** The formula an element is: MathML, a script of TeX, or the picture of one with its TeX beside it. */
export function formulaAt(node: PageNode): Formula | null {
  if (node.tag === 'math') return formulaOfMath(node);
  if (node.tag === 'script') return formulaOfScript(node);
  return node.tag === 'img' ? formulaOfPicture(node) : null;
}

function formulaOfMath(math: PageNode): Formula {
  const tex = annotationOf(math) ?? attribute(math, 'alttext') ?? new MathWriter().write(math);
  const holder = holderOf(math);
  // Nobody else is to look inside: what is too deep for a formula takes too long for anybody.
  return written(tex, attribute(math, 'display') === 'block', holder) ?? { text: '', holder };
}

function formulaOfScript(script: PageNode): Formula | null {
  const type = attribute(script, 'type') ?? '';
  if (!type.startsWith('math/tex') || script.first === null) return null;
  return written(script.first.text, type.includes('display'), script);
}

function formulaOfPicture(image: PageNode): Formula | null {
  const alt = attribute(image, 'alt') ?? '';
  const source = attribute(image, 'src') ?? '';
  if (alt.length > MAX_CHARS || source.length > MAX_CHARS) return null;
  const isFormula =
    PICTURE_SOURCE.test(source) || (alt !== '' && PICTURE_NAME.test(attribute(image, 'class') ?? ''));
  if (isFormula) return written(alt === '' ? texInAddress(source) : alt, false, image);
  return TEX.test(alt) ? written(alt, false, image) : null;
}

/** What a service that draws formulas was asked to draw. */
function texInAddress(address: string): string {
  try {
    return decodeURIComponent(/\?(?:latex=)?([^&]+)/.exec(address)?.[1] ?? '');
  } catch {
    return '';
  }
}

/** Whether an element shows what a script beside it says. */
export function isRenderedScript(node: PageNode): boolean {
  return (node.tag === 'span' || node.tag === 'div') && RENDERED.test(attribute(node, 'class') ?? '');
}

function holderOf(math: PageNode): PageNode {
  let at: PageNode | null = math.parent;
  for (let level = 0; level < HOLDER_LEVELS && at !== null && at.tag === 'span'; level++, at = at.parent)
    if (HOLDER.test(attribute(at, 'class') ?? '')) return at;
  return math;
}

/** The TeX that a formula was made of. */
function annotationOf(math: PageNode): string | null {
  let at = nextNode(math, math);
  for (let steps = 0; at !== null && steps < MAX_NODES; steps++, at = nextNode(at, math))
    if (at.tag === 'annotation' && /tex/i.test(attribute(at, 'encoding') ?? '')) return textOf(at, MAX_CHARS);
  return null;
}

// "{\displaystyle x}"
const STYLED = /^\{\\(?:display|text)style\b(.*)\}$/;

function written(tex: string, isDisplayed: boolean, holder: PageNode): Formula | null {
  const whole = collapse(tex.slice(0, MAX_CHARS));
  const bare = (STYLED.exec(whole)?.[1] ?? whole)
    .replace(/^\\(?:display|text)style\b/, '')
    .replace(/^\$+|\$+$/g, '')
    .trim();
  if (bare === '') return null;
  const dollars = isDisplayed ? '$$' : '$';
  return { text: `${dollars}${bare}${dollars}`, holder };
}

// Signs for what is meant and not seen, such as the application of a function.
const UNSEEN_SIGNS = /[\u2061-\u2064]/g;

/** Writes MathML that comes without its TeX as TeX; letters and signs stay as they are. */
class MathWriter {
  #left = MAX_NODES;

  // No deeper than the tree of a page may be.
  write(node: PageNode): string {
    if (this.#left-- <= 0) return '';
    if (node.tag === TEXT) return collapse(node.text).replace(UNSEEN_SIGNS, '');
    switch (node.tag) {
      case 'msup':
      case 'mover':
        return this.#join(node, ['', '^']);
      case 'msub':
      case 'munder':
        return this.#join(node, ['', '_']);
      case 'msubsup':
      case 'munderover':
        return this.#join(node, ['', '_', '^']);
      case 'mfrac': {
        const [above = '', below = ''] = this.#children(node);
        return `\\frac{${above}}{${below}}`;
      }
      case 'msqrt':
        return `\\sqrt{${this.#children(node).join('')}}`;
      case 'mroot': {
        const [base = '', degree = ''] = this.#children(node);
        return `\\sqrt[${degree}]{${base}}`;
      }
      case 'mtable':
        return `\\begin{matrix}${this.#children(node).join(' \\\\ ')}\\end{matrix}`;
      case 'mtr':
      case 'mlabeledtr':
        return this.#children(node).join(' & ');
      case 'mfenced':
        return `${attribute(node, 'open') ?? '('}${this.#children(node).join(',')}${attribute(node, 'close') ?? ')'}`;
      case 'semantics':
        return this.#children(node)[0] ?? '';
      case 'mspace':
        return ' ';
      case 'annotation':
      case 'annotation-xml':
        return '';
      default:
        return this.#children(node).join('');
    }
  }

  #children(node: PageNode): string[] {
    const parts: string[] = [];
    for (let child = node.first; child !== null; child = child.next)
      if (child.tag !== TEXT || child.text.trim() !== '') parts.push(this.write(child));
    return parts;
  }

  #join(node: PageNode, signs: readonly string[]): string {
    return this.#children(node)
      .map((part, i) => (i === 0 || part.length === 1 ? part : `{${part}}`))
      .map((part, i) => `${signs[i] ?? ''}${part}`)
      .join('');
  }
}
