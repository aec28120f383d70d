import { hashOf, randomFrom } from '../../random.ts';
import type { Described, Site } from '../../site.ts';
import type { Item } from '../../timeline.ts';
import { type Workshop, writeScripts, writeState, writeStyles } from './code.ts';
import {
  writeCards,
  writeColumns,
  writeComments,
  writeCounters,
  writeHints,
  writeMenu,
  writeNewsletter,
  writeShare,
  writeSidebar,
} from './markup.ts';
import { createNaming } from './names.ts';

/** What a real page carries around its content; on light pages all parts are empty. */
export interface PageFurniture {
  /** Inside the head. */
  head: string;
  /** Between the body's start tag and the content. */
  before: string;
  /** Between the content and the body's end tag, but for the state. */
  after: string;
  /** Entries of the state's array, empty on light pages. */
  state: string;
}

const none: PageFurniture = { head: '', before: '', after: '', state: '' };
const known = new WeakMap<Site, PageFurniture>();

// What a page of this web weighs by itself.
const lightBytes = 6_000;
const linkedArticles = 40;
/** Shares of the weight: two fifths code, the rest markup with its text, as on news sites. */
const shares = {
  styles: 0.13,
  headScripts: 0.11,
  hints: 0.01,
  menu: 0.16,
  share: 0.03,
  cards: 0.14,
  sidebar: 0.08,
  comments: 0.07,
  footer: 0.05,
  tailScripts: 0.04,
  state: 0.15,
} as const;

/** The furniture of a publisher's pages, written once: all of it hangs on the domain and its first articles. */
export function furnitureOf(site: Site): PageFurniture {
  const { pageKb = 0 } = site.publisher;
  if (pageKb === 0) return none;
  let furniture = known.get(site);
  if (furniture === undefined) {
    furniture = write(site, Math.max(0, pageKb * 1024 - lightBytes));
    known.set(site, furniture);
  }
  return furniture;
}

function write(site: Site, bytes: number): PageFurniture {
  const { publisher } = site;
  const random = randomFrom(hashOf(publisher.domain, 'furniture'));
  const naming = createNaming(publisher, random);
  const articles: Described[] = [];
  for (let index = 0; index < Math.min(linkedArticles, publisher.backlog); index++)
    articles.push(site.describe(site.timeline.at(index) as Item));
  const shop: Workshop = { publisher, random, naming, articles };
  const share = (name: keyof typeof shares): number => bytes * shares[name];
  const main = `<div class="${naming.classes('layout', 'page')}" id="page"><div class="${naming.classes('layout', 'main')}" id="main" ${naming.data('layout', 0)}>`;
  // A publisher without articles has nothing to link to.
  const linking =
    articles.length === 0
      ? ''
      : `${writeCards(shop, share('cards'))}</div><aside class="${naming.classes('layout', 'rail')}">${writeSidebar(shop, share('sidebar'))}</aside><div class="${naming.classes('layout', 'below')}">`;
  return {
    head: flat(
      `${writeHints(shop, share('hints'))}<style>:root{--font-body:Georgia,serif}${writeStyles(shop, share('styles'))}</style>${writeScripts(shop, share('headScripts'))}`,
    ),
    before: flat(`${writeCounters(shop)}${writeMenu(shop, share('menu'))}${main}`),
    after: flat(
      `${writeShare(shop, share('share'))}${writeNewsletter(shop)}${linking}${writeComments(shop, share('comments'))}</div></div>${writeColumns(shop, share('footer'))}${writeScripts(shop, share('tailScripts'))}`,
    ),
    state: flat(writeState(shop, share('state'))),
  };
}

/** One piece of memory instead of thousands that every page would walk through again. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}

/** Puts furniture around a body; `facts` is what the page's own script knows about it. */
export function furnish(furniture: PageFurniture, body: string, facts: object): string {
  if (furniture === none) return body;
  const own = JSON.stringify(facts).replaceAll('<', '\\u003c');
  return `${furniture.before}${body}${furniture.after}<script id="page-state" type="application/json">{"page":${own},"store":[${furniture.state}]}</script>`;
}
