import type { Exchange } from '../exchange.ts';
import { escapeText } from '../render/html.ts';
import { notFoundPage, page } from '../render/index.ts';
import type { FaultDefinition } from './fault.ts';
import { oddLinks } from './links.ts';
import { startStream } from './wire.ts';

function sendFeed(exchange: Exchange, text: string, type = 'application/rss+xml'): 'answered' {
  exchange.send({ status: 200, type, body: Buffer.from(text) });
  return 'answered';
}

const rss = (items: string, before = '') =>
  `<?xml version="1.0"?>${before}<rss version="2.0"><channel><title>t</title>${items}</channel></rss>`;

/** Feeds and sitemaps that are broken or mean harm. */
export const channelFaults: readonly FaultDefinition[] = [
  {
    name: 'feed-html',
    says: 'A page of HTML with status 200 where the feed was.',
    on: ['feed', 'sitemap'],
    options: {},
    apply: (exchange) => {
      const { publisher } = exchange.site;
      exchange.send(page(publisher, notFoundPage(publisher)));
      return 'answered';
    },
  },
  {
    name: 'feed-empty',
    says: 'A valid feed without items.',
    on: ['feed'],
    options: {},
    apply: (exchange) => sendFeed(exchange, rss('')),
  },
  {
    name: 'feed-cut',
    says: 'A feed that ends in the middle of an item.',
    on: ['feed'],
    options: {},
    apply: (exchange) => {
      const reply = exchange.reply();
      exchange.send({
        status: 200,
        type: reply.type,
        body: reply.body.subarray(0, Math.floor(reply.body.length * 0.6)),
      });
      return 'answered';
    },
  },
  {
    name: 'feed-foreign',
    says: 'A feed whose items lie on other people’s hosts.',
    on: ['feed'],
    options: { items: 50 },
    apply: (exchange, options) => {
      const items = Array.from(
        { length: options.number('items') },
        (_, i) =>
          `<item><title>foreign ${i}</title><link>${exchange.elsewhere()}taken-from-a-foreign-feed-${i}</link></item>`,
      );
      return sendFeed(exchange, rss(items.join('')));
    },
  },
  {
    name: 'feed-schemes',
    says: 'Items whose links are scripts, files, addresses of our own machine and monsters.',
    on: ['feed'],
    options: {},
    apply: (exchange) => {
      const links = [...oddLinks(exchange.host), 'http://127.0.0.1/admin', 'http://0x7f.1/'].map(escapeText);
      const items = links.map((link, i) => `<item><title>odd ${i}</title><link>${link}</link></item>`);
      return sendFeed(exchange, rss(items.join('')));
    },
  },
  {
    name: 'proto-keys',
    says: 'A JSON Feed whose objects carry __proto__ and constructor keys.',
    on: ['feed'],
    options: {},
    apply: (exchange) => {
      const keys = '"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}';
      const link = `http://${exchange.host}/an-item-with-odd-keys`;
      const json = `{"version":"https://jsonfeed.org/version/1.1","title":"t",${keys},"items":[{"id":"1","url":"${link}",${keys}}]}`;
      return sendFeed(exchange, json, 'application/feed+json');
    },
  },
  {
    name: 'feed-huge',
    says: 'A feed with very many items, streamed.',
    on: ['feed'],
    options: { items: 1_000_000 },
    apply: (exchange, options) => {
      const stream = startStream(exchange, 200, { 'Content-Type': 'application/rss+xml' });
      stream.write('<?xml version="1.0"?><rss version="2.0"><channel><title>huge</title>');
      let next = 0;
      const pump = () => {
        while (next < options.number('items') && !exchange.response.destroyed) {
          let piece = '';
          for (const stop = Math.min(next + 500, options.number('items')); next < stop; next++)
            piece += `<item><title>item ${next}</title><link>http://${exchange.host}/huge-feed-item-number-${next}</link></item>\n`;
          if (!stream.write(piece)) return;
        }
        if (exchange.response.destroyed) return;
        stream.write('</channel></rss>');
        stream.end();
        next = Number.POSITIVE_INFINITY;
      };
      stream.whenDrained(() => {
        if (next !== Number.POSITIVE_INFINITY) pump();
      });
      pump();
      return 'answered';
    },
  },
  {
    name: 'xml-bomb',
    says: 'Entities that expand to a thousand million words.',
    on: ['feed', 'sitemap'],
    options: {},
    apply: (exchange) => {
      let entities = '<!ENTITY e0 "boom">';
      for (let i = 1; i <= 9; i++) entities += `<!ENTITY e${i} "${`&e${i - 1};`.repeat(10)}">`;
      return sendFeed(exchange, rss('<item><title>&e9;</title></item>', `<!DOCTYPE rss [${entities}]>`));
    },
  },
  {
    name: 'xxe',
    says: 'An external entity that names a local file and an address.',
    on: ['feed', 'sitemap'],
    options: {},
    apply: (exchange) =>
      sendFeed(
        exchange,
        rss(
          '<item><title>&file;&net;</title></item>',
          '<!DOCTYPE rss [<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY net SYSTEM "http://169.254.169.254/">]>',
        ),
      ),
  },
  {
    name: 'deep-xml',
    says: 'Elements nested very deep.',
    on: ['feed', 'sitemap'],
    options: { depth: 1_000_000 },
    apply: (exchange, options) => sendFeed(exchange, rss('<a>'.repeat(options.number('depth')))),
  },
  {
    name: 'sitemap-loop',
    says: 'A sitemap index that lists itself and a second one that lists it.',
    on: ['sitemap', 'other'],
    options: {},
    apply: (exchange) => {
      if (exchange.kind === 'other' && exchange.path !== '/sitemap-back.xml') return 'pass';
      const own = exchange.site.publisher.sitemaps[0]?.path ?? '/sitemap.xml';
      const children = [own, '/sitemap-back.xml']
        .map((path) => `<sitemap><loc>http://${exchange.host}${path}</loc></sitemap>`)
        .join('');
      const xml = `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${children}</sitemapindex>`;
      return sendFeed(exchange, xml, 'application/xml');
    },
  },
  {
    name: 'sitemap-foreign',
    says: 'A sitemap that lists another publisher’s addresses.',
    on: ['sitemap'],
    options: { items: 20 },
    apply: (exchange, options) => {
      const urls = Array.from(
        { length: options.number('items') },
        (_, i) => `<url><loc>${exchange.elsewhere()}taken-by-a-foreign-sitemap-${i}</loc></url>`,
      );
      const xml = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>`;
      return sendFeed(exchange, xml, 'application/xml');
    },
  },
];
