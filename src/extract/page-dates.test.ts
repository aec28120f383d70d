import { describe, expect, it } from 'vitest';
import { habitsOfLanguage } from '../dates/index.ts';
import { parsePage } from '../html/index.ts';
import { extractPage, writtenDates } from './index.ts';
import { datesInText } from './written-dates.ts';

const TEXT = `<p>${'The keeper of the lamp went up the stairs each evening and wrote down what he saw. '.repeat(4)}</p>`;

function read(head: string, body: string, url = 'https://post.example/stories/lamp', lang = '') {
  const extraction = extractPage(
    parsePage(`<html lang="${lang}"><head>${head}</head><body>${body}</body></html>`, { url }),
  );
  const { publishedAt, modifiedAt, evidence } = extraction;
  const day = (date: Date | null) => date?.toISOString().slice(0, 10) ?? null;
  return {
    published: day(publishedAt),
    modified: day(modifiedAt),
    from: evidence.publishedAt,
    ...writtenDates(extraction),
  };
}

const HEADLINE = '<h1>A lamp for the keeper of the harbour</h1>';
const ld = (published: string) =>
  `<script type="application/ld+json">{"@type":"Article","headline":"A lamp","datePublished":"${published}"}</script>`;

describe('what systems write for no date', () => {
  it.each([
    '1970-01-01T00:00:00Z',
    '1970-01-01T01:00:00+01:00',
    '1969-12-31T23:59:59Z',
    '0001-01-01T00:00:00',
  ])('%s is none', (none) => {
    const shown = `${HEADLINE}<p>Posted May 17, 2024</p>${TEXT}`;
    expect(read(ld(none), shown).published).toBe('2024-05-17');
    expect(read(ld(none), HEADLINE + TEXT).published).toBeNull();
  });
});

describe('dates for machines beside "5 hours ago"', () => {
  it.each([
    ['hAtom', '<abbr class="published" title="2024-05-17T08:00:00+01:00">5 hours ago</abbr>'],
    ['RDFa', '<span property="schema:datePublished" content="2024-05-17">5 hours ago</span>'],
    ['microdata', '<span itemprop="datePublished" content="2024-05-17">5 hours ago</span>'],
  ])('are read from %s', (_, element) =>
    expect(read('', HEADLINE + element + TEXT).published).toBe('2024-05-17'),
  );
});

describe('two labelled dates of one line', () => {
  it.each([
    'Published May 17, 2024; updated May 19, 2024',
    'Updated May 19, 2024; published May 17, 2024',
    'Last updated: 19 May 2024 | First posted: 17 May 2024',
    'Aktualisiert am 19. Mai 2024, veröffentlicht am 17. Mai 2024',
  ])('%s', (line) =>
    expect(read('', `${HEADLINE}<p>${line}</p>${TEXT}`)).toMatchObject({
      published: '2024-05-17',
      modified: '2024-05-19',
    }),
  );
});

describe('dates in text', () => {
  it.each([
    '2024년 5월 17일',
    '2024年5月17日',
    '2024. május 17.',
    '2024 May 17',
    '2024 m. gegužės 17 d.',
    '17-May-2024',
    '2024. 5. 17.',
    '١٧ مايو ٢٠٢٤',
    '१७ मई २०२४',
    '17 मई 2024',
    '17 พฤษภาคม 2567',
    '17. toukokuuta 2024',
    '17 de mayo de 2024',
    'May 17th, 2024',
    'May 17. 2024',
    'May 17,2024',
    'MAY 17TH 2024',
    '17TH MAY 2024',
    '2024-May-17',
    '17.May.2024',
    '17 أيار / مايو 2024',
    '17 أيار 2024',
    '17 במאי 2024',
    '17 tháng 5, 2024',
    '17 tháng 5 năm 2024',
  ])('reads %s', (text) => {
    const line = `Harbour news · ${text} · by Ada Lund`;
    expect(datesInText(line).map(({ date }) => date.toISOString().slice(0, 10))).toEqual(['2024-05-17']);
  });

  it.each(['02-12-2025', 'from 20 to 2024 lamps', '10 of 2024 lamps', 'version 20.4.17', 'lamp-v17.5.2024'])(
    'leaves %j alone',
    (text) => expect(datesInText(text)).toEqual([]),
  );

  it.each([
    ['By Ada LundMay 17, 2024', 'May 17, 2024'],
    ['UpdatedMay 17, 2024', 'May 17, 2024'],
    ['May 17, 20245 mins', 'May 17, 2024'],
    ['May 17th 202411 mins', 'May 17th 2024'],
    ['17 May 20247:55 AM', '17 May 2024'],
    ['Ada Lund17.5.2024', '17.5.2024'],
    ['Ada Lund17. Mai 2024', '17. Mai 2024'],
  ])('finds the date in %j, whose elements only their style sets apart', (text, raw) => {
    const at = text.indexOf(raw);
    expect(datesInText(text)).toMatchObject([{ date: new Date('2024-05-17'), raw, at }]);
  });
});

