import { describe, expect, it } from 'vitest';
import { extractPage } from '../extract/index.ts';
import { parsePage } from '../html/index.ts';
import { validatePage } from './index.ts';

const prose = (subject: string, count = 30) =>
  `<article>${`<p>The report on ${subject} says that engineers watched the traffic for weeks before they wrote a line about it.</p>`.repeat(count)}</article>`;

const check = (
  html: string,
  more: { status?: number; headers?: Record<string, string>; bodyBytes?: number } = {},
) =>
  validatePage({
    page: parsePage(html, { url: 'https://site.example/a' }),
    bodyBytes: more.bodyBytes ?? Math.max(html.length, 600),
    status: more.status ?? 200,
    headers: more.headers ?? {},
  });

describe('validatePage', () => {
  it.each([
    [
      'challenge',
      '<title>Just a moment...</title><body><h1>site.example</h1><p>Checking your browser before accessing.</p>',
    ],
    ['challenge', '<title>x</title><body><form id="challenge-form"></form><p>Wait a little.</p>'],
    [
      'access_denied',
      "<title>Access Denied</title><body><h1>Access Denied</h1><p>You don't have permission to access this.</p>",
    ],
    [
      'login_wall',
      '<title>Members</title><body><form><input name=u><input type=password></form><p>Welcome back.</p>',
    ],
    ['soft_404', '<title>Page not found</title><body><p>The page you are looking for does not exist.</p>'],
    [
      'needs_javascript',
      '<title>App</title><body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src="/m.js"></script>',
    ],
    ['needs_javascript', '<body><script>boot()</script></body>'],
    ['no_text', '<body><img src="a.png"></body>'],
    ['no_text', Array.from({ length: 3_000 }, (_, i) => String.fromCharCode((i * 7_919) % 256)).join('')],
  ])('rejects a %s page', (reason, html) => {
    expect(check(html)).toMatchObject({ outcome: 'rejected', reason });
  });

  it('rejects a body below the minimum, which the caller may set', () => {
    expect(check('<p>Hello to all of you out there</p>', { bodyBytes: 120 })).toMatchObject({
      reason: 'too_short',
    });
    const page = parsePage('<p>Hello to all of you out there</p>', { url: 'https://site.example/' });
    expect(validatePage({ page, bodyBytes: 120, status: 200, headers: {}, minBodyBytes: 50 })).toEqual({
      outcome: 'valid',
    });
  });

  it.each([
    'Cloudflare saying "checking your browser"',
    'access denied and 403 forbidden errors',
    'why you must enable JavaScript',
    'the famous 404 page not found',
  ])('accepts an article about %s', (subject) => {
    expect(check(`<title>All about ${subject}</title><body>${prose(subject)}`)).toEqual({ outcome: 'valid' });
  });

  it.each([
    ['Cloudflare outage: "checking your browser" for six hours', 'checking your browser'],
    ['Access denied: council closes its archive to readers', 'access denied'],
    ['Why shops answer 429 and how rate limits work', 'unusual traffic from your network'],
    ['Readers met a 403 Forbidden after the update', '403 forbidden'],
  ])('accepts a short news item titled %s', (title, said) => {
    const html = `<html><head><title>${title} | The Example Post</title><meta property="article:published_time" content="2026-02-03T08:00:00Z"></head><body><article><h1>${title}</h1><p>Visitors of several shops saw the words "${said}" on Tuesday morning, and for most of them the page did not go away until the afternoon.</p><p>The company that runs the service said that a rule it had changed in the night took ordinary readers for machines, and that the rule has been taken back since.</p><p>Nobody was asked to do anything, said a spokeswoman, who called the morning a lesson in humility.</p></article></body></html>`;
    const page = parsePage(html, { url: 'https://site.example/a' });
    const extraction = extractPage(page);
    expect(validatePage({ page, extraction, bodyBytes: html.length, status: 200, headers: {} })).toEqual({
      outcome: 'valid',
    });
  });

  it('is not fooled by a gate that carries a date', () => {
    const html = `<html><head><title>Access Denied | Example</title><meta property="article:published_time" content="2026-02-03T08:00:00Z"></head><body><h1>Access Denied</h1><p>${'You do not have permission to access this resource on this server and this event was logged. '.repeat(6)}</p></body></html>`;
    const page = parsePage(html, { url: 'https://site.example/a' });
    const extraction = extractPage(page);
    expect(
      validatePage({ page, extraction, bodyBytes: html.length, status: 200, headers: {} }),
    ).toMatchObject({ outcome: 'rejected', reason: 'access_denied' });
  });

  it.each([
    ['a declared day', '<meta property="article:published_time" content="2026-02-03T08:00:00Z">', 'valid'],
    ['no day', '', 'rejected'],
  ])('a short note about a gate that its title names beside its subject, with %s', (_, head, outcome) => {
    const advice =
      'Before you reset a lampnet router, try its hardware address, the cable and the one beside it. ';
    const html = `<html><head><title>Lampnet Access Denied</title>${head}</head><body><header><h1>Lampnet Access Denied</h1><p>Posted on Feb 3, 2026</p></header><div><p>${advice.repeat(3)}</p><p>${advice.replace('Before', 'Whenever').repeat(2)}</p></div></body></html>`;
    const page = parsePage(html, { url: 'https://site.example/a' });
    const extraction = extractPage(page);
    expect(
      validatePage({ page, extraction, bodyBytes: html.length, status: 200, headers: {} }),
    ).toMatchObject({ outcome });
  });

  it('takes the header of a challenge as proof whatever the text', () => {
    expect(check(prose('x'), { headers: { 'cf-mitigated': 'challenge' } })).toMatchObject({
      reason: 'challenge',
    });
  });

  it('lets an article carry a hidden login form', () => {
    expect(check(`<form><input type=password></form>${prose('the harbour')}`)).toEqual({ outcome: 'valid' });
  });
});
