import { writeSentence } from '../../article.ts';
import { lexicons } from '../../lexicon/index.ts';
import type { Described } from '../../site.ts';
import { escapeText } from '../html.ts';
import type { Workshop } from './code.ts';
import { fillBytes } from './names.ts';

const widths = [320, 480, 640, 960, 1280];
const perSection = 8;

/** A drawing of some curves, as every share button carries one. */
function icon({ random, naming }: Workshop): string {
  let path = `M${random.int(24)} ${random.int(24)}`;
  for (let i = 0; i < 5; i++)
    path += `c${random.int(9)}.${random.int(99)}-${random.int(9)} ${random.int(9)}.${random.int(99)} ${random.int(9)} ${random.int(9)}.${random.int(9)}z`;
  return `<svg class="${naming.classes('icon', 'svg')}" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path fill="currentColor" fill-rule="evenodd" d="${path}"/></svg>`;
}

function picture({ publisher, naming }: Workshop, article: Described): string {
  const address = `http://${publisher.host}/img/${article.item.id.toString(36)}.png`;
  const srcset = widths.map((width) => `${address}?w=${width}&amp;q=75 ${width}w`).join(', ');
  return `<picture class="${naming.classes('media', 'picture')}"><source type="image/webp" srcset="${srcset}" sizes="(min-width: 1024px) 320px, 100vw"><img class="${naming.classes('media', 'image')}" loading="lazy" decoding="async" src="${address}?w=320" width="320" height="180" alt="${escapeText(article.title)}"></picture>`;
}

/** The header with a menu of two levels; its links name sections, so that a spider finds nothing that is not there. */
export function writeMenu(workshop: Workshop, bytes: number): string {
  const { publisher, naming, random } = workshop;
  const { sections, topics, furniture } = lexicons[publisher.language];
  const groups = fillBytes(bytes, (position) => {
    const section = sections[position % sections.length]!;
    let entries = '';
    for (let n = 0; n < perSection; n++) {
      const topic = random.pick(topics);
      entries += `<li class="${naming.classes('menu', 'item')}" role="none"><a class="${naming.classes('menu', 'link')}" role="menuitem" href="/${section.slug}/#${naming.hash(6)}" ${naming.data('menu', n)}>${topic}</a></li>`;
    }
    return `<li class="${naming.classes('menu', 'group')}" role="none"><button class="${naming.classes('menu', 'toggle')}" type="button" aria-expanded="false" aria-controls="sub-${naming.hash(5)}"><span>${section.name}</span>${position % 4 === 0 ? icon(workshop) : ''}</button><ul class="${naming.classes('menu', 'list')}" role="menu" hidden>${entries}</ul></li>`;
  });
  return `<a class="${naming.classes('skip', 'link')}" href="#main">${furniture.more}</a><header class="${naming.classes('header', 'root')}" ${naming.data('header', 0)}><div class="${naming.classes('header', 'bar')}"><a class="${naming.classes('header', 'logo')}" href="/" aria-label="${escapeText(publisher.title)}">${icon(workshop)}</a><form class="${naming.classes('search', 'form')}" action="/search" role="search"><label class="visually-hidden" for="q-${publisher.index}">${furniture.search}</label><input id="q-${publisher.index}" type="search" name="q" autocomplete="off" placeholder="${furniture.search}"><button type="submit">${icon(workshop)}</button></form></div><nav class="${naming.classes('menu', 'nav')}" aria-label="${furniture.home}"><ul class="${naming.classes('menu', 'root')}" role="menubar">${groups}</ul></nav></header>`;
}

/** Buttons to pass the article on. */
export function writeShare(workshop: Workshop, bytes: number): string {
  const { naming } = workshop;
  const buttons = fillBytes(
    bytes,
    (position) =>
      `<li class="${naming.classes('share', 'item')}"><a class="${naming.classes('share', 'button')}" href="#${naming.hash(4)}" rel="nofollow noopener" target="_blank" ${naming.data('share', position)}>${icon(workshop)}<span class="visually-hidden">Share</span></a></li>`,
  );
  return `<ul class="${naming.classes('share', 'list')}" role="list">${buttons}</ul>`;
}

/** Cards of other articles: picture, headline, first sentence. */
export function writeCards(workshop: Workshop, bytes: number): string {
  const { naming, articles, publisher, random } = workshop;
  const { furniture } = lexicons[publisher.language];
  const cards = fillBytes(bytes, (position) => {
    const article = articles[position % articles.length]!;
    const date = new Date(article.item.atMs).toISOString();
    return `<article class="${naming.classes('card', 'root')}" ${naming.data('card', position)}><a class="${naming.classes('card', 'media')}" href="${escapeText(article.path)}" tabindex="-1" aria-hidden="true">${picture(workshop, article)}</a><div class="${naming.classes('card', 'body')}"><a class="${naming.classes('card', 'kicker')}" href="/${article.section.slug}/">${article.section.name}</a><h3 class="${naming.classes('card', 'title')}"><a href="${escapeText(article.path)}">${escapeText(article.title)}</a></h3><p class="${naming.classes('card', 'teaser')}">${writeSentence(publisher, random)}</p><time class="${naming.classes('card', 'time')}" datetime="${date}">${date.slice(0, 10)}</time></div></article>`;
  });
  return `<section class="${naming.classes('related', 'section')}" aria-label="${furniture.related}"><h2 class="${naming.classes('related', 'title')}">${furniture.related}</h2><div class="${naming.classes('related', 'grid')}">${cards}</div></section>`;
}

