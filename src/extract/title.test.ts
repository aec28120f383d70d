import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { extractPage } from './index.ts';
import { withoutSiteName } from './site-names.ts';

const TEXT = `<p>${'The keeper of the lamp went up the stairs each evening and wrote down what he saw. '.repeat(4)}</p>`;

function titleOf(head: string, body: string, url = 'https://www.post.example/stories/lamp'): string | null {
  return extractPage(parsePage(`<head>${head}</head><body>${body}</body>`, { url })).title;
}

const title = (text: string) => `<title>${text}</title>`;
const og = (text: string) => `<meta property="og:title" content="${text}">`;
const site = (text: string) => `<meta property="og:site_name" content="${text}">`;

describe('the site in a title', () => {
  it.each([
    ['Story of a lamp | The Post', ['thepost'], 'Story of a lamp'],
    ['The Post - Story of a lamp', ['thepost'], 'Story of a lamp'],
    ['Part 1 - Part 2', ['thepost'], 'Part 1 - Part 2'],
    ['Story of a lamp — Ada Lund | Lamps and Ships', ['adalundlampsandships'], 'Story of a lamp'],
    ['Story - with a dash - Lamp House - Ships', ['lamphouseships'], 'Story - with a dash'],
    ['Story of a lamp » The Post', ['thepost'], 'Story of a lamp'],
    ['Keeper in doubt: «The lamp is out»', ['thepost'], 'Keeper in doubt: «The lamp is out»'],
    ['»The lamp is out« | The Post', ['thepost'], '»The lamp is out«'],
    ['Story of a lamp « The Post', ['thepost'], 'Story of a lamp'],
    ['桟橋を再建へ｜湾岸新聞', ['湾岸新聞'], '桟橋を再建へ'],
    ['小镇决定重建码头_海湾网', ['海湾网'], '小镇决定重建码头'],
    ['snake_case_names', ['names'], 'snake_case_names'],
  ])('is taken from %j', (text, sites, expected) => {
    expect(withoutSiteName(text, sites)).toBe(expected);
  });

  it('may be the domain above the host', () => {
    const head = title('The lamp that changed | Lampen.example');
    expect(titleOf(head, TEXT, 'https://shop.lampen.example/a')).toBe('The lamp that changed');
  });

  it('stays where the page is the site itself', () => {
    const head = title('Lund+Berg | Lamps for every sea') + site('Lund+Berg');
    expect(titleOf(head, TEXT, 'https://lund.example/')).toBe('Lund+Berg | Lamps for every sea');
    expect(titleOf(head, TEXT, 'https://lund.example/sea')).toBe('Lamps for every sea');
  });

  it('never takes more than there is, and ends', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (text, sites) =>
        text.includes(withoutSiteName(text, sites)),
      ),
    );
  });
});

describe('a title', () => {
  const LAMP = 'A lamp for the keeper of the harbour';
  it('is without the name of a site whose domain is a long one', () =>
    expect(titleOf(title(`${LAMP} - The Bay Post`), TEXT, 'https://baypost.amsterdam/stories/1')).toBe(LAMP));

  it.each(['undefined', 'null', '{{ page.title }}', '$' + '{title}', '[object Object]', 'Untitled Document'])(
    'is none where a program wrote %s',
    (none) => {
      expect(titleOf(og(none) + title(none), `<h2>${LAMP}</h2>${TEXT}`)).toBe(LAMP);
      expect(titleOf(og(none) + title(none), TEXT)).toBeNull();
    },
  );

  it('is without tags, unless it speaks of them', () => {
    expect(titleOf(og('A lamp for the &lt;em&gt;keeper&lt;/em&gt; of the harbour'), TEXT)).toBe(LAMP);
    const ofTags = 'Thirty years of &lt;br&gt; in pages';
    expect(titleOf(title(ofTags), `<h1>${ofTags}</h1>${TEXT}`)).toBe('Thirty years of <br> in pages');
  });

  it('is said once where its heading has it for wide screens and for narrow ones', () => {
    const twice = `<h1><span class="wide">${LAMP}</span> <span class="narrow">${LAMP}</span></h1>`;
    expect(titleOf(title(`${LAMP} | The Post`), twice + TEXT)).toBe(LAMP);
    expect(titleOf('', `<h1>New York New York</h1>${TEXT}`)).toBe('New York New York');
  });
});

