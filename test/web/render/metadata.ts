import type { Story } from '../article.ts';
import type { Publisher } from '../publisher.ts';
import type { Described } from '../site.ts';
import type { PageFurniture } from './furniture/index.ts';
import { escapeText } from './html.ts';

/** An article with everything a layout shows. */
export interface ArticleView {
  publisher: Publisher;
  described: Described;
  story: Story;
  canonical: string;
  changedMs: number;
  image: { url: string; width: number; height: number };
  related: readonly Described[];
  furniture: PageFurniture;
}

/** Machine-readable data in the head, in the publisher's way. */
export function renderMetadata(view: ArticleView): string {
  const { publisher, story, canonical } = view;
  const description = escapeText(descriptionOf(story));
  const base = `<link rel="canonical" href="${escapeText(canonical)}"><meta name="description" content="${description}">`;
  switch (publisher.metadata) {
    case 'jsonld':
      return `${base}${openGraph(view)}<script type="application/ld+json">${ldScript(newsArticle(view))}</script>`;
    case 'graph':
      return `${base}<script type="application/ld+json">${ldScript({ '@context': 'https://schema.org', '@graph': [organisation(publisher), newsArticle(view)] })}</script>`;
    case 'opengraph':
      return `${base}${openGraph(view)}`;
    case 'microdata':
      return base;
    default:
      return `<link rel="canonical" href="${escapeText(canonical)}">`;
  }
}

/** The first sentences, as in teasers and descriptions. */
export function descriptionOf(story: Story): string {
  const text = story.blocks[0]?.text ?? '';
  return text.length > 180 ? `${text.slice(0, 177)}...` : text;
}

function openGraph(view: ArticleView): string {
  const { publisher, described, story, image } = view;
  const date = new Date(described.item.atMs).toISOString();
  return `<meta property="og:type" content="article"><meta property="og:title" content="${escapeText(described.title)}"><meta property="og:url" content="${escapeText(view.canonical)}"><meta property="og:site_name" content="${escapeText(publisher.title)}"><meta property="og:image" content="${image.url}"><meta property="og:image:width" content="${image.width}"><meta property="og:image:height" content="${image.height}"><meta property="article:published_time" content="${date}"><meta property="article:section" content="${story.section.name}"><meta name="author" content="${escapeText(story.author)}">`;
}

function organisation(publisher: Publisher): object {
  return { '@type': 'Organization', name: publisher.title, url: `http://${publisher.host}/` };
}

function newsArticle(view: ArticleView): object {
  const { publisher, described, story, image, changedMs } = view;
  return {
    '@context': 'https://schema.org',
    '@type': 'NewsArticle',
    headline: described.title,
    author:
      described.item.id % 2 === 0
        ? { '@type': 'Person', name: story.author }
        : [{ '@type': 'Person', name: story.author }],
    datePublished: new Date(described.item.atMs).toISOString(),
    dateModified: new Date(changedMs).toISOString(),
    articleSection: story.section.name,
    wordCount: story.words,
    inLanguage: publisher.language,
    image: [image.url],
    publisher: organisation(publisher),
    mainEntityOfPage: view.canonical,
  };
}

function ldScript(value: object): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
