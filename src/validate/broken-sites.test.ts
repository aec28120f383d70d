import { describe, expect, it } from 'vitest';
import { extractPage } from '../extract/index.ts';
import { parsePage } from '../html/index.ts';
import { validatePage } from './index.ts';

const STYLE = `<style>${'.page{color:red}'.repeat(40)}</style>`;

function reasonFor(title: string, body: string, head = '') {
  const html = `<html><head><title>${title}</title>${STYLE}${head}</head><body>${body}</body></html>`;
  const page = parsePage(html, { url: 'https://www.harbourpost.example/news/pier' });
  const input = { page, extraction: extractPage(page), bodyBytes: html.length, status: 200, headers: {} };
  const found = validatePage(input);
  return found.outcome === 'valid' ? 'valid' : found.reason;
}

describe('sites that are out of order with status 200', () => {
  it.each([
    ['Database Error', '<h1>Error establishing a database connection</h1>'],
    [
      'WordPress › Error',
      '<p>There has been a critical error on this website.</p><p>Learn more about it.</p>',
    ],
    [
      '500 Internal Server Error',
      '<h1>Internal Server Error</h1><p>The server encountered an internal error and was unable to complete your request.</p>',
    ],
    ['', '<b>Fatal error</b>: Uncaught Error: Call to undefined function x() in /srv/www/index.php:12'],
    ['harbourpost.example | 521: Web server is down', '<h1>Web server is down Error code 521</h1>'],
    ['Maintenance', '<p>Briefly unavailable for scheduled maintenance. Check back in a minute.</p>'],
    [
      'Site under maintenance',
      '<h1>We’ll be back soon!</h1><p>Sorry, but we’re performing some maintenance at the moment.</p>',
    ],
    ['Wartung', '<p>Diese Seite wird gerade gewartet. Schauen Sie bald wieder vorbei.</p>'],
    ['Account Suspended', '<p>This Account has been suspended. Contact your provider for more.</p>'],
    ['harbourpost.example', '<h1>harbourpost.example</h1><p>This domain is for sale. Buy this domain.</p>'],
    ['Parked', '<p>This domain name has been registered and is parked with our free service.</p>'],
    ['Welcome to nginx!', '<h1>Welcome to nginx!</h1><p>Further configuration is required.</p>'],
  ])('%s', (title, body) => {
    expect(reasonFor(title, body)).toBe('site_error');
    const menu = '<header><a href="/">Home</a> <a href="/news">News</a></header>';
    const declared = '<meta property="article:published_time" content="2026-03-04T08:00:00Z">';
    expect(reasonFor(title, `${menu}<main>${body}</main>`, declared)).toBe('site_error');
  });

  const first =
    'The old bridge over the bay will be closed from Monday to Friday, the town said, and whoever drives should use the northern road until the engineers have looked at all of its bolts.';
  it.each([
    'Bridge closed for scheduled maintenance',
    'Internal server error hits tax office',
    'Account suspended: mayor loses his followers',
    'This domain is for sale: how a town lost its website',
    'Two ferries are under maintenance',
  ])('is not what a short note is about: %s', (title) => {
    expect(
      reasonFor(`${title} | The Harbour Post`, `<article><h1>${title}</h1><p>${first}</p></article>`),
    ).toBe('valid');
  });

  it('too many requests are a refusal', () =>
    expect(reasonFor('429', '<h1>Too Many Requests</h1><p>Slow down and come again later.</p>')).toBe(
      'access_denied',
    ));
});

describe('a missing page above the latest stories', () => {
  const stories = Array.from(
    { length: 12 },
    (_, i) =>
      `<article><h3><a href="/n${i}">Story number ${i} of the pier and the harbour town</a></h3><p>A long teaser of story number ${i}, its people and its place in the news of the day.</p></article>`,
  ).join('');
  it('is a missing page', () => {
    const body = `<h1>Page not found</h1><p>Sorry.</p><h2>Latest news</h2>${stories}`;
    expect(reasonFor('Page not found - The Harbour Post', body)).toBe('soft_404');
  });
});

describe('the beginning of an article beside a login', () => {
  const text =
    'The council of the small harbour town voted on Tuesday evening to rebuild the old wooden pier, which a storm had torn apart in the winter of last year, after hours of debate.';
  const login = '<form><h2>Log in to read on</h2><input type="email"><input type="password"></form>';
  const page = (title: string, by: string) =>
    reasonFor(title, `<article><h1>${title}</h1>${by}<p>${text}</p></article>${login}`);

  it('is a document where it is signed', () =>
    expect(page('Harbour town votes to rebuild its pier', '<p class="byline">By Ada Lund</p>')).toBe(
      'valid',
    ));
  it('is a login where nobody signed', () =>
    expect(page('Harbour town votes to rebuild its pier', '')).toBe('login_wall'));
  it('is a login where it is called one', () =>
    expect(page('Log in to the Harbour Post', '<p class="byline">By Ada Lund</p>')).toBe('login_wall'));
});

describe('a page that says it is missing', () => {
  const entry = (i: number) =>
    `<div><a href="/topic/${i}">Lamps of pier ${i}</a> <span>Oil, glass and wicks for the keepers of harbour ${i}</span></div>`;
  const menus = `<footer>${Array.from({ length: 60 }, (_, i) => entry(i)).join('')}</footer>`;

  it('is missing however much its menus say, as long as it has no text', () => {
    expect(reasonFor('Page Not Found: The Harbour Post', `<h1>404 Errors</h1>${menus}`)).toBe('soft_404');
    expect(reasonFor('Lamps of the harbour', `<h1>All lamps</h1>${menus}`)).toBe('valid');
  });

  it('is an article where it goes on about it', () => {
    const text = `<p>${'Readers who meet a page that is not there leave the harbour and never come back to it. '.repeat(8)}</p>`;
    const article = `<article><h1>Page not found: why keepers lose their readers</h1><p>By Ada Lund</p>${text}</article>`;
    expect(reasonFor('Page not found: why keepers lose their readers', article + menus)).toBe('valid');
  });
});
