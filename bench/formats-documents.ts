/** Documents for the format benchmarks, made here so that every machine measures the same. */

const words =
  'harbour council vote market storm school bridge festival river budget trial museum strike'.split(' ');

/** An RSS feed of about that many bytes, with what real ones carry: escaped and CDATA HTML, authors, categories. */
export function makeFeed(bytes: number): Buffer {
  const parts = [
    '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" ' +
      'xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Bench</title>' +
      '<link>https://bench.example/</link><description>Generated</description>\n',
  ];
  let size = parts[0]!.length;
  for (let index = 0; size < bytes; index += 1) {
    const item = makeItem(index);
    parts.push(item);
    size += Buffer.byteLength(item);
  }
  return Buffer.from(`${parts.join('')}</channel></rss>`);
}

function makeItem(index: number): string {
  const phrase = (count: number, seed: number) =>
    Array.from({ length: count }, (_, at) => words[(index * 7 + seed + at * 5) % words.length]).join(' ');
  const slug = phrase(5, 1).replaceAll(' ', '-');
  const date = new Date(Date.UTC(2024, 0, 1) + index * 3_600_000).toUTCString();
  return `<item><title>${phrase(7, 2)} &amp; ${phrase(2, 3)} – №${index}</title>
<link>https://bench.example/2024/${slug}-${index}</link>
<guid isPermaLink="false">bench-${index}</guid><pubDate>${date}</pubDate><dc:creator>${phrase(2, 4)}</dc:creator>
<category>${words[index % words.length]}</category><category><![CDATA[${phrase(2, 5)}]]></category>
<description>&lt;p&gt;${phrase(40, 6)} &lt;a href="https://bench.example/${index}"&gt;${phrase(3, 7)}&lt;/a&gt;&lt;/p&gt;</description>
<content:encoded><![CDATA[<p>${phrase(90, 8)}</p><img src="https://bench.example/i/${index}.jpg"><p>${phrase(90, 9)}</p>]]></content:encoded>
</item>
`;
}

/** A sitemap of about that many bytes, in chunks as a socket gives them. */
export async function* makeSitemap(bytes: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n',
  );
  for (let sent = 0, index = 0; sent < bytes; ) {
    let text = '';
    while (text.length < 65_536) {
      text += `<url><loc>https://bench.example/2024/05/${words[index % words.length]}-${index}?a=1&amp;b=2</loc><lastmod>2024-05-06T07:08:09+00:00</lastmod><changefreq>daily</changefreq></url>\n`;
      index += 1;
    }
    sent += text.length;
    yield Buffer.from(text);
  }
  yield Buffer.from('</urlset>');
}
