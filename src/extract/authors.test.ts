import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { extractPage } from './index.ts';
import { cleanName, splitNames } from './person-names.ts';

const TEXT = `<p>${'The keeper of the lamp went up the stairs each evening and wrote down what he saw. '.repeat(4)}</p>`;
const HEADLINE = '<h1>A lamp for the keeper of the harbour</h1>';
const declared = (name: string) => `<meta name="author" content="${name}">`;

function authorsOf(head: string, body: string): string[] {
  const html = `<head>${head}</head><body>${body}</body>`;
  return extractPage(parsePage(html, { url: 'https://post.example/stories/lamp' })).authors;
}

describe('authors', () => {
  it.each([['KatieS'], ['NOC Admin'], ['webteam']])(
    'are those the reader sees where only the account %s is declared',
    (account) => {
      const byline = '<p>by <a href="/authors/ada-lund">Ada Lund</a></p>';
      expect(authorsOf(declared(account), HEADLINE + byline + TEXT)).toEqual(['Ada Lund']);
      expect(authorsOf(declared(account), HEADLINE + TEXT)).toEqual([account]);
    },
  );

  it.each([
    'By Ada Lund with reporting by Jon Berg',
    'By Ada Lund for The Bay Post',
    'By Ada Lund for Reuters',
    'By Ada Lund, The Bay Post',
    'By Ada Lund, Harbour Correspondent, Lamp News',
    'By Ada Lund, Special to The Bay Post',
    'By Ada Lund @adalund',
    'By Ada Lund ada.lund@post.example',
    'By Ada Lund Yesterday at 17:20',
    'By Ada Lund Posted on Mar 5 2024',
    'Written By: Ada Lund Published: March 5, 2024',
    'Opinion by Ada Lund',
    'Guest post by Ada Lund',
  ])('are the names of a line and nothing beside them: %s', (line) =>
    expect(authorsOf('', `${HEADLINE}<p>${line}</p>${TEXT}`)).toEqual(['Ada Lund']),
  );

  it.each([
    ['id', 'Oleh Ada Lund', 'Ada Lund'],
    ['ro', 'De Ada Lund', 'Ada Lund'],
    ['zh', '来源：海湾网 作者：林小明', '林小明'],
    ['ko', '[서울=등대통신] 홍길동 기자', '홍길동'],
  ])('are known by the words of %s: %s', (lang, line, name) => {
    const html = `<html lang="${lang}"><body>${HEADLINE}<p>${line}</p>${TEXT}</body></html>`;
    expect(extractPage(parsePage(html, { url: 'https://post.example/stories/lamp' })).authors).toEqual([
      name,
    ]);
  });

  it.each(['Coalition for The Harbour', 'Texas Coalition for Lamp Keepers'])('may be a body: %s', (name) =>
    expect(cleanName(name)).toBe(name),
  );

  it('are cut out of names of any length in no time', () => {
    for (const piece of ['Ada Lund @', ' for The', ' with', 'Ada ', 'a@', ' posted on', '来源：'])
      expect(splitNames(piece.repeat(20_000))).toBeDefined();
  });

  it('are those declared where these are names and no line says otherwise', () => {
    const link = '<p><a href="/authors/ada-lund">Ada Lund</a></p>';
    expect(authorsOf(declared('Jon Berg'), HEADLINE + link + TEXT)).toEqual(['Jon Berg']);
    const byline = '<p>By Jon Berg in Lampstadt</p>';
    expect(authorsOf(declared('Jon Berg, MD'), HEADLINE + byline + TEXT)).toEqual(['Jon Berg, MD']);
  });

  it('are those the line below the headline names, not who put the page online', () => {
    const read = (line: string) => authorsOf(declared('Jon Berg'), `${HEADLINE}<p>${line}</p>${TEXT}`);
    expect(read('By <a href="/lund">Ada Lund</a> on Monday')).toEqual(['Ada Lund']);
    for (const other of [
      'By the Lamp Team',
      'By Lamp Staff',
      'By Lamps/Ships',
      'By Harbour LampsKeepers Houses',
    ])
      expect(read(other)).toEqual(['Jon Berg']);
    expect(authorsOf(declared('Jon Berg'), `${HEADLINE}${TEXT.repeat(9)}<p>By Ada Lund</p>`)).toEqual([
      'Jon Berg',
    ]);
  });

  it('are those of two the tags name whom the page shows as well', () => {
    const house = `${declared('Lampe Verlag')}<meta property="article:author" content="Ada Lund">`;
    const link = '<p><a href="/author/ada-lund">Ada Lund</a></p>';
    expect(authorsOf(house, HEADLINE + link + TEXT)).toEqual(['Ada Lund']);
    expect(authorsOf(house, HEADLINE + TEXT)).toEqual(['Lampe Verlag']);
    const staff = `${declared('Ada Lund')}<meta property="article:author" content="Lamp Staff">`;
    const team = '<p><a href="/author/staff">Lamp Staff</a></p>';
    expect(authorsOf(staff, HEADLINE + team + TEXT)).toEqual(['Ada Lund']);
  });

  it('are read though "by" is said twice, in a menu of the article, and on the page of an editor', () => {
    const read = (line: string) => authorsOf('', HEADLINE + line + TEXT);
    expect(read('<p><span>By</span><span>by ADA LUND and JON BERG</span></p>')).toEqual([
      'ADA LUND',
      'JON BERG',
    ]);
    expect(read('<nav>Edited by <span itemprop="author">Ada Lund</span></nav>')).toEqual(['Ada Lund']);
    expect(read('<p><a href="/about/editors/ada-lund/">Ada Lund</a></p>')).toEqual(['Ada Lund']);
  });

  it('are not whom the article is about', () => {
    const link = '<p><a href="/people/prince">Prince</a></p>';
    expect(authorsOf('<title>The lamps of Prince</title>', HEADLINE + link + TEXT)).toEqual([]);
    expect(authorsOf('<title>The lamps</title>', HEADLINE + link + TEXT)).toEqual(['Prince']);
  });

  it('stand after "written by" at the end of the text', () => {
    expect(authorsOf('', `${HEADLINE}${TEXT.repeat(9)}<p>Written by Ada Lund and Jon Berg</p>`)).toEqual([
      'Ada Lund',
      'Jon Berg',
    ]);
    expect(authorsOf('', `${HEADLINE}${TEXT.repeat(9)}<p>Written by hand and by moonlight</p>`)).toEqual([]);
  });

  it('are the name that microdata give a person, without what stands around it', () => {
    const box = (inside: string) =>
      `<div itemprop="author" itemscope itemtype="http://schema.org/Person">${inside}<div>140k <span>19</span></div></div>`;
    const link = '<a href="/users/1/ada">Ada L.</a>';
    expect(authorsOf('', HEADLINE + box(`${link}<span itemprop="name">Ada L.</span>`) + TEXT)).toEqual([
      'Ada L.',
    ]);
    expect(authorsOf('', HEADLINE + box('<meta itemprop="name" content="Jon Berg">') + TEXT)).toEqual([
      'Jon Berg',
    ]);
  });

  it('are all whose links are joined, and not those of a list of others', () => {
    const link = (name: string) => `<a href="/profile/${name.replace(' ', '-')}">${name}</a>`;
    const read = (between: string) =>
      authorsOf('', `${HEADLINE}<p>${link('Ada Lund')}${between}${link('Jon Berg')}</p>${TEXT}`);
    expect(read(' and ')).toEqual(['Ada Lund', 'Jon Berg']);
    expect(read(', ')).toEqual(['Ada Lund', 'Jon Berg']);
    expect(read('<br>')).toEqual(['Ada Lund']);
    expect(read(', reviewed by ')).toEqual(['Ada Lund']);
  });

  it('go without the place or the day beside them where another element names them alone', () => {
    const marked = (name: string) => `<div class="author">${name}</div>`;
    const read = (...names: string[]) => authorsOf('', HEADLINE + names.map(marked).join('') + TEXT);
    expect(read('Ada Lund <span>Lampstadt</span>', 'Ada Lund')).toEqual(['Ada Lund']);
    expect(read('Ada Lund Lampstadt', 'Jon Berg')).toEqual(['Ada Lund Lampstadt']);
  });

  it('are the first line of a box about them', () => {
    const box = (name: string) =>
      `<div class="post_author-box"><div>${name}</div><div>${'has kept lamps for twenty years. '.repeat(4)}</div></div>`;
    expect(authorsOf('', HEADLINE + box('Ada Lund') + TEXT)).toEqual(['Ada Lund']);
    expect(authorsOf('', HEADLINE + box('who keeps the lamps') + TEXT)).toEqual([]);
  });

  it('stand below a label for one or many', () => {
    expect(authorsOf('', `${HEADLINE}<h6>Author(s)</h6><ul><li>Ada Lund</li></ul>${TEXT}`)).toEqual([
      'Ada Lund',
    ]);
  });

  it('are the person a line names rather than the team of the house', () => {
    const team = '<p><a href="/author/team">Team Lamp</a></p>';
    const credit = '<p>Written by Ada Lund</p>';
    expect(authorsOf('', HEADLINE + team + TEXT + credit)).toEqual(['Ada Lund']);
    expect(authorsOf('', HEADLINE + team + TEXT)).toEqual(['Team Lamp']);
  });

  it('are the person a byline names rather than an organization', () => {
    const ld = `<script type="application/ld+json">{"@type":"Article","headline":"A lamp","author":{"@type":"Organization","name":"Lamp Agency"}}</script>`;
    expect(authorsOf(ld, `${HEADLINE}<p>Von: Ada Lund, Jon Berg</p>${TEXT}`)).toEqual([
      'Ada Lund',
      'Jon Berg',
    ]);
    expect(authorsOf(ld, HEADLINE + TEXT)).toEqual(['Lamp Agency']);
  });

  it('stand in the foot of the article, not in that of the page', () => {
    const foot = '<footer><a rel="author" href="/author/ada">Ada Lund</a></footer>';
    expect(authorsOf('', `<article>${HEADLINE}${TEXT}${foot}</article>`)).toEqual(['Ada Lund']);
    expect(authorsOf('', `<article>${HEADLINE}${TEXT}</article>${foot}`)).toEqual([]);
  });

  it('are those of links far from the headline only where these name one', () => {
    const far = '<i></i>'.repeat(700);
    const link = (name: string) => `<p><a href="/authors/${name.replace(' ', '-')}">${name}</a></p>`;
    expect(authorsOf('', HEADLINE + far + link('Ada Lund') + TEXT)).toEqual(['Ada Lund']);
    expect(authorsOf('', HEADLINE + far + link('Ada Lund') + link('Jon Berg') + TEXT)).toEqual([]);
  });

  it('are not what the author does', () => {
    const about = '<div class="author-description">Licensed Lamp Keeper</div>';
    expect(authorsOf('', HEADLINE + about + TEXT)).toEqual([]);
    expect(
      authorsOf('', `${HEADLINE}<div class="author-bio">This post was written by Ada Lund, a keeper</div>`),
    ).toEqual(['Ada Lund']);
  });

  it('are known by a portrait', () => {
    const portrait = '<p><img src="/a.jpg" alt="Ada Lund"></p><p>Ada Lund</p><p>May 17, 2024</p>';
    expect(authorsOf('', HEADLINE + portrait + TEXT)).toEqual(['Ada Lund']);
    expect(authorsOf('', HEADLINE + portrait.replace('alt', 'data-alt') + TEXT)).toEqual([]);
  });

  it.each([
    ['May 17, 2024 · Ada Lund on behalf of the keepers', 'Ada Lund'],
    ['May 17, 2024 | Harbour', null],
    ['Ada LundMay 17, 2024', 'Ada Lund'],
    ['Ada Lund 4 Comments', 'Ada Lund'],
    ['5 mins read', null],
    ['Ada Lund, 14', 'Ada Lund'],
    ['Ada Lund Thursday', 'Ada Lund'],
    ['Joe Friday', 'Joe Friday'],
    ['Jul 11 Written By Ada Lund', 'Ada Lund'],
  ])('are cleaned of dates and counts: %j', (text, expected) => expect(cleanName(text)).toBe(expected));

  it.each([
    ['Analysis by Ada Lund', 'Ada Lund'],
    ['ADA LUND AP Lamps Writer', 'ADA LUND'],
    ['Ada Lund, Associated Press Writer', 'Ada Lund'],
    ['Ada Lund/Lamps.com', 'Ada Lund'],
    ['Ada Lund in Lamps, Tips', 'Ada Lund'],
    ['Ada Lund // Lamps', 'Ada Lund'],
    ['Ada Lund ? More by this author', 'Ada Lund'],
    ['Ada Lund Leave a Comment', 'Ada Lund'],
    ['Ada Lund’s posts', 'Ada Lund'],
    ['AFP)', 'AFP'],
    ['Ada (AL) Lund, 14', 'Ada (AL) Lund'],
    ['Ada Lund (Lamps)', 'Ada Lund'],
    ['Ada Lund Edited by Jon Berg', 'Ada Lund'],
    ['作者：裴鈺', '裴鈺'],
    ['本文栏目：上海 作者：陈鑫', '陈鑫'],
    ['文｜财新 余聪', '余聪'],
    ['文/余聪', '余聪'],
    ['Ada Lund 140k', 'Ada Lund'],
    ['Ada Lund 4 August 2010', 'Ada Lund'],
    ['Ada Lund, 18', 'Ada Lund'],
    ['Lampe 12', 'Lampe 12'],
    ['Ada Lund Reuters', 'Ada Lund'],
    ['La Lampe et AFP', 'La Lampe et AFP'],
    ['Ada Lund / Reuters / REUTERS', 'Ada Lund'],
    ['Ada B. Bloomberg', 'Ada B. Bloomberg'],
    ['Ada Lund ·Feb 14', 'Ada Lund'],
  ])('are cleaned of what stands beside them: %j', (text, expected) =>
    expect(cleanName(text)).toBe(expected),
  );

  it.each([
    ['Published'],
    ['View Profile'],
    ['RSS'],
    ['Columnists'],
    ['Bluesky'],
    ['Send your views'],
    ['Login'],
    ['Login 50% 50%'],
    ['Comment'],
    ['0 comments Comment Now'],
    ['Publish a post'],
    ['Edit Profile'],
    ['Where to Listen'],
    ['Ada Lund dies aged'],
    ['Is the Lamp Right or Wrong?'],
    ['Music by'],
    ['Lamps for $20'],
  ])('a button or a section is none: %j', (text) => expect(cleanName(text)).toBeNull());

  it.each([
    ['lrt_authors', 'Ada Lund', ['Ada Lund']],
    ['news.author.name', 'Ada Lund, Jon Berg', ['Ada Lund', 'Jon Berg']],
    ['twitter:misc:Written by', 'Ada Lund', ['Ada Lund']],
    ['smartbanner:author', 'Lamp House', []],
    ['coauthored', 'Ada Lund', []],
    ['item:author', 'https://post.example/ada', []],
    ['author', 'Ada Lund - https://post.example.com/ada', ['Ada Lund']],
  ])('are read from meta %s', (name, value, expected) => {
    expect(authorsOf(`<meta name="${name}" content="${value}">`, HEADLINE + TEXT)).toEqual(expected);
  });

  it.each([
    ['DC.creator', ['Lund, Ada', 'Berg, J. T.', 'Berg, Jon T.'], ['Ada Lund', 'J. T. Berg', 'Jon T. Berg']],
    ['dcterms.creator', ['van der Lund, Ada'], ['Ada van der Lund']],
    ['citation_author', ['Lund Berg, Ada'], ['Ada Lund Berg']],
    ['citation_author', ['Lund Berg, J. T.', 'Ada Lund, MD'], ['J. T. Lund Berg', 'Ada Lund, MD']],
    ['DC.creator', ['Ada Lund, Jon Berg'], ['Ada Lund', 'Jon Berg']],
  ])('are turned where a library has the last name first: %s %j', (name, values, names) => {
    const head = values.map((value) => `<meta name="${name}" content="${value}">`).join('');
    expect(authorsOf(head, HEADLINE + TEXT)).toEqual(names);
  });

  it('are not the first word of a label of the last change', () =>
    expect(authorsOf('', `${HEADLINE}<div class="author-details">Last Updated: May 17</div>${TEXT}`)).toEqual(
      [],
    ));

  it('are cut out of what the data tell of them', () => {
    const long = `Ada Lund, professor of lamps at the University of Lampstadt and keeper of ${'many '.repeat(9)}houses`;
    const ld = `<script type="application/ld+json">{"@type":"Article","headline":"A lamp","author":{"name":"${long}"}}</script>`;
    expect(authorsOf(ld, HEADLINE + TEXT)).toEqual(['Ada Lund']);
  });

  it('are an account only where nobody is named', () => {
    expect(authorsOf(declared('ada.lund'), HEADLINE + TEXT)).toEqual(['ada.lund']);
    expect(authorsOf(declared('page.author'), HEADLINE + TEXT)).toEqual([]);
    expect(authorsOf(declared('ada.lund'), `${HEADLINE}<p>By Ada Lund</p>${TEXT}`)).toEqual(['Ada Lund']);
  });

  it('go without what they do', () => {
    expect(splitNames('Ada Lund, Senior Lamp Editor')).toEqual(['Ada Lund']);
    expect(splitNames('Ada Lund and Jon Head')).toEqual(['Ada Lund', 'Jon Head']);
    expect(splitNames('RT en Español')).toEqual(['RT en Español']);
    expect(splitNames('Ada Lund en Jon Berg')).toEqual(['Ada Lund', 'Jon Berg']);
    expect(splitNames('ADA LUND AND JON HEAD')).toEqual(['ADA LUND', 'JON HEAD']);
  });

  it.each([
    ['I review different modules and games', null],
    ['Rosa van der Lund', 'Rosa van der Lund'],
    ['Luís da Costa e Silva', 'Luís da Costa e Silva'],
  ])('a sentence is no name: %j', (text, expected) => expect(cleanName(text)).toBe(expected));

  const ofData = (author: unknown) =>
    authorsOf(
      `<script type="application/ld+json">${JSON.stringify({ '@type': 'Article', headline: 'A lamp', author })}</script>`,
      HEADLINE + TEXT,
    );

  it.each([
    ['Ada Lund, Jon Berg & Eva Strand', ['Ada Lund', 'Jon Berg', 'Eva Strand']],
    ['Ada Lund and Jon Berg', ['Ada Lund', 'Jon Berg']],
    ['Ada Lund, Jon Berg', ['Ada Lund', 'Jon Berg']],
    ['Ada Lund and Jon Berg, The Lamp', ['Ada Lund', 'Jon Berg']],
    ['Lund, Ada', ['Lund, Ada']],
    ['Lund and Berg', ['Lund and Berg']],
    ['Ada Lund, Jr.', ['Ada Lund, Jr.']],
    ['Ada Lund, MD, PhD', ['Ada Lund, MD, PhD']],
    ['Ada Lund, MD FACP', ['Ada Lund, MD FACP']],
    [`Ada Lund, Sr. Director of Lamps, North Quay Lamps - ${'many '.repeat(9)}years`, ['Ada Lund']],
    ['Lamp Research and Harbour University', ['Lamp Research and Harbour University']],
  ])('are split in the data where each part is a name: %j', (name, expected) => {
    expect(ofData(name)).toEqual(expected);
    expect(ofData([{ '@type': 'Person', name }])).toEqual(expected);
  });

  it('are not split where they are an organization', () => {
    expect(ofData({ '@type': 'Organization', name: 'Ada Lund and Jon Berg' })).toEqual([
      'Ada Lund and Jon Berg',
    ]);
  });

  it('are not the account a system begins with', () => {
    for (const name of ['Super User', 'admin', 'Administrator'])
      expect(authorsOf(declared(name), HEADLINE + TEXT)).toEqual([]);
  });

  it.each([
    ['Ada Lund at Quay Park', '', ['Ada Lund']],
    ['Von unserer Korrespondentin Ada Lund, Bergen', '', ['Ada Lund']],
    ['Par notre envoyée spéciale Ada Lund', 'fr', ['Ada Lund']],
    ['Автор: Анна Лунд', 'ru', ['Анна Лунд']],
    ['Text: Ada Lund / Foto: Jon Berg', 'de', ['Ada Lund']],
    ['Text und Fotos: Ada Lund', 'de', ['Ada Lund']],
    ['Story by Ada Lund; photos by Jon Berg', 'en', ['Ada Lund']],
    ['Texto: Ada Lund', 'es', ['Ada Lund']],
    ['Words: Ada Lund', 'en', ['Ada Lund']],
    ['Haber: Ada Lund', 'tr', ['Ada Lund']],
    ['Interview: Ada Lund', 'de', ['Ada Lund']],
    ['Door Ada Lund', 'nl', ['Ada Lund']],
    ['Της Άδας Λουντ', 'el', ['Άδας Λουντ']],
    ['김민수 기자', 'ko', ['김민수']],
    ['作者：王小明', 'zh', ['王小明']],
    ['文／山田花子', 'ja', ['山田花子']],
    ['بقلم ليلى حداد', 'ar', ['ليلى حداد']],
    ['מאת נועה לוי', 'he', ['נועה לוי']],
  ])('are read from an element that is marked as theirs: %j', (line, lang, expected) => {
    const html = `<html lang="${lang}"><body>${HEADLINE}<p class="byline">${line}</p>${TEXT}</body></html>`;
    expect(extractPage(parsePage(html, { url: 'https://post.example/stories/lamp' })).authors).toEqual(
      expected,
    );
  });

  it('leave the text with the line that names them, be it one word', () => {
    for (const line of ['作者：王小明', '김민수 기자', 'Story by Ada Lund; photos by Jon Berg']) {
      const { text, authors } = extractPage(
        parsePage(`${HEADLINE}<p>${line}</p>${TEXT.repeat(2)}`, { url: 'https://post.example/lamp' }),
      );
      expect(authors).toHaveLength(1);
      expect(text).toMatch(/^The keeper/);
    }
  });
});