describe('the headline', () => {
  it('of one word is the one that is the title', () => {
    const body = `<h1>Lamps</h1>${TEXT}<h1>Appendix: quasi lamps</h1>${TEXT}`;
    expect(
      titleOf(title('Lamps — Harbour Post') + og('Lamps — Harbour Post') + site('Harbour Post'), body),
    ).toBe('Lamps');
  });

  it('is not the name at the end of the title, whatever signs follow it', () => {
    const body = `<h1>Post Harbour</h1><h2>Where to walk in Lampstadt</h2>${TEXT}`;
    expect(titleOf(title('Where to walk in Lampstadt @ Ada :: Post Harbour ::'), body)).toBe(
      'Where to walk in Lampstadt',
    );
  });

  it('is not the name of the site where that is given as the title of the page', () => {
    const app = '<meta name="apple-mobile-web-app-title" content="Where to walk in Lampstadt this autumn">';
    const head =
      title('Where to walk in Lampstadt this autumn - Post') + og('Where to walk in Lampstadt this autumn');
    const body = `<h1>Good morning</h1><h1>Where to walk in Lampstadt this autumn</h1>${TEXT}`;
    expect(titleOf(head + app, body)).toBe('Where to walk in Lampstadt this autumn');
  });

  it('is not the name that leads to the front page', () => {
    const body = `<h1><a href="/stories">Lampsome</a></h1><h3>Where to walk in Lampstadt</h3>${TEXT}`;
    expect(titleOf(title('Lampsome: Where to walk in Lampstadt'), body)).toBe('Where to walk in Lampstadt');
  });

  it.each(['h1', 'h2'])(
    'is what leads to the page where every page has the name of the site, here an %s',
    (tag) => {
      const name = `<${tag}><a href="/stories">Lampsome</a></${tag}>`;
      const other = '<aside><h1>Latest posts</h1></aside>';
      const own = '<h3><a href="/stories/lamp/" rel="bookmark">Fog</a></h3>';
      expect(titleOf(title('Lampsome'), name + own + TEXT + other)).toBe('Fog');
      // Without such a heading, or where the head has the title, all is as ever.
      expect(titleOf(title('Lampsome'), name + TEXT)).toBe('Lampsome');
      const reply = '<h3><a href="/stories/lamp/#respond">Cancel reply</a></h3>';
      expect(titleOf(title('Lampsome'), name + TEXT + reply)).toBe('Lampsome');
      expect(titleOf(title('Fog'), name + own + TEXT)).toBe('Fog');
    },
  );

  it('is not the label of a section', () => {
    const body = `<h1>Top Classifieds</h1>${TEXT}`;
    expect(titleOf(title('Where to walk in Lampstadt'), body)).toBe('Where to walk in Lampstadt');
    expect(titleOf(title('Lamp definition and where to buy one'), `<h1>lamp</h1>${TEXT}`)).toBe('lamp');
  });

  it('is not the name of a part of the site behind a sentence and a bar', () => {
    const head = title('The lamp of the small harbour is out again | Tips | LAMP-RADIO | LR');
    expect(titleOf(head, `<h1>LAMP-RADIO</h1>${TEXT}`)).toBe('The lamp of the small harbour is out again');
    expect(titleOf(title('Post | Lamps'), `<h1>Lamps</h1>${TEXT}`)).toBe('Lamps');
  });

  it('may be a link to the page of which this is a part', () => {
    const head = title('lamp - oil or gas - Lamp Answers');
    const heading = '<h1><a href="/questions/3553/oil-or-gas">oil or gas</a></h1>';
    expect(titleOf(head, heading + TEXT, 'https://answers.example/questions/3553/oil-or-gas/3660')).toBe(
      'oil or gas',
    );
  });

  it('is not the line that names the author', () => {
    const head = title('It is a lamp – Post by Ada Lund') + og('It is a lamp');
    expect(titleOf(head, `<h1>By Ada Lund</h1>${TEXT}`)).toBe('It is a lamp');
    expect(titleOf(title('By the numbers of lamps - Post'), `<h1>By the numbers</h1>${TEXT}`)).toBe(
      'By the numbers',
    );
    expect(titleOf(title('By Grand Central'), `<h1>By Grand Central</h1>${TEXT}`)).toBe('By Grand Central');
  });

  it('is the heading above the text where the head says nothing, or what the page calls its site', () => {
    expect(titleOf('', `<h2>The lamp of the harbour is out</h2>${TEXT}`)).toBe(
      'The lamp of the harbour is out',
    );
    expect(titleOf('', `<h2>Latest news</h2>${TEXT}`)).toBeNull();
    const named = (text: string) => titleOf(title(text) + site(text), TEXT);
    expect(named('A keeper tells of the lamp')).toBe('A keeper tells of the lamp');
    expect(named('當心選前症候群 醫師提醒健康為重')).toBe('當心選前症候群 醫師提醒健康為重');
    expect(named('Morris Daily Lamp')).toBeNull();
  });

  it('goes without the handle of its place', () => {
    const body = `<h1 id="a">Where to walk in Lampstadt<a href="#a">¶</a></h1>${TEXT}`;
    expect(titleOf(title('Where to walk in Lampstadt'), body)).toBe('Where to walk in Lampstadt');
  });

  it('is not a teaser that shares words with the title', () => {
    const body = `<h1>The best paths and quarters for a lamp walk</h1>${TEXT}
      <h1><a href="/stories/kayak">Here is where to walk in Lampstadt</a></h1>`;
    expect(titleOf(title('Where to walk in Lampstadt'), body)).toBe(
      'The best paths and quarters for a lamp walk',
    );
  });

  it('may be a link to its own page', () => {
    const body = `<h1>Post</h1><h2><a href="/stories/lamp/#top">Where to walk in Lampstadt</a></h2>${TEXT}`;
    expect(titleOf(title('Where to walk in Lampstadt - Post'), body)).toBe('Where to walk in Lampstadt');
  });

  it('may be worded otherwise than the head when it is the only one, above the text', () => {
    const head =
      title('Lampstadt guide: hire prices, rates 12 / 2025') +
      og('Lampstadt guide: hire prices, rates 12 / 2025');
    const asked = 'How much does it cost to hire a keeper in Lampstadt?';
    expect(titleOf(head, `<h1>${asked}</h1>${TEXT}`)).toBe(asked);
    expect(titleOf(head, `${TEXT}<h1>${asked}</h1>${TEXT}`)).toBe(
      'Lampstadt guide: hire prices, rates 12 / 2025',
    );
    expect(titleOf(head, `<h1>Keeper prices</h1><h1>${asked}</h1>${TEXT}`)).not.toBe(asked);
  });

  it.each([
    ['Dec 18 2025 Where to walk in Lampstadt', 'a date'],
    ['Where to walk in Lampstadt (lamps.example) 87', 'a source and a count'],
    ['Where to walk in Lampstadt / December 2025', 'a month'],
    ['Where to walk in Lampstadt Posted on July 1, 2024 by lamps', 'a byline'],
    ['Blog: Where to walk in Lampstadt', 'a section'],
    ['Summer by the sea - Where to walk in Lampstadt', 'a kicker'],
    [
      '<span class="head__topline">Lampland</span> <span>Where to walk in Lampstadt</span>',
      'a line above it that its class names',
    ],
  ])('%j goes without %s', (heading) => {
    const head = title('Where to walk in Lampstadt - Post') + og('Where to walk in Lampstadt');
    expect(titleOf(head, `<h1>${heading}</h1>${TEXT}`)).toBe('Where to walk in Lampstadt');
  });

  it('wins over an og:title that was cut, not over one that words it otherwise', () => {
    const long = 'Lamp care tips: 11 best habits to prevent a dark night';
    const short = title('Lamp care tips: 11 best habits') + og('Lamp care tips: 11 best habits');
    expect(titleOf(short, `<h1>${long}</h1>${TEXT}`)).toBe(long);
    const other = '10 free lamps for small keepers';
    expect(titleOf(title(other) + og(other), `<h1>10 free lamps for your small keepers</h1>${TEXT}`)).toBe(
      other,
    );
  });

  it.each([
    ['港の灯台守が語る夜の海と光の三十年', '灯台新聞'],
    ['这个港口的灯塔守护人讲述三十年', '港口日报'],
    ['A lamp for the keeper of the harbour', 'Lamps of the North'],
  ])('is the heading that <title> begins with, not the site it ends with: %s', (text, name) => {
    const body = `<h1 class="hidden">${name}</h1><h2>${text}</h2>${TEXT}`;
    expect(titleOf(title(`${text}_${name}`), body)).toBe(text);
  });

  it('may be a word of two letters where a letter may be a word', () => {
    expect(titleOf(title('爬虫 | 多走几步'), `<h1>爬虫</h1>${TEXT}`)).toBe('爬虫');
    expect(titleOf(title('A lamp for the keeper'), `<h1>02</h1>${TEXT}`)).toBe('A lamp for the keeper');
  });

  it('is known by its letters where no spaces part the words', () => {
    const body = `<h1>港の灯台守が語る、夜の海の話</h1>${TEXT}`;
    expect(titleOf(title('港の灯台守が語る夜の海の話 写真1枚'), body)).toBe('港の灯台守が語る、夜の海の話');
  });

  it('is what the head says where the only h1 is another and stands below the text', () => {
    const body = `${TEXT.repeat(5)}<h1>Original text</h1>`;
    expect(titleOf(title('A lamp for the keeper of the harbour'), body)).toBe(
      'A lamp for the keeper of the harbour',
    );
  });

  it('is the title though the page calls its site by it', () => {
    const text = 'This is what a lamp does to the keeper of the harbour';
    const head = `${title(text)}<meta name="application-name" content="${text}">`;
    expect(titleOf(head, `<h1>${text}</h1>${TEXT}`)).toBe(text);
  });

  it('keeps a number that belongs to it', () => {
    const head = title('The lamps of spring - Post') + og('The lamps of spring') + site('Post');
    expect(titleOf(head, `<h1>21 things about the lamps of spring</h1>${TEXT}`)).toBe(
      '21 things about the lamps of spring',
    );
  });

  it('keeps a kicker that the publisher declares as a part of the title', () => {
    const heading = '<h1><span class="kicker">Lampland</span>: <span>Where to walk at night</span></h1>';
    const whole = 'Lampland: Where to walk at night';
    expect(titleOf(title(`${whole} - Post`) + og(whole), heading + TEXT)).toBe(whole);
    expect(titleOf(title('Walks in Lampland at night - Post'), heading + TEXT)).toBe(
      'Where to walk at night',
    );
  });

  it('is the part of its heading that the head declares, when it is the longest', () => {
    const lamps = 'Lamps of the northern harbour';
    const other = 'A letter to the keeper';
    const read = (inside: string) => titleOf(og(`${lamps} | Post`), `<h1>${inside}</h1>${TEXT}`);
    expect(read(`${lamps} <a href="#" class="add">Add to ...</a>`)).toBe(lamps);
    expect(read(`<span>${lamps}</span> <span>${other}</span>`)).toBe(lamps);
    expect(read(`<span>Regular article</span><span>${lamps}</span>`)).toBe(lamps);
    // A kicker longer than its headline may be the better half of it, and words beside each other are no parts.
    const long = 'What the keepers of the coast tell of their winters';
    expect(read(`<span>${long}</span> <span>${lamps}</span>`)).toBe(`${long} ${lamps}`);
    expect(read(`${lamps} ${other}`)).toBe(`${lamps} ${other}`);
  });

  it('is the heading below the h1 where that is og:title, with or without a kicker', () => {
    const head = title('Lampland: keepers, lamps and what they cost - Post') + og('The keepers give up');
    const h1 = '<h1>Lampland: keepers, lamps and what they cost</h1>';
    for (const shown of ['The keepers give up', '<span>No oil left</span> <span>The keepers give up</span>'])
      expect(titleOf(head, `${h1}<h2>${shown}</h2>${TEXT}`)).toBe('The keepers give up');
    expect(titleOf(head, `${h1}<h2>What they cost</h2>${TEXT}<h2>The keepers give up</h2>`)).toBe(
      'Lampland: keepers, lamps and what they cost',
    );
  });

  it('is kept whole where og:title only adds to it', () => {
    const more = 'What is a lamp of the sea? A guide';
    expect(titleOf(title(more) + og(more), `<h1>What is a lamp of the sea?</h1>${TEXT}`)).toBe(
      'What is a lamp of the sea?',
    );
  });

  it('is alone though teasers below are marked like it', () => {
    const head = title('Chaos at sea: old lamps and brittle glass in Lampstadt');
    const asked = 'How keepers get their houses ready for the Lampstadt winter at sea';
    const teaser = '<h1><a href="/stories">More from the coast</a></h1>';
    expect(titleOf(head, `<h1>${asked}</h1>${TEXT}${teaser}`)).toBe(asked);
  });
});

