import { expect, test } from 'vitest';
import { articleHtml, explainPage, extractPage } from '../../src/extract/index.ts';
import { parseFeed, parseLinkHeader, parseSitemap } from '../../src/feed-formats/index.ts';
import { discoverFeedLinks, discoverLinks, parsePage } from '../../src/html/index.ts';
import { decideRobots, parseRobots } from '../../src/robots/index.ts';
import { inferPagers } from '../../src/sites/index.ts';
import { classifyUrl, identifyUrl } from '../../src/url/index.ts';
import { validatePage } from '../../src/validate/index.ts';

// Anything that reads what strangers wrote, fed with one piece over and over, wherever it may stand. Time that grows with
// the square of the length takes minutes here instead of a moment, on a machine that has other things to do as well.
const deadlineMs = 60_000;
const url = 'https://lamps.test/2024/05/17/a-story-of-lamps';

/** A document with § at each place where something is put, how much of it, and what reads the whole. */
type Stage = { document: string; chars: number; read(text: string): void };

const sentence =
  'The lamps of the harbour were lit by hand until the last keeper left, and nobody replaced her.';
const stages: Record<string, Stage> = {
  page: {
    chars: 60_000,
    document: `<!doctype html><html lang="en§"><head><title>A story of lamps §| Lamps</title>
      <meta property="og:title" content="A story of lamps§"><meta name="author" content="Ada Lund§">
      <meta property="article:published_time" content="2024-05-17§">
      <script type="application/ld+json">{"@type":"NewsArticle","headline":"A story of lamps§","author":[{"name":"Ada Lund§"}],"articleBody":"The lamps of the harbour§"§}</script>
      </head><body class="post§">§<header><h1>A story §of lamps</h1><p class="byline">By Ada Lund§</p><time>17 May 2024§</time></header>
      <article><p>${sentence}§</p><p>${sentence}</p>§<ul><li><a href="/other§">§Another</a></li></ul>
      <img src="a.jpg" srcset="a.jpg 1x§"><p>${sentence}</p></article><div class="comments">§</div></body></html>`,
    read(text) {
      const page = parsePage(text, { url });
      const extraction = extractPage(page);
      validatePage({ page, extraction, bodyBytes: text.length, status: 200, headers: {} });
      explainPage(page);
      articleHtml(page, { maxBytes: 100_000 });
      discoverLinks(page);
      discoverFeedLinks(page);
    },
  },
  'links of a listing': {
    chars: 1_900,
    document: '/n§/a-§1?page=2&§b=3§',
    read(text) {
      const numbers = Array.from({ length: 100 }, (_, number) => number);
      const links = numbers.map(
        (n) => `<a href="${text}${n}">${n}</a><a href="/n?${n}&amp;${text}">${text}</a>`,
      );
      const found = discoverLinks(parsePage(links.join(''), { url: 'https://lamps.test/n' }));
      inferPagers('https://lamps.test/n', found);
      for (const link of found) {
        identifyUrl(link.url);
        classifyUrl(link.url, {});
      }
    },
  },
  rss: {
    chars: 150_000,
    document: `<rss version="2.0" xmlns:dc="http://purl.org§/dc/elements/1.1/"><channel><title>Lamps§</title>§<item><title>A§</title>
      <link>https://lamps.test/a§</link><guid>§</guid><pubDate>Fri, 17 May 2024 10:00:00 GMT§</pubDate><dc:creator>§</dc:creator>
      <description>§</description></item></channel></rss>`,
    read: (text) => void parseFeed(Buffer.from(text)),
  },
  atom: {
    chars: 150_000,
    document: `<feed xmlns="http://www.w3.org§/2005/Atom"><entry><id>§a</id><link href="/a§" rel="alternate§"/><updated>2024-05-17§</updated>
      <content type="html§">§</content></entry>§</feed>`,
    read: (text) => void parseFeed(Buffer.from(text)),
  },
  'JSON feed': {
    chars: 150_000,
    document: `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"a§","url":"https://lamps.test/a","title":"§"§}§]}`,
    read: (text) => void parseFeed(Buffer.from(text)),
  },
  sitemap: {
    chars: 150_000,
    document: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap§/0.9"><url><loc>https://lamps.test/a§</loc><lastmod>2024-05-17§</lastmod></url>§</urlset>`,
    read: (text) => void parseSitemap(Buffer.from(text)),
  },
  'robots.txt': {
    chars: 150_000,
    document: `User-agent: *§\nDisallow: /private§\nAllow: §/private/lamps\n§`,
    read(text) {
      const robots = parseRobots(Buffer.from(text));
      for (const path of ['/', `/private/${'ab/'.repeat(600)}`])
        decideRobots(robots, 'outrider', `https://lamps.test${path}`);
    },
  },
  'Link header': {
    chars: 16_000,
    document: `<https://lamps.test/feed§>; rel="alternate§"; title="a"§, <b>§; rel=hub`,
    read: (text) => void parseLinkHeader(text, url),
  },
};

