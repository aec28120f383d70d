import { textOf, writeStory } from '../web/article.ts';
import { type Language, lexicons } from '../web/lexicon/index.ts';
import type { Publisher } from '../web/publisher.ts';
import { hashOf, type Random, randomFrom } from '../web/random.ts';
import type { Item } from '../web/timeline.ts';

/** Two texts, and whether one is a copy of the other. */
export type CopyPair = { language: string; manner: string; a: string; b: string; copy: boolean };

/** Languages of the labelled set: those of the simulated web, and Chinese. */
export const copyLanguages = [...(Object.keys(lexicons) as Language[]), 'zh'] as const;
type CopyLanguage = (typeof copyLanguages)[number];

// Chinese has no lexicon in the simulated web; parts of sentences do here.
const chinese = {
  who: '市政府,港口管理局,大学研究小组,渔业合作社,县医院,公交公司,水务部门,地方博物馆,居民委员会,气象台,消防队,图书馆'.split(
    ',',
  ),
  when: '周一上午,周二晚间,本月初,上个周末,年底之前,暴雨过后,经过长时间讨论,在新闻发布会上'.split(','),
  did: '批准了旧码头的改造计划,公布了令人意外的统计数字,拒绝了对方提出的方案,新招聘了十二名工作人员,把决定推迟到秋天,与三个邻近城镇签署了协议,邀请居民查阅相关文件,将夜间服务的预算增加一倍,提前完成了泵站的维修,警告储备只够维持几个星期,展示了一种新型的风力装置,开放了修复后的花园'.split(
    ',',
  ),
  why: '因为原来的合同即将到期,尽管有几位委员要求更多时间,以便在霜冻之前开工,这引起了当地商户的关注,费用由省里承担一半,结果将在网上公布,许多家庭为此等待了多年,专家认为影响有限'.split(
    ',',
  ),
};

/** An article of its own as paragraphs of sentences. */
function writeArticle(language: CopyLanguage, seed: number): string[][] {
  if (language === 'zh') return writeChinese(randomFrom(hashOf('zh article', seed)));
  const publisher = { domain: `copies${seed}.test`, language } as Publisher;
  const text = textOf(writeStory(7, publisher, { id: seed, atMs: 0 } as Item));
  const end = language === 'ja' ? /(?<=。)/ : /(?<=[.!?]["”»]?) /;
  return text.split('\n\n').map((paragraph) => paragraph.split(end).filter((sentence) => sentence !== ''));
}

function writeChinese(random: Random): string[][] {
  const { who, when, did, why } = chinese;
  return Array.from({ length: 6 + random.int(8) }, () =>
    Array.from({ length: 2 + random.int(3) }, () => {
      const amount = 2 + random.int(96);
      return `${random.pick(who)}${random.pick(when)}${random.pick(did)},${random.pick(why)},涉及${amount}个项目。`;
    }),
  );
}

/** Headline, byline and agency line: what every publisher writes for itself. */
function furnish(language: CopyLanguage, paragraphs: string[][], random: Random): string {
  const gap = language === 'ja' || language === 'zh' ? '' : ' ';
  const { firstNames, lastNames, furniture } = lexicons[language === 'zh' ? 'ja' : language];
  const headline = writeArticle(language, 900_000 + random.int(50_000))[0]?.[0] ?? '';
  const byline = `${furniture.by} ${random.pick(firstNames)} ${random.pick(lastNames)}`;
  return [headline, byline, ...paragraphs.map((sentences) => sentences.join(gap))].join('\n\n');
}

/** Ways in which an editor changes a tenth of an agency's text. */
const manners = {
  sentences: (language, paragraphs, random) => {
    const fresh = writeArticle(language, 500_000 + random.int(50_000)).flat();
    return paragraphs.map((sentences) =>
      sentences.map((sentence) => (random.next() < 0.1 ? random.pick(fresh) : sentence)),
    );
  },
  words: (language, paragraphs, random) => {
    const fresh = wordsOf(
      language,
      writeArticle(language, 600_000 + random.int(50_000))
        .flat()
        .join(' '),
    );
    return paragraphs.map((sentences) =>
      sentences.map((sentence) =>
        wordsOf(language, sentence)
          .map((word) => (random.next() < 0.1 ? random.pick(fresh) : word))
          .join(''),
      ),
    );
  },
  cut: (_language, paragraphs) => paragraphs.slice(0, Math.ceil(paragraphs.length * 0.9)),
  added: (language, paragraphs, random) => [
    ...paragraphs,
    ...writeArticle(language, 700_000 + random.int(50_000)).slice(0, Math.ceil(paragraphs.length * 0.1)),
  ],
} as const satisfies Record<
  string,
  (language: CopyLanguage, paragraphs: string[][], random: Random) => string[][]
>;

// With their spaces, so that they can be joined again. Without spaces in the script, two or so characters are a word.
function wordsOf(language: CopyLanguage, text: string): string[] {
  return text.match(language === 'ja' || language === 'zh' ? /.{1,3}/gsu : /\S+\s*/gu) ?? [];
}

/** Syndicated copies: own headline and byline, a tenth of the text changed. Other numbers are other articles. */
export function* makeCopies(from: number, perLanguage: number): Generator<CopyPair> {
  const names = Object.keys(manners) as (keyof typeof manners)[];
  for (const language of copyLanguages) {
    for (let i = from; i < from + perLanguage; i += 1) {
      const random = randomFrom(hashOf('copy', language, i));
      const manner = names[i % names.length]!;
      const article = writeArticle(language, i);
      const changed = manners[manner](language, article, random);
      const [a, b] = [furnish(language, article, random), furnish(language, changed, random)];
      yield { language, manner, a, b, copy: true };
    }
  }
}

/**
 * Two reports of one story: a fifth of the sentences (quotations, a shared statement) in both, in the one's order and
 * place or the other's, the rest each publisher's own about the same people and places.
 */
export function* makeReports(from: number, perLanguage: number): Generator<CopyPair> {
  for (const language of copyLanguages) {
    for (let i = from; i < from + perLanguage; i += 1) {
      const random = randomFrom(hashOf('report', language, i));
      const first = writeArticle(language, 100_000 + i);
      const shared = first.flat().filter(() => random.next() < 0.2);
      const own = writeArticle(language, 200_000 + i);
      const second = own.map((sentences) =>
        sentences.map((sentence) => (random.next() < 0.2 ? (shared.shift() ?? sentence) : sentence)),
      );
      const [a, b] = [furnish(language, first, random), furnish(language, second, random)];
      yield { language, manner: 'story', a, b, copy: false };
    }
  }
}
