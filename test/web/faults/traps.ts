import type { Exchange } from '../exchange.ts';
import { hashOf } from '../random.ts';
import { page, renderShell } from '../render/index.ts';
import type { FaultDefinition } from './fault.ts';

/** A page of links and no news. */
function trapPage(exchange: Exchange, title: string, links: readonly string[]): 'answered' {
  const { publisher } = exchange.site;
  const list = links
    .map((link) => `<li><a href="${link.replaceAll('&', '&amp;')}">${link.length}</a></li>`)
    .join('');
  exchange.send(page(publisher, renderShell(publisher, title, `<h1>${title}</h1><ul>${list}</ul>`)));
  return 'answered';
}

const colours = ['red', 'green', 'blue', 'grey'];
const facets = ['colour', 'size', 'sort', 'view', 'brand'];

/** Places a spider can walk into and never leave. */
export const trapFaults: readonly FaultDefinition[] = [
  {
    name: 'trap-calendar',
    says: 'Months without end, each with its days, all empty.',
    on: ['other'],
    options: {},
    links: () => ['/calendar/2026/01'],
    apply: (exchange) => {
      const match = /^\/calendar\/(\d{1,6})\/(\d{2})(?:\/\d{2})?$/.exec(exchange.path);
      if (match === null) return 'pass';
      const months = Number(match[1]) * 12 + Number(match[2]) - 1;
      const at = (n: number) => `/calendar/${Math.floor(n / 12)}/${String((n % 12) + 1).padStart(2, '0')}`;
      const days = Array.from(
        { length: 28 },
        (_, day) => `${at(months)}/${String(day + 1).padStart(2, '0')}`,
      );
      return trapPage(exchange, `Calendar ${match[1]}-${match[2]}`, [
        at(months + 1),
        at(Math.max(0, months - 1)),
        ...days,
      ]);
    },
  },
  {
    name: 'trap-session',
    says: 'Every visit to a page gets links with a new session number.',
    on: ['other'],
    options: {},
    links: () => ['/browse?sid=start'],
    apply: (exchange, _options, state) => {
      if (exchange.path !== '/browse') return 'pass';
      const session = (n: number) => hashOf('session', state.seen, n).toString(16);
      return trapPage(
        exchange,
        'Browse',
        [1, 2, 3].map((n) => `/browse?sid=${session(n)}&item=${n}`),
      );
    },
  },
  {
    name: 'trap-facet',
    says: 'Filters that combine without end, in every order.',
    on: ['other'],
    options: {},
    links: () => ['/catalogue?colour=red'],
    apply: (exchange) => {
      if (exchange.path !== '/catalogue') return 'pass';
      const links = facets.flatMap((facet, i) =>
        colours.map((value) => `/catalogue?${exchange.query}&${facet}=${value}${i}`),
      );
      return trapPage(exchange, 'Catalogue', links);
    },
  },
  {
    name: 'trap-path',
    says: 'Relative links that make the path longer with every step.',
    on: ['other'],
    options: {},
    links: () => ['/topics/'],
    apply: (exchange) => {
      if (!exchange.path.startsWith('/topics/')) return 'pass';
      return trapPage(exchange, 'Topics', ['more/', 'related/', `${exchange.path}all/`]);
    },
  },
  {
    name: 'trap-pages',
    says: 'A listing whose every page exists and repeats the first one’s articles.',
    on: ['listing'],
    options: {},
    apply: (exchange) => {
      const query = new URLSearchParams(exchange.query).get('page');
      const inPath = /\/page\/(\d+)\/?$/.exec(exchange.path)?.[1];
      const number = Number(query ?? inPath ?? 1);
      if (!(number > 1)) return 'pass';
      const base = exchange.path.replace(/page\/\d+\/?$/, '');
      const first = exchange.replyFor(base, '');
      const next = inPath === undefined ? `${base}?page=${number + 1}` : `${base}page/${number + 1}`;
      const more = Buffer.from(`<p><a rel="next" href="${next}">${number + 1}</a></p>`);
      exchange.send({ status: 200, type: first.type, body: Buffer.concat([first.body, more]) });
      return 'answered';
    },
  },
];