const pieces = [
  '<div>¦<p>¦</p>¦<b>¦<a href="#">¦<a name>¦<ul><li>¦<table><tr><td>¦<select><option>¦<time>¦<h1>¦<h2>x</h2>¦<br>',
  '<body a b>¦<html lang=de>¦<title>¦<blockquote>¦<footer><h1>¦<noscript>¦<svg>¦<a rel=author>www.',
  '<span class=date>1 May 2024</span>¦<sup><a href="#fn">1</a></sup>¦<!--¦-->¦<![CDATA[¦]]>¦<?¦<¦>',
  '<!DOCTYPE a [<!ENTITY b "c">¦&¦&amp¦&b;¦&#x41;¦"¦\'¦=¦\\¦{¦[¦{"@graph":[¦{"a":¦ class="a b"¦ xmlns:a="b"¦ data-a=1 ',
  ' ¦\n¦\t¦\u00a0¦\u200b¦\0¦-¦|¦ | ¦-& | ¦: ¦.¦, ¦ · ¦«¦“¦(¦*¦/¦//¦#¦%¦%41¦$¦/*¦?¦&a=b¦@¦1¦12 ¦12 May 2024 ',
  '&a=1¦&1=a¦/1¦-1¦_1.a¦01/02/2024 ¦Updated: ¦a¦a ¦A ¦By ¦Ada Lund and ¦www.¦http://¦漢¦漢字。¦ё¦🙂¦\ud83d¦1x, b.jpg ',
  '<item>¦<entry>¦<url><loc>http://a.test/</loc></url>¦<url>¦<link/>¦<dc:creator>¦; rel="a"¦<x>;',
  '<pre>¦<pre><b>¦<pre><i class="lineno">1</i>¦<pre><a href="#"><b>¦<math>¦<math><mi>x</math>¦<msup><mi>¦\n1 ¦<tr><td>a<td>b',
  '<script type="math/tex">x</script>¦<img class="tex" alt="\\\\ab">¦<span class="katex"><math>x</math>¦\u200c¦\u200d\u2028',
  '<template shadowrootmode=open>¦<ruby>¦<ruby><rt>¦<rt>¦<ruby><rb>a<rt><p>b',
  '<noscript>a b c d e f g h i j k l m n¦<div class="comments">¦<div class="comment">a b c. ¦<h3><a href="/a">a story of it</a></h3>',
  '\nUser-agent: *\n¦\nDisallow: /*a¦*a¦\nSitemap: http://a.test/',
].flatMap((line) => line.split('¦'));

test.each(pieces)(
  'ends with %j over and over, wherever it stands',
  (piece) => {
    for (const { document, chars, read } of Object.values(stages)) {
      const filler = piece.repeat(Math.ceil(chars / piece.length));
      const parts = document.split('§');
      for (let place = 1; place < parts.length; place++)
        expect(() =>
          read(parts.slice(0, place).join('') + filler + parts.slice(place).join('')),
        ).not.toThrow();
    }
  },
  deadlineMs,
);