describe('dates of other calendars in text', () => {
  it.each<[line: string, language: string, days: string]>([
    ['تاریخ انتشار: جمعه ۱۲ مرداد ۱۴۰۳ - ۱۰:۳۰', 'fa', '2024-08-02'],
    ['کد خبر 48213 | 1403/05/12 - 10:30', 'fa', '2024-08-02'],
    ['1403/05/12 - 10:30', 'fa', '2024-08-02'],
    ['۱۴۰۳/۰۵/۱۲', '', '2024-08-02'],
    ['یکشنبه ۱۶ اردیبهشت ۱۴۰۳ | ۵ مه ۲۰۲۴ | ۲۶ شوال ۱۴۴۵', 'fa', '2024-05-05 2024-05-05'],
    ['۱۴۰۳/۰۲/۱۶ - ۱۴۴۵/۱۰/۲۶', 'fa', '2024-05-05'],
    ['السبت 25 شوال 1445 هـ الموافق 4 مايو 2024 م', 'ar', '2024-05-04'],
    ['1445/10/25 هـ - 2024/05/04 م', 'ar', '2024-05-04'],
    ['2024/05/04 - 25/10/1445', 'ar', '2024-05-04'],
    ['25 شوال 1445', 'ar', ''],
    ['1403/05/12', 'ar', ''],
    ['1403/05/12', '', ''],
    ['เผยแพร่ 12 ส.ค. 2567 | 10:30 น.', 'th', '2024-08-12'],
    ['12 ส.ค. 67 10:30 น.', 'th', '2024-08-12'],
    ['12 ส.ค. 67', '', '2024-08-12'],
    ['12 ส.ค. 67 คน', '', ''],
    ['12/08/2567', 'th', '2024-08-12'],
    ['發布日期:113年5月4日', 'zh-TW', '2024-05-04'],
    ['中華民國 113 年 5 月 4 日 星期六', '', '2024-05-04'],
    ['發布日期:113/05/04 點閱數:120', 'zh-TW', '2024-05-04'],
    ['113/05/04', '', ''],
    ['掲載日 令和6年5月4日', 'ja', '2024-05-04'],
    ['掲載日：令和６年５月４日', 'ja', '2024-05-04'],
    ['2024年(令和6年)5月4日', '', '2024-05-04'],
    ['R6/10/14', 'ja', '2024-10-14'],
    ['農曆2024年4月5日', 'zh-TW', ''],
    ['2024年5月4日 農曆3月26日', 'zh-TW', '2024-05-04'],
    ['農曆3月26日 2024年5月4日', 'zh-TW', '2024-05-04'],
    ['२०८१ जेठ १५ · 2081-02-15', 'ne', ''],
    ['12/02/2016', 'am', ''],
  ])('%s by a writer of "%s" is %s', (line, language, days) => {
    const found = datesInText(line, 5, habitsOfLanguage(language));
    expect(found.map(({ date }) => date.toISOString().slice(0, 10)).join(' ')).toBe(days);
    for (const { raw, at } of found) expect(line.slice(at, at + raw.length)).toBe(raw);
  });

  it.each(["May 12, '24", "12 May '24", '12-May-24'])('%s has a year of two digits', (text) => {
    expect(datesInText(`by Ada Lund · ${text}`)).toMatchObject([{ date: new Date('2024-05-12'), raw: text }]);
  });

  it('is read off a page that shows it', () => {
    for (const [lang, line] of [
      ['fa', '۱۲ مرداد ۱۴۰۳'],
      ['fa', '1403/05/12'],
      ['th', '2 ส.ค. 2567'],
      ['zh-TW', '113/08/02'],
      ['ja', '令和6年8月2日'],
    ] as const)
      expect(read('', `<h1>A lamp</h1><p>${line}</p>${TEXT}`, undefined, lang).published).toBe('2024-08-02');
  });

  it('is the declared one where the shown one is numbers that may be two days, in any digits', () => {
    const { published } = read(ld('2024-07-05'), `${HEADLINE}<p>٠٣/٠٤/٢٠٢٤</p>${TEXT}`, undefined, 'ar');
    expect(published).toBe('2024-07-05');
  });

  it.each([
    ['fa', 'آخرین به‌روزرسانی: ۱ شهریور ۱۴۰۳', 'تاریخ انتشار: ۱۲ مرداد ۱۴۰۳'],
    ['th', 'อัปเดต 22 ส.ค. 2567', 'เผยแพร่ 2 ส.ค. 2567'],
    ['zh-TW', '更新日期:113/08/22', '發布日期:113/08/02'],
    ['ja', '更新日 令和6年8月22日', '掲載日 令和6年8月2日'],
  ])('is not the one a page in %s calls its last change', (lang, updated, published) => {
    expect(
      read('', `<h1>A lamp</h1><p>${updated}</p><p>${published}</p>${TEXT}`, undefined, lang),
    ).toMatchObject({
      published: '2024-08-02',
      modified: '2024-08-22',
    });
  });
});

