import { attribute, nextNode, type Page, type PageNode, TEXT, textOf } from '../html/index.ts';
import { countWords } from '../text/index.ts';
import { PART_OF_A_PAGE, plain } from './phrases.ts';

const CHALLENGE_MARK =
  /^(?:cf-challenge|challenge-form|challenge-running|cf-wrapper|cf-error-details|px-captcha|sec-if-cpt-container|sec-cpt-if|main-iframe|distilcaptchaform|captcha-container|challenge-stage|challenge-error-text|sgcaptcha)$/i;
const APP_ROOT =
  /^(?:root|app|__next|__nuxt|___gatsby|react-root|main-app|app-root|ember-basic-dropdown-wormhole|svelte|q-app|mount)$/i;

/** What a page shows to who looks at all of it. */
export type Sight = {
  text: string;
  words: number;
  /** What it says to readers without scripts. */
  noscript: string;
  /** The part of that which is said of the whole page: not beside a text, and not of comments or a player. */
  noscriptOfAll: string;
  /** Its first headings of the highest levels. */
  headings: string[];
  /** Words of the longest element for an article. */
  articleWords: number;
  /** Elements that only a challenge has. */
  marks: string[];
  appRoot: boolean;
  textBlocks: number;
};

const MAX_HEADINGS = 3;
const MAX_HEADING_CHARS = 300;
const MAX_NOSCRIPT_CHARS = 2_000;
const MAX_ARTICLES = 3;
const MAX_ARTICLE_CHARS = 2_000;

/** Looks at a page that may be no content. */
export function look(page: Page): Sight {
  let noscript = '';
  let noscriptOfAll = '';
  const headings: string[] = [];
  const marks: string[] = [];
  let articleWords = 0;
  let articles = 0;
  let appRoot = false;
  let textBlocks = 0;
  for (let node: PageNode | null = page.root; node !== null; node = nextNode(node, page.root)) {
    if (node.tag === TEXT) {
      if (node.text.length > 80 && node.parent?.tag !== 'noscript') textBlocks++;
      continue;
    }
    if (node.tag === 'noscript' && noscript.length < MAX_NOSCRIPT_CHARS) {
      const said = plain(textOf(node, 1_000));
      noscript += ` ${said}`;
      if (!isDeep(node) && !PART_OF_A_PAGE.test(said)) noscriptOfAll += ` ${said}`;
    } else if ((node.tag === 'h1' || node.tag === 'h2') && headings.length < MAX_HEADINGS)
      headings.push(plain(textOf(node, MAX_HEADING_CHARS)));
    else if (node.tag === 'article' && articles++ < MAX_ARTICLES)
      articleWords = Math.max(articleWords, countWords(textOf(node, MAX_ARTICLE_CHARS)));
    if (node.attributesFrom === node.attributesTo) continue;
    const id = attribute(node, 'id');
    if (id !== null && id.length < 60) {
      if (CHALLENGE_MARK.test(id)) marks.push(id);
      if (APP_ROOT.test(id) || attribute(node, 'ng-app') !== null)
        appRoot ||= node.first === null || textOf(node, 100).length < 30;
    }
  }
  const text = plain(textOf(page.body, 20_000));
  return {
    text,
    words: countWords(text),
    noscript,
    noscriptOfAll,
    headings,
    articleWords,
    marks,
    appRoot,
    textBlocks,
  };
}

// What stands in an article, or this far inside the page, is said of what would stand there.
const DEEP = 4;

function isDeep(node: PageNode): boolean {
  let depth = 0;
  for (let at = node.parent; at !== null && at.tag !== 'body'; at = at.parent) {
    depth++;
    if (at.tag === 'article' || depth >= DEEP) return true;
  }
  return false;
}
