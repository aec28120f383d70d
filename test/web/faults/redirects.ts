import type { Exchange } from '../exchange.ts';
import type { FaultDefinition } from './fault.ts';

const maxFollowed = 5;

function redirect(exchange: Exchange, status: number, location: string): 'answered' {
  exchange.send({ status, type: 'text/html', body: Buffer.from('moved\n'), location });
  return 'answered';
}

function here(exchange: Exchange): URL {
  return new URL(
    `http://${exchange.host}${exchange.path}${exchange.query === '' ? '' : `?${exchange.query}`}`,
  );
}

function hopOf(exchange: Exchange): number {
  return Number(new URLSearchParams(exchange.query).get('hop') ?? 0);
}

function nextHop(exchange: Exchange, status: number): 'answered' {
  const url = here(exchange);
  url.searchParams.set('hop', String(hopOf(exchange) + 1));
  return redirect(exchange, status, url.href);
}

/** Addresses that lead elsewhere. */
export const redirectFaults: readonly FaultDefinition[] = [
  {
    name: 'redirect-chain',
    says: 'A number of redirects within the domain, then the page.',
    on: ['article'],
    options: { hops: 3, status: 302 },
    expects: (options, url) => {
      const hops = options.number('hops');
      if (hops > maxFollowed) return { outcome: 'dead', reason: 'too_many_redirects' };
      return { outcome: 'redirected', to: `${url}${url.includes('?') ? '&' : '?'}hop=${hops}` };
    },
    apply: (exchange, options) =>
      hopOf(exchange) < options.number('hops') ? nextHop(exchange, options.number('status')) : 'pass',
  },
  {
    name: 'redirect-endless',
    says: 'Every address redirects to one nobody has seen.',
    on: ['article'],
    options: { status: 302 },
    expects: () => ({ outcome: 'dead', reason: 'too_many_redirects' }),
    apply: (exchange, options) => nextHop(exchange, options.number('status')),
  },
  {
    name: 'redirect-loop',
    says: 'Two addresses that redirect to each other.',
    on: ['article'],
    options: { status: 302 },
    expects: () => ({ outcome: 'dead', reason: 'redirect_loop' }),
    apply: (exchange, options) => {
      const url = here(exchange);
      if (url.searchParams.has('loop')) url.searchParams.delete('loop');
      else url.searchParams.set('loop', '1');
      return redirect(exchange, options.number('status'), url.href);
    },
  },
  {
    name: 'cookie-check',
    says: 'Leads to the same address again until the cookie it sets comes back, or for ever with another cookie each time.',
    on: ['article'],
    options: { status: 302, forever: false },
    expects: (options) =>
      options.flag('forever') ? { outcome: 'dead', reason: 'too_many_redirects' } : { outcome: 'document' },
    apply: (exchange, options) => {
      const isBack = (exchange.request.headers.cookie ?? '').split('; ').includes('reader=yes');
      if (isBack && !options.flag('forever')) return 'pass';
      const value = options.flag('forever') ? exchange.seq : 'yes';
      exchange.send({
        status: options.number('status'),
        type: 'text/html',
        body: Buffer.from('moved\n'),
        location: here(exchange).href,
        headers: { 'set-cookie': `reader=${value}; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/` },
      });
      return 'answered';
    },
  },
  {
    name: 'redirect-away',
    says: 'Redirects to another publisher, or to the address given.',
    on: ['article'],
    options: { to: '', status: 301 },
    // The other publisher's front page, which is no article.
    expects: (options) =>
      options.text('to') === ''
        ? { outcome: 'dead', reason: 'led_to_listing' }
        : { outcome: 'redirected', to: options.text('to') },
    apply: (exchange, options) =>
      redirect(exchange, options.number('status'), options.text('to') || exchange.elsewhere()),
  },
  {
    name: 'meta-refresh',
    says: 'A page of one line, or a header and nothing else, that leads on to the address given, or to the same article under another one.',
    on: ['article'],
    options: { to: '', header: false },
    expects: (options, url) => ({
      outcome: 'redirected',
      to: options.text('to') || `${url}${url.includes('?') ? '&' : '?'}hop=1`,
    }),
    apply: (exchange, options) => {
      if (hopOf(exchange) > 0) return 'pass';
      const url = here(exchange);
      url.searchParams.set('hop', '1');
      const address = options.text('to') || url.href;
      const to = address.replaceAll('&', '&amp;');
      if (options.flag('header')) {
        const headers = { refresh: `0; url=${address}` };
        exchange.send({ status: 200, type: 'text/html', body: Buffer.alloc(0), headers });
        return 'answered';
      }
      const body = `<html><head><meta http-equiv="refresh" content="3; url=${to}"></head><body><p>This page has <a href="${to}">moved</a>.</p></body></html>`;
      exchange.send({ status: 200, type: 'text/html; charset=utf-8', body: Buffer.from(body) });
      return 'answered';
    },
  },
  {
    name: 'redirect-private',
    says: 'Redirects to an address that is nobody’s business.',
    on: ['article'],
    options: { to: 'http://169.254.169.254/latest/meta-data/', status: 302 },
    expects: (options) => ({ outcome: 'redirected', to: options.text('to') }),
    apply: (exchange, options) => redirect(exchange, options.number('status'), options.text('to')),
  },
  {
    name: 'redirect-bare',
    says: 'A redirect without a Location.',
    on: ['article'],
    options: { status: 302 },
    expects: () => ({ outcome: 'dead', reason: 'max_retries' }),
    apply: (exchange, options) => {
      exchange.send({ status: options.number('status'), type: 'text/html', body: Buffer.from('moved\n') });
      return 'answered';
    },
  },
  {
    name: 'moved',
    says: 'What was at an address is now under /moved, for good.',
    on: ['feed', 'sitemap', 'article', 'other'],
    options: { status: 301 },
    expects: (_options, url) => ({ outcome: 'redirected', to: url.replace(/^(http:\/\/[^/]*)/, '$1/moved') }),
    apply: (exchange, options) => {
      if (exchange.path.startsWith('/moved/')) {
        exchange.replace(exchange.replyFor(exchange.path.slice('/moved'.length), exchange.query));
        return 'pass';
      }
      if (exchange.kind === 'other') return 'pass';
      const url = here(exchange);
      url.pathname = `/moved${url.pathname}`;
      return redirect(exchange, options.number('status'), url.href);
    },
  },
];