/** Numbered lists of headlines beside the article. */
export function writeSidebar(workshop: Workshop, bytes: number): string {
  const { naming, articles, publisher } = workshop;
  const { furniture } = lexicons[publisher.language];
  const entries = fillBytes(bytes, (position) => {
    const article = articles[(position * 7 + 3) % articles.length]!;
    return `<li class="${naming.classes('rail', 'item')}" ${naming.data('rail', position)}><span class="${naming.classes('rail', 'rank')}">${position + 1}</span><a class="${naming.classes('rail', 'link')}" href="${escapeText(article.path)}">${escapeText(article.title)}</a></li>`;
  });
  return `<div class="${naming.classes('advert', 'slot')}" id="ad-${naming.hash(6)}" data-sizes="[[300,250],[300,600]]" aria-hidden="true"><span>${furniture.advert}</span></div><section class="${naming.classes('rail', 'box')}"><h2>${furniture.next}</h2><ol class="${naming.classes('rail', 'list')}">${entries}</ol></section>`;
}

/** A form for an address, with its small print. */
export function writeNewsletter({ naming, publisher }: Workshop): string {
  const { furniture } = lexicons[publisher.language];
  return `<section class="${naming.classes('newsletter', 'box')}" ${naming.data('newsletter', 0)}><h2>${escapeText(publisher.title)}</h2><p class="${naming.classes('newsletter', 'text')}">${furniture.newsletter}</p><form class="${naming.classes('newsletter', 'form')}" method="post" action="#newsletter" novalidate><input type="hidden" name="_token" value="${naming.hash(40)}"><label for="mail-${publisher.index}">@</label><input class="${naming.classes('newsletter', 'input')}" id="mail-${publisher.index}" type="email" name="mail" required autocomplete="email"><input type="checkbox" name="terms" value="1" id="terms-${publisher.index}"><label for="terms-${publisher.index}">${furniture.rights}</label><button type="submit">${furniture.next}</button></form></section>`;
}

/** What readers say below. */
export function writeComments(workshop: Workshop, bytes: number): string {
  const { naming, publisher, random } = workshop;
  const { furniture, firstNames } = lexicons[publisher.language];
  const entries = fillBytes(
    bytes,
    (position) =>
      `<li class="${naming.classes('comment', 'item')}" id="comment-${naming.hash(7)}" ${naming.data('comment', position)}><div class="${naming.classes('comment', 'head')}"><img class="${naming.classes('comment', 'avatar')}" src="/icon.svg" width="40" height="40" alt="" loading="lazy"><b class="${naming.classes('comment', 'name')}">${random.pick(firstNames)} ${random.int(99)}</b></div><div class="${naming.classes('comment', 'text')}"><p>${position % 3 === 0 ? furniture.commentLine : writeSentence(publisher, random)}</p></div><button class="${naming.classes('comment', 'vote')}" type="button" data-votes="${random.int(300)}">${random.int(300)}</button></li>`,
  );
  return `<section class="${naming.classes('comments', 'section')}" id="comments"><h2>${furniture.comments}</h2><ol class="${naming.classes('comments', 'list')}">${entries}</ol></section>`;
}

/** Columns of links at the foot. */
export function writeColumns(workshop: Workshop, bytes: number): string {
  const { naming, publisher, random } = workshop;
  const { sections, topics, furniture } = lexicons[publisher.language];
  const columns = fillBytes(bytes, (position) => {
    const section = sections[position % sections.length]!;
    let links = '';
    for (let n = 0; n < perSection; n++)
      links += `<li class="${naming.classes('footer', 'item')}"><a class="${naming.classes('footer', 'link')}" href="/${section.slug}/#${naming.hash(6)}">${random.pick(topics)}</a></li>`;
    return `<div class="${naming.classes('footer', 'column')}" ${naming.data('footer', position)}><h2 class="${naming.classes('footer', 'title')}">${section.name}</h2><ul>${links}</ul></div>`;
  });
  return `<div class="${naming.classes('footer', 'columns')}" role="contentinfo">${columns}<p class="${naming.classes('footer', 'legal')}">© ${escapeText(publisher.title)}. ${furniture.rights}</p></div>`;
}

/** Counters for those without scripts. */
export function writeCounters({ naming, publisher }: Workshop): string {
  return `<noscript><iframe src="https://tags.${publisher.domain}/ns.html?id=${naming.hash(7)}" height="0" width="0" style="display:none;visibility:hidden"></iframe></noscript><noscript><img height="1" width="1" style="display:none" alt="" src="https://count.${publisher.domain}/p?c1=2&amp;c2=${naming.hash(8)}&amp;cv=3.6&amp;cj=1"></noscript>`;
}

/** What stands in the head besides styles: hints for the browser, icons, outside scripts. */
export function writeHints({ naming, publisher }: Workshop, bytes: number): string {
  const origin = `https://static.${publisher.domain}`;
  return fillBytes(
    bytes,
    (position) =>
      `<link rel="preload" as="font" type="font/woff2" href="${origin}/fonts/${naming.hash(16)}.woff2" crossorigin><link rel="dns-prefetch" href="https://cdn${position}.${publisher.domain}"><link rel="stylesheet" media="print" href="${origin}/css/${naming.hash(20)}.css"><script defer src="${origin}/js/${naming.hash(20)}.chunk.js"></script>`,
  );
}
