import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostKey, parseHostsFile } from './hosts-table.ts';

test('lines name addresses, ports and hosts', () => {
  const table = parseHostsFile(
    [
      '# comment',
      '127.0.0.1 localhost',
      '127.0.1.1:8080  News.Example www.news.example. # trailing',
      '[::1]:9090\tsix.example',
      '::1 bare-six.example',
      '10.0.0.1 news.example',
      '10.0.0.2 münchen.example',
    ].join('\r\n'),
  );
  expect(Object.fromEntries(table)).toEqual({
    localhost: { address: '127.0.0.1' },
    'news.example': { address: '127.0.1.1', port: 8080 },
    'www.news.example': { address: '127.0.1.1', port: 8080 },
    'six.example': { address: '::1', port: 9090 },
    'bare-six.example': { address: '::1' },
    'xn--mnchen-3ya.example': { address: '10.0.0.2' },
  });
});

test.each(['127.0.0.1', 'name 127.0.0.1', '127.0.0.1:0 a', '127.0.0.1:99999 a', '300.0.0.1 a', '[::1:80 a'])(
  '"%s" is reported and skipped',
  (line) => {
    const bad: [number, string][] = [];
    const table = parseHostsFile(`127.0.0.1 fine\n${line}`, (number, text) => bad.push([number, text]));
    expect(bad).toEqual([[2, line]]);
    expect([...table.keys()]).toEqual(['fine']);
  },
);

test('any text can be read', () => {
  fc.assert(fc.property(fc.string(), (text) => parseHostsFile(text) instanceof Map));
  fc.assert(fc.property(fc.string(), (text) => typeof hostKey(text) === 'string'));
});
