import { lexicons } from '../lexicon/index.ts';
import { furnish } from './furniture/index.ts';
import { escapeText, renderFooter, renderHead, renderNavigation } from './html.ts';
import { type ArticleView, renderMetadata } from './metadata.ts';

type Layout = (view: ArticleView) => string;

/** A whole article page in the publisher's layout. */
export function renderArticle(view: ArticleView): string {
  const layout = layouts[view.publisher.layout % layouts.length] as Layout;
  const head = renderHead(
    view.publisher,
    `${view.described.title} | ${view.publisher.title}`,
    `${renderMetadata(view)}${view.furniture.head}`,
  );
  const { item, title, path } = view.described;
  const body = furnish(view.furniture, layout(view), { id: item.id, title, path, author: view.story.author });
  return `${head}<body>${body}</body></html>\n`;
}

/** The texts need no escaping: no language has markup characters but quotes (a test keeps it), and it was a sixth of the rendering. */
function blocks(view: ArticleView): string[] {
  return view.story.blocks.map(({ kind, text }) => `<${kind}>${text}</${kind}>`);
}

function figure(view: ArticleView): string {
  const { furniture } = lexicons[view.publisher.language];
  const { image, story, described } = view;
  return `<figure><img src="${image.url}" width="${image.width}" height="${image.height}" alt="${escapeText(described.title)}"><figcaption>${escapeText(story.section.name)}. ${furniture.photo}: ${escapeText(view.publisher.title)}</figcaption></figure>`;
}

function related(view: ArticleView): string {
  const { furniture } = lexicons[view.publisher.language];
  let list = '';
  for (const other of view.related) list += `<li><a href="${other.path}">${escapeText(other.title)}</a></li>`;
  return list === '' ? '' : `<h3>${furniture.related}</h3><ul>${list}</ul>`;
}

/** Human dates differ by publisher; the machine-readable one is in the attribute where there is one. */
function time(view: ArticleView): string {
  const date = new Date(view.described.item.atMs);
  const shown = date.toISOString().slice(0, 16).replace('T', ' ');
  return `<time datetime="${date.toISOString()}">${shown}</time>`;
}

function furnitureOf(view: ArticleView) {
  return lexicons[view.publisher.language].furniture;
}

/** A plain semantic page: header, article, aside, footer. */
const semantic: Layout = (view) => {
  const furniture = furnitureOf(view);
  return `<header><p class="site-name"><a href="/">${escapeText(view.publisher.title)}</a></p>${renderNavigation(view.publisher)}</header><main><article><h1>${escapeText(view.described.title)}</h1><p class="byline">${furniture.by} <a rel="author" href="/about">${escapeText(view.story.author)}</a>, ${time(view)}</p>${figure(view)}${blocks(view).join('\n')}</article></main><aside>${related(view)}<p>${furniture.newsletter}</p></aside>${renderFooter(view.publisher)}`;
};

/** Divs all the way down, class names only a theme would use, advertisements between paragraphs. */
const divs: Layout = (view) => {
  const furniture = furnitureOf(view);
  const body = blocks(view)
    .map((block, i) =>
      i % 4 === 3 ? `${block}<div class="ad-slot"><span>${furniture.advert}</span></div>` : block,
    )
    .join('');
  return `<div id="wrap"><div id="top">${renderNavigation(view.publisher)}</div><div class="cols"><div class="col-main"><div class="headline-box"><h1 class="hl">${escapeText(view.described.title)}</h1><div class="meta">${furniture.published} ${time(view)} · ${escapeText(view.story.author)}</div></div><div class="txt">${body}</div><div class="share"><a href="#f">Share</a><a href="#m">Mail</a></div></div><div class="col-side"><div class="box">${related(view)}</div><div class="box nl">${furniture.newsletter}</div></div></div>${renderFooter(view.publisher)}</div>`;
};

