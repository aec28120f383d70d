import type { Exchange } from '../exchange.ts';
import { lexicons } from '../lexicon/index.ts';
import { notFoundPage, page, renderShell } from '../render/index.ts';
import type { FaultDefinition } from './fault.ts';

function sendPage(exchange: Exchange, title: string, body: string, status = 200): 'answered' {
  const { publisher } = exchange.site;
  exchange.send({ ...page(publisher, renderShell(publisher, title, body)), status });
  return 'answered';
}

function furnitureOf(exchange: Exchange) {
  return lexicons[exchange.site.publisher.language].furniture;
}

/** Pages with status 200 that are not the article. */
export const disguiseFaults: readonly FaultDefinition[] = [
  {
    name: 'nonce',
    says: 'The page as it is, with a number that no other answer has.',
    on: ['listing', 'article'],
    options: {},
    apply: (exchange) => {
      const { packed: _packed, etag: _etag, lastModifiedMs: _at, ...reply } = exchange.reply();
      const nonce = Buffer.from(`<!-- nonce ${exchange.seq} -->`);
      exchange.send({ ...reply, body: Buffer.concat([reply.body, nonce]) });
      return 'answered';
    },
  },
  {
    name: 'parameter-selects',
    says: 'A parameter that looks like tracking says which edition of the page comes, in every paragraph of it.',
    on: ['article'],
    options: { parameter: 'ref' },
    apply: (exchange, options) => {
      const edition = new URLSearchParams(exchange.query).get(options.text('parameter'));
      if (edition === null) return 'pass';
      const { packed: _packed, etag: _etag, lastModifiedMs: _at, ...reply } = exchange.reply();
      const text = reply.body.toString().replaceAll('<p>', `<p>In edition ${Number(edition)} one reads: `);
      exchange.send({ ...reply, body: Buffer.from(text) });
      return 'answered';
    },
  },
  {
    name: 'soft-404',
    says: 'The page for missing addresses, with status 200.',
    on: ['article'],
    options: {},
    expects: () => ({ outcome: 'dead', reason: 'soft_404' }),
    apply: (exchange) => {
      const { publisher } = exchange.site;
      exchange.send(page(publisher, notFoundPage(publisher)));
      return 'answered';
    },
  },
  {
    name: 'login-wall',
    says: 'A form for subscribers where the article should be.',
    on: ['article'],
    options: {},
    expects: () => ({ outcome: 'dead', reason: 'login_wall' }),
    apply: (exchange) => {
      const furniture = furnitureOf(exchange);
      const form = `<form action="/login" method="post"><input type="email" name="email"><input type="password" name="password"><button>${furniture.login}</button></form>`;
      return sendPage(
        exchange,
        furniture.login,
        `<main class="paywall"><h1>${furniture.login}</h1><p>${furniture.membersOnly}</p>${form}</main>`,
      );
    },
  },
  {
    name: 'challenge',
    says: 'A check for browsers, with status 200 or the one given.',
    on: ['article'],
    options: { status: 200 },
    expects: () => ({ outcome: 'dead', reason: 'challenge' }),
    apply: (exchange, options) =>
      sendPage(
        exchange,
        'Just a moment...',
        '<div id="challenge-stage"><h1>Checking your browser before you access this site</h1><noscript>Please enable JavaScript and cookies to continue.</noscript><form id="challenge-form" action="/cdn-cgi/challenge"></form><script>window.challenge=1</script></div>',
        options.number('status'),
      ),
  },
  {
    name: 'access-denied',
    says: 'A refusal in words, with status 200.',
    on: ['article'],
    options: {},
    expects: () => ({ outcome: 'dead', reason: 'access_denied' }),
    apply: (exchange) =>
      sendPage(
        exchange,
        'Access denied',
        '<h1>Access denied</h1><p>You do not have permission to access this resource on this server. Reference #18.2f.1699.a1</p>',
      ),
  },
  {
    name: 'js-only',
    says: 'An empty shell; a script puts the article in.',
    on: ['article'],
    options: {},
    expects: () => ({ outcome: 'needs_render' }),
    apply: (exchange) => {
      // The healthy page rides along in base64: a browser shows it without a second request.
      const hidden = exchange.reply().body.toString('base64');
      const script = `const bytes=Uint8Array.from(atob(${JSON.stringify(hidden)}),c=>c.charCodeAt(0));const text=new TextDecoder(document.characterSet).decode(bytes);const page=new DOMParser().parseFromString(text,'text/html');document.title=page.title;document.getElementById('app').replaceWith(...page.body.childNodes)`;
      return sendPage(
        exchange,
        exchange.site.publisher.title,
        `<div id="app"></div><noscript>You need to enable JavaScript to run this app.</noscript><script>${script}</script>`,
      );
    },
  },
  {
    name: 'too-short',
    says: 'An article of one sentence.',
    on: ['article'],
    options: {},
    expects: () => ({ outcome: 'dead', reason: 'too_short' }),
    apply: (exchange) => {
      const { title } = exchange.site.publisher;
      return sendPage(
        exchange,
        title,
        `<article><h1>${title}</h1><p>${furnitureOf(exchange).more}.</p></article>`,
      );
    },
  },
  {
    name: 'empty',
    says: 'Status 200 (or 204) and no body.',
    on: ['article'],
    options: { status: 200 },
    expects: () => ({ outcome: 'dead', reason: 'empty' }),
    apply: (exchange, options) => {
      exchange.send({
        status: options.number('status'),
        type: 'text/html; charset=utf-8',
        body: Buffer.alloc(0),
      });
      return 'answered';
    },
  },
  {
    name: 'fixed',
    says: 'The body given, with its status and Content-Type (none when empty), its Location or its Link.',
    on: ['article'],
    options: { status: 200, type: 'text/html; charset=utf-8', text: '', location: '', link: '' },
    apply: (exchange, options) => {
      const location = options.text('location');
      const link = options.text('link');
      exchange.send({
        status: options.number('status'),
        type: options.text('type'),
        body: Buffer.from(options.text('text')),
        ...(location === '' ? {} : { location }),
        ...(link === '' ? {} : { headers: { link } }),
      });
      return 'answered';
    },
  },
  {
    name: 'proto-ld',
    says: 'The article with structured data whose objects carry __proto__ and constructor keys.',
    on: ['article'],
    options: {},
    apply: (exchange) => {
      const reply = exchange.reply();
      const keys = '"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}';
      const data = `<script type="application/ld+json">{"@type":"NewsArticle",${keys},"author":{${keys}}}</script><meta property="__proto__" content="polluted"><meta name="constructor" content="polluted"></head>`;
      const text = reply.body.toString('latin1').replace('</head>', data);
      exchange.send({ status: 200, type: reply.type, body: Buffer.from(text, 'latin1') });
      return 'answered';
    },
  },
];