describe('the date of publication', () => {
  it.each([
    ['og:publish_date'],
    ['cXenseParse:recs:publishtime'],
    ['sailthru.date'],
    ['parsely-pub-date'],
    ['DC.date.issued'],
    ['vr:published_time'],
    ['release_date'],
  ])('is read from meta %s', (name) => {
    const found = read(`<meta name="${name}" content="2024-05-17T10:00:00+02:00">`, HEADLINE + TEXT);
    expect(found).toMatchObject({ published: '2024-05-17' });
  });

  it('is read from the record of an analytics service, with author and section', () => {
    const record =
      '{"title":"A lamp","pub_date":"2024-05-17T10:00:00Z","authors":["Ada Lund","Bo Wiik"],"section":"Harbour"}';
    const head = `<meta name="parsely-page" content='${record}'>`;
    expect(read(head, HEADLINE + TEXT).published).toBe('2024-05-17');
    const page = (content: string) =>
      extractPage(
        parsePage(`<head><meta name="parsely-page" content='${content}'></head>${HEADLINE}${TEXT}`, {
          url: 'https://post.example/a',
        }),
      );
    expect(page(record)).toMatchObject({ authors: ['Ada Lund', 'Bo Wiik'], section: 'Harbour' });
    // What is no record says nothing.
    for (const odd of ['{', '[1]', '"Lund"', '{"pub_date":{},"author":7}'])
      expect(page(odd)).toMatchObject({ authors: [], publishedAt: null, section: null });
  });

  it('is read from the footer of the article itself, not from those of its comments or of the page', () => {
    const time = '<time datetime="2024-05-17 10:00:00 -0500">5.17.24</time>';
    const article = (footer: string) => `<article>${HEADLINE}${TEXT}${footer}</article>`;
    expect(read('', article(`<footer><ul><li>${time}</li></ul></footer>`)).published).toBe('2024-05-17');
    for (const none of [
      article(`<footer><div class="related">${time}</div></footer>`),
      article(`<footer>Updated ${time}</footer>`),
      `${article('')}<footer>${time}</footer>`,
      `${article('')}<article><h3>Another</h3><footer>${time}</footer></article>`,
    ])
      expect(read('', none).published, none).toBeNull();
  });

  it('is written by the clock of the page, whose day its readers see', () => {
    const declared = `<script type="application/ld+json">{"@type":"Article","headline":"A lamp",
      "datePublished":"2025-06-25T20:57:54-04:00","dateModified":"2025-06-27T03:00:00Z"}</script>`;
    expect(read(declared, HEADLINE + TEXT)).toMatchObject({
      published: '2025-06-26',
      publishedAt: '2025-06-25T20:57:54.000-04:00',
      modifiedAt: '2025-06-27T03:00:00.000Z',
    });
    expect(read('', `${HEADLINE}<p>5 March 2024</p>${TEXT}`)).toMatchObject({
      publishedAt: '2024-03-05T00:00:00.000Z',
      modifiedAt: null,
    });
  });

  it('is not read from meta tags of change or expiry', () => {
    const head =
      '<meta name="publish_updated_date" content="2024-05-17"><meta name="publication_expiry_date" content="2034-05-17">';
    expect(read(head, HEADLINE + TEXT).published).toBeNull();
  });

  it('is the earlier one shown above the headline or after "published", not the declared one', () => {
    for (const line of ['May 17, 2024', 'Travel May 17, 2024 – 5 min read'])
      expect(read(ld('2024-07-05'), `<p>${line}</p>${HEADLINE}${TEXT}`).published).toBe('2024-05-17');
    const labelled = `${HEADLINE}${TEXT.repeat(30)}<div>Published <time datetime="2024-05-17">May 17, 2024</time></div>`;
    expect(read(ld('2024-07-05'), labelled).published).toBe('2024-05-17');
    // Without a label a time below the text may be anything.
    expect(read(ld('2024-07-05'), labelled.replace('Published ', '')).published).toBe('2024-07-05');
  });

  const announced = '<meta property="article:published_time" content="2024-07-05T10:00:00Z">';
  const changed = '<meta property="article:modified_time" content="2025-11-20T10:00:00Z">';
  const below = (line: string) => `${HEADLINE}<p>${line}</p>${TEXT}`;

  it('is the one the editors show where the system knows an earlier and a later day', () => {
    expect(read(announced + changed, below('March 20, 2025 · Harbour'))).toMatchObject({
      published: '2025-03-20',
      modified: '2025-11-20',
    });
    // The day of the last change, shown without a label, and one that says it is a change.
    for (const line of ['November 20, 2025 · Harbour', 'Updated March 20, 2025'])
      expect(read(announced + changed, below(line)).published).toBe('2024-07-05');
    // Nothing between the two where no day of change is known.
    expect(read(announced, below('March 20, 2025 · Harbour')).published).toBe('2024-07-05');
  });

  it('is the one shown without a label where only data for search engines have an earlier one', () => {
    expect(read(ld('2024-07-05'), below('March 20, 2025 · Harbour')).published).toBe('2025-03-20');
    expect(read(ld('2024-07-05') + announced, below('March 20, 2025 · Harbour')).published).toBe(
      '2024-07-05',
    );
    // Both shown: the declared one is known to the readers too.
    const both = below('July 5, 2024 · Harbour</p><p>March 20, 2025');
    expect(read(ld('2024-07-05'), both).published).toBe('2024-07-05');
  });

  it('is the announced one where the page shows when it was changed', () => {
    const found = { published: '2024-07-05', modified: '2025-05-17' };
    expect(read(ld('2024-07-05') + announced, below('Updated May 17, 2025'))).toMatchObject(found);
    const url = 'https://post.example/2024/07/05/lamp';
    expect(read(ld('2024-07-05'), below('Updated May 17, 2025'), url)).toMatchObject(found);
  });

  it('is the day of the edition where nothing but that is shown and nothing announced', () => {
    expect(read(ld('2024-07-05'), below('Last updated: May 17, 2025'))).toMatchObject({
      published: '2025-05-17',
      modified: '2025-05-17',
      from: 'day of the edition: May 17, 2025',
    });
    const script = '<script>push({"publishedAt":"2024-07-05T10:00:00Z"})</script>';
    expect(read('', below('Last updated: May 17, 2025') + script).published).toBe('2025-05-17');
    // A story that was corrected within the month, and a page that shows when it appeared.
    expect(read(ld('2024-07-05'), below('Updated July 20, 2024')).published).toBe('2024-07-05');
    const both = below('Published July 5, 2024</p><p>Updated May 17, 2025');
    expect(read(ld('2024-07-05'), both).published).toBe('2024-07-05');
  });

  it('is the one below the headline before that of a card whose class speaks of dates', () => {
    const card = '<div class="card-date">October 17, 2025</div>';
    const body = `${HEADLINE}<div>Ada Lund</div><div>March 2, 2025</div>${TEXT}${card}`;
    expect(read('', body).published).toBe('2025-03-02');
  });

  it('falls back to the date of change beside the headline, before that of a card further down', () => {
    const card = '<div class="card-date">Updated October 17, 2025</div>';
    const body = `${HEADLINE}<p>Updated on December 11, 2025</p>${TEXT}${card}`;
    expect(read('', body).published).toBe('2025-12-11');
  });

  it('is read in the order of the language, or else in that of the page', () => {
    const byline = (date: string) => below(`Ada Lund | ${date}`);
    expect(read('', byline('05.04.24'), undefined, 'de').published).toBe('2024-04-05');
    expect(read('', byline('05/04/2024'), undefined, 'en-US').published).toBe('2024-05-04');
    expect(read('', byline('05/04/2024'), undefined, 'en').published).toBeNull();
    const list = '<ul><li><time datetime="2024-04-05">April 5, 2024</time> A lamp</li></ul>';
    expect(read('', `${byline('05/04/2024')}<footer>${list}</footer>`, undefined, 'en').published).toBe(
      '2024-04-05',
    );
  });

  it('is never after that of the last change, which is left out then', () => {
    const changed = (at: string) => `<meta property="article:modified_time" content="${at}">`;
    const at = `${HEADLINE}${TEXT}`;
    const published = ld('2024-05-17T10:00:00Z');
    expect(read(published + changed('2024-05-17T00:00:00Z'), at).modified).toBeNull();
    expect(read(published + changed('2024-05-17T10:00:00Z'), at).modified).toBe('2024-05-17');
    expect(read(changed('2024-05-17T00:00:00Z'), at).modified).toBe('2024-05-17');
  });

  it('is read in the order of the text where the page declares English or nothing', () => {
    const german = `<p>${'Der Hafen ist in der Nacht nicht leicht zu finden, und die Lotsen wissen das auch. '.repeat(8)}</p>`;
    const body = `${HEADLINE}<p>Ada Lund | 05/04/2024</p>${german.repeat(3)}`;
    expect(read('', body, undefined, 'en-US').published).toBe('2024-04-05');
    expect(read('', body).published).toBe('2024-04-05');
  });

  it('is the one below the headline, not the day of today above it', () => {
    const body = `<p>Friday, May 24, 2024</p>${below('by Ada Lund | May 17, 2024')}`;
    expect(read('', body).published).toBe('2024-05-17');
  });

  it('is not that of other news below the text', () => {
    const other = '<div class="more-news__row"><span class="more-news__date">17.03.2026</span> Lamps</div>';
    const shown = '<div><span>20.03.2026 - 14:08</span> | <span>Source: Lamps</span></div>';
    expect(read('', `${shown}${HEADLINE}${TEXT.repeat(9)}${other}`).published).toBe('2026-03-20');
  });

  it('is the one in its part of a long byline', () => {
    const line = 'By Ada Lund, in News, Harbours, Ships, Lamps and Oil · May 17, 2024 · 0 comments';
    const card = '<div class="card-date">October 17, 2025</div>';
    expect(read('', below(line) + card).published).toBe('2024-05-17');
  });

  it('is that of the byline where the nearest time is a teaser’s, and that of its own time', () => {
    const teaser = '<p><time datetime="2023-03-01">March 1, 2023</time> More of the sea and its lamps</p>';
    expect(read('', `${teaser}${HEADLINE}<p>May 17, 2024</p>${TEXT}`).published).toBe('2024-05-17');
    const own = '<p><time datetime="2024-05-17">March 1, 2023</time></p>';
    expect(read('', HEADLINE + own + TEXT).published).toBe('2024-05-17');
  });

  it('is a line of its own above the headline before one in a sentence', () => {
    const told = 'The keeper spoke about the lamp on the radio of the harbour on 16.05.2024 at noon.';
    const body = `<p>17.05.2024, 12:32</p><p>News</p><p>Sea</p><p>Lamps</p>${below(told)}`;
    expect(read('', body).published).toBe('2024-05-17');
  });

  it.each([
    ['Date: 17.05.2024 Author: Ada Lund', '2024-05-17'],
    ['erstellt von Ada Lund — veröffentlicht 17. 05. 2024 06:00', '2024-05-17'],
    [
      'Dieser Beitrag wurde am Freitag, 17. Mai 2024 um 9:30 Uhr veröffentlicht und unter Lampen abgelegt.',
      '2024-05-17',
    ],
    ['This entry was posted on Friday, May 17th, 2024 at 9:30 and is filed under Lamps.', '2024-05-17'],
    ['This entry was updated on May 17th, 2024.', null],
    ['The keeper was born on Friday, May 17th, 1924, in the house below the lamp of the harbour.', null],
  ])('stands in a line at the end that says so: %j', (line, expected) => {
    const { published } = read('', `${HEADLINE}${TEXT.repeat(30)}<h2>More</h2><p>${line}</p>`);
    expect(published).toBe(expected);
  });

  it.each([
    ['(17.05.2024) The keepers of the coast are afraid of', '2024-05-17'],
    ['Lampstadt, (17.05.2024). The keepers of the coast', '2024-05-17'],
    ['LAMPSTADT, May 17, 2024 /Wire/ -- The keepers of the coast', '2024-05-17'],
    ['LAMPSTADT, May 17, 2024 - The keepers of the coast', '2024-05-17'],
    ['On May 17, 1924 the keepers of the coast', null],
    ['17 May 2001 was a day of which the keepers of the coast', null],
    ['Last updated: May 17, 2024. The keepers of the coast and', null],
    ['LAMPSTADT, May 17, 1924 -- The keepers of the coast', null],
  ])('begins the text: %j', (start, expected) => {
    const { published } = read(
      '',
      `${HEADLINE}<p>${start} ${'the light that went out at sea. '.repeat(9)}</p>${TEXT}`,
    );
    expect(published).toBe(expected);
  });

  it('begins the headline before it stands in a teaser', () => {
    const body = `<h1>17.05.2024 - A lamp for the keeper</h1>${TEXT}<p>03.02.2020 - A ship for the keeper</p>`;
    expect(read('', body, undefined, 'de').published).toBe('2024-05-17');
  });

  it('is not that of a post shown in the article', () => {
    const post =
      '<blockquote>The lamp is out &mdash; Ada Lund (@lund) <a href="/1">May 1, 2024</a></blockquote>';
    expect(read(ld('2024-05-17'), HEADLINE + post + TEXT).published).toBe('2024-05-17');
  });

  it('is that of the address where the page was dated anew more than a month later', () => {
    const at = (url: string) => read(ld('2024-05-17'), HEADLINE + TEXT, url).published;
    expect(at('https://post.example/2017/7/12/lamp')).toBe('2017-07-12');
    expect(at('https://post.example/2024/05/03/lamp')).toBe('2024-05-17');
  });

  it('is not one of the facts in a table, but where that says so', () => {
    const facts = (name: string) => `<table><tr><th>${name}</th><td>May 17, 2004</td></tr></table>`;
    expect(read('', HEADLINE + facts('Founded') + TEXT).published).toBeNull();
    expect(read('', HEADLINE + facts('Date') + TEXT).published).toBe('2004-05-17');
  });

  it('is not that of a preprint', () => {
    const draft = 'Preprints of this paper are available, first published May 1, 2024';
    expect(read(ld('2024-07-05'), `${HEADLINE}${TEXT}<p>${draft}</p>`).published).toBe('2024-07-05');
  });

  it('is looked for below the line that is the title where the only heading is another', () => {
    const title = 'A lamp for the keeper of the harbour';
    const footer = '<div><h1>Return to our website</h1><span class="date">3 June 2024</span></div>';
    const body = `<div>${title}</div><div>By Ada Lund</div><div>17 May 2024</div>${TEXT}${TEXT}${footer}`;
    expect(read(`<title>${title}</title>`, body).published).toBe('2024-05-17');
  });

  it('is looked for below the line that is the title where no heading is', () => {
    const head = '<meta property="og:title" content="A lamp for the keeper of the harbour">';
    const lines = '<p>Sea</p>'.repeat(30);
    const body = `${lines}<h3>Harbour: A lamp for the keeper of the harbour</h3><p>Fri 17.05.24 | 14:07 | By Ada Lund, at sea</p>${TEXT}<p>16.05.2024</p><p>18.05.2024</p>`;
    expect(read(head, body, undefined, 'de').published).toBe('2024-05-17');
  });

  it('is read from script data before text, in any quoting', () => {
    const script = '<script>self.push("{\\"publishedAt\\":\\"2024-05-17T10:00:00Z\\"}")</script>';
    expect(read('', `${HEADLINE}${TEXT}${script}`).from).toContain('script data');
  });

  describe('is the declared one, or none, where the article tells of a day', () => {
    const announced = '<meta property="article:published_time" content="2024-07-05T10:00:00Z">';
    const first = '<p>The lamp was lit on 12 May 2001.</p>';
    const caption = '<figcaption>The lamp on 12 May 2001.</figcaption>';

    it.each([
      ['in its first paragraph', first + TEXT],
      [
        'in its fourth paragraph',
        `<p>By Ada Lund</p>${TEXT}${TEXT.replace('keeper', 'pilot')}${first}${TEXT}`,
      ],
      ['in a heading', `<h2>What has been known since 12 May 2001</h2>${TEXT}`],
      ['in a caption', `<figure><img src="/a.jpg" width="900" height="600">${caption}</figure>${TEXT}`],
      ['that is still to come', `<p>The exhibition opens on 20 March 2025.</p>${TEXT}`],
      [
        'for machines too',
        `<p>The lamp was lit on <time datetime="2001-05-12">12 May 2001</time>.</p>${TEXT}`,
      ],
      ['on which another work appeared', `${TEXT}<p>The novel was first published on 12 May 2001.</p>`],
    ])('%s', (_, body) => {
      expect(read(ld('2024-07-05'), HEADLINE + body).published).toBe('2024-07-05');
      expect(read(announced, HEADLINE + body).published).toBe('2024-07-05');
      expect(read('', HEADLINE + body).published).toBeNull();
    });
  });

  it('is not the one of a correction, which is a change', () => {
    for (const line of [
      'This article was amended on 6 March 2024 to correct a name.',
      'Corrected on 6 March 2024',
      'Dieser Artikel wurde am 6. März 2024 berichtigt.',
      'This article was last updated on 6 March 2024.',
    ])
      expect(read('', `${HEADLINE}${TEXT}<p>${line}</p>`).published).toBeNull();
    const amended = `${HEADLINE}${TEXT}<p>This article was amended on 6 March 2024.</p>`;
    expect(read(ld('2024-02-05'), amended)).toMatchObject({
      published: '2024-02-05',
      modified: '2024-03-06',
    });
  });
});