/** Microdata on the elements themselves, comments below. */
const microdata: Layout = (view) => {
  const furniture = furnitureOf(view);
  const comments = [0, 1, 2]
    .map(
      (i) =>
        `<div class="comment"><b>reader${(view.described.item.id + i) % 97}</b><p>${furniture.commentLine}</p></div>`,
    )
    .join('');
  return `${renderNavigation(view.publisher)}<div itemscope itemtype="https://schema.org/NewsArticle"><h1 itemprop="headline">${escapeText(view.described.title)}</h1><span itemprop="author" itemscope itemtype="https://schema.org/Person"><span itemprop="name">${escapeText(view.story.author)}</span></span><meta itemprop="datePublished" content="${new Date(view.described.item.atMs).toISOString()}"><img itemprop="image" src="${view.image.url}" width="${view.image.width}" height="${view.image.height}" alt=""><div itemprop="articleBody">${blocks(view).join('')}</div></div><section class="comments"><h3>${furniture.comments}</h3>${comments}</section>${related(view)}${renderFooter(view.publisher)}`;
};

/** A table page of the old school: text in a cell, line breaks instead of paragraphs. */
const tables: Layout = (view) => {
  const furniture = furnitureOf(view);
  const text = view.story.blocks
    .map((block) => (block.kind === 'h2' ? `<b>${block.text}</b>` : block.text))
    .join('<br><br>\n');
  return `<table width="100%"><tr><td colspan="3">${renderNavigation(view.publisher)}</td></tr><tr><td width="160" valign="top">${related(view)}</td><td valign="top"><h1>${escapeText(view.described.title)}</h1><font size="2">${furniture.by} ${escapeText(view.story.author)} - ${time(view)}</font><br><br>${text}</td><td width="160" valign="top"><img src="/icon.svg" alt=""><br>${furniture.advert}</td></tr></table>${renderFooter(view.publisher)}`;
};

/** A blog: breadcrumbs, "read more" lines inside the body, a biography of the author below. */
const blog: Layout = (view) => {
  const furniture = furnitureOf(view);
  const list = blocks(view);
  const hint = view.related[0];
  if (hint !== undefined && list.length > 3)
    list.splice(
      2,
      0,
      `<p class="read-more">${furniture.more}: <a href="${hint.path}">${escapeText(hint.title)}</a></p>`,
    );
  return `<header class="masthead">${renderNavigation(view.publisher)}</header><ol class="breadcrumbs"><li><a href="/">${furniture.home}</a></li><li><a href="/${view.story.section.slug}/">${view.story.section.name}</a></li></ol><div class="post hentry"><h1 class="entry-title">${escapeText(view.described.title)}</h1><div class="entry-meta">${time(view)} <span class="author vcard">${escapeText(view.story.author)}</span></div><div class="entry-content">${figure(view)}${list.join('\n')}</div><div class="author-bio"><h4>${escapeText(view.story.author)}</h4><p>${escapeText(view.publisher.title)}</p></div></div>${related(view)}${renderFooter(view.publisher)}`;
};

/** A modern component page: nested sections, inline scripts, a lead paragraph of its own, lazy pictures. */
const components: Layout = (view) => {
  const furniture = furnitureOf(view);
  const [lead, ...rest] = blocks(view);
  const { image } = view;
  return `<div id="root"><div class="AppShell-a91"><header class="Bar-c02">${renderNavigation(view.publisher)}</header><main class="Story-d11"><section class="Story-head"><span class="Kicker-x">${view.story.section.name}</span><h1>${escapeText(view.described.title)}</h1><div class="Lead-z">${lead ?? ''}</div><div class="Sign-q"><span>${escapeText(view.story.author)}</span>${time(view)}</div></section><section class="Story-body"><picture><source srcset="${image.url} ${image.width}w"><img loading="lazy" src="${image.url}" width="${image.width}" height="${image.height}" alt=""></picture>${rest.join('')}</section></main><div class="Modal-n">${furniture.newsletter}</div><aside class="Rail-r">${related(view)}</aside>${renderFooter(view.publisher)}</div></div><script>window.__state=${JSON.stringify({ id: view.described.item.id, ads: true })}</script>`;
};

const layouts: readonly Layout[] = [semantic, divs, microdata, tables, blog, components];