describe('the address', () => {
  const named = 'The best lamp companies for small harbours';
  const slogan = '<h1>10 agencies that help your harbour and the best keeper grow</h1>';
  const url = 'https://www.post.example/guides/best-lamp-companies-for-small-harbours/';

  it('tells the title it was made from where the h1 is a slogan', () => {
    expect(titleOf(title(named) + og(named), slogan + TEXT, url)).toBe(named);
    expect(titleOf(title(`${named} - Post`) + site('Post'), slogan + TEXT, url)).toBe(named);
  });

  it('tells nothing where it is short, has other words, or the titles of the head differ', () => {
    const h1 = '10 agencies that help your harbour and the best keeper grow';
    for (const other of ['https://www.post.example/best-companies', 'https://www.post.example/guides/77123'])
      expect(titleOf(title(named) + og(named), slogan + TEXT, other)).toBe(h1);
    expect(titleOf(title('The best lamp companies') + og(named), slogan + TEXT, url)).toBe(h1);
  });

  it.each([
    ['how-to-start-a-lamp-in-new-york', 'How to Start a Lamp in New York', 'Get your New York lamp today'],
    ['lys-paa-soeen-og-gaa-til-fots-1.16990729', 'Lys på søen og gå til fots', 'Gå til fots: Lys på vandet'],
    [
      'waerter-saeen-gruene-lampen-und-oel.html',
      'Wärter säen grüne Lampen und Öl',
      'Grüne Saat: Wärter und ihre Lampen',
    ],
  ])('%s is og:title word for word', (name, spelt, h1) => {
    const address = `https://www.post.example/stories/${name}`;
    expect(titleOf(title(`${spelt} – Sea`) + og(spelt), `<h1>${h1}</h1>${TEXT}`, address)).toBe(spelt);
    // Not where og:title is a part of the h1.
    expect(titleOf(title(spelt) + og(spelt), `<h1>${spelt}: five ways</h1>${TEXT}`, address)).toBe(
      `${spelt}: five ways`,
    );
  });
});
