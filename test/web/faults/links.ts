import { escapeText } from '../render/html.ts';
import { page, renderShell } from '../render/index.ts';
import type { FaultDefinition } from './fault.ts';

/** Loopback, metadata and private addresses in every notation a URL parser knows, and some that only look like one. */
export const literalLinks: readonly string[] = [
  'http://127.0.0.1/literal',
  'http://127.1/literal',
  'http://127.0.1/literal',
  'http://2130706433/literal',
  'http://0x7f000001/literal',
  'http://0x7f.0x0.0x0.0x1/literal',
  'http://0x7f.1/literal',
  'http://0177.0.0.1/literal',
  'http://017700000001/literal',
  'http://127.0.0.1./literal',
  'http://127%2e0%2e0%2e1/literal',
  'http://１２７.０.０.１/literal',
  'http://①②⑦.⓪.⓪.①/literal',
  'http://0/literal',
  'http://0.0.0.0/literal',
  'http://[::1]/literal',
  'http://[::]/literal',
  'http://[::ffff:127.0.0.1]/literal',
  'http://[::ffff:7f00:1]/literal',
  'http://[::127.0.0.1]/literal',
  'http://[64:ff9b::7f00:1]/literal',
  'http://[2002:7f00:1::]/literal',
  'http://[fe80::1]/literal',
  'http://[fd00::1]/literal',
  'http://[::ffff:169.254.169.254]/literal',
  'http://169.254.169.254/literal',
  'http://2852039166/literal',
  'http://100.100.100.200/literal',
  'http://192.0.0.192/literal',
  'http://168.63.129.16/literal',
  'http://10.0.0.1/literal',
  'http://172.16.0.1/literal',
  'http://192.168.0.1/literal',
  'http://100.64.0.1/literal',
  'http://198.18.0.1/literal',
  'http://224.0.0.1/literal',
  'http://240.0.0.1/literal',
  'http://255.255.255.255/literal',
  'http://localhost/literal',
  'http://a.localhost/literal',
  'http://user:secret@127.0.0.1/literal',
];

/** Links that no crawler may follow: other schemes, monsters, and what breaks careless code. */
export function oddLinks(host: string): string[] {
  return [
    'javascript:alert(1)',
    ' JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    'file:///etc/passwd',
    'file://localhost/etc/passwd',
    'data:text/html,<p>odd</p>',
    'ftp://files.test/odd',
    'gopher://files.test/_odd',
    'mailto:news@example.test',
    'tel:+1000',
    'blob:http://example.test/odd',
    'view-source:http://example.test/odd',
    'http://',
    'http:///',
    'http://[::1',
    'http://a b/',
    'http://host.test:99999/',
    '//',
    '',
    '__proto__',
    `http://${host}/${'long'.repeat(250_000)}`,
    `http://${host}/?${'q=1&'.repeat(250_000)}`,
    `http://${'label.'.repeat(1_000)}test/`,
    `http://${host}/nul-\u0000-in-the-middle`,
    `http://${host}/half-a-pair-\ud800-here`,
  ];
}

/** Pages whose links mean harm. */
export const linkFaults: readonly FaultDefinition[] = [
  {
    name: 'odd-links',
    says: 'A listing whose links are scripts, files, monsters and addresses of our own machine in every notation.',
    on: ['listing'],
    options: {},
    apply: (exchange) => {
      const { publisher } = exchange.site;
      const links = [...oddLinks(exchange.host), ...literalLinks];
      const list = links.map((link, i) => `<li><a href="${escapeText(link)}">a headline ${i}</a></li>`);
      exchange.send(page(publisher, renderShell(publisher, 'odd', `<ul>${list.join('')}</ul>`)));
      return 'answered';
    },
  },
  {
    name: 'feed-literals',
    says: 'A feed whose items lie on our own machine, in every notation.',
    on: ['feed'],
    options: {},
    apply: (exchange) => {
      const items = literalLinks.map(
        (link, i) => `<item><title>literal ${i}</title><link>${link}</link></item>`,
      );
      const text = `<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>${items.join('')}</channel></rss>`;
      exchange.send({ status: 200, type: 'application/rss+xml', body: Buffer.from(text) });
      return 'answered';
    },
  },
];
