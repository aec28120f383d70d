import type { Publisher } from '../../publisher.ts';
import type { Random } from '../../random.ts';
import type { Described } from '../../site.ts';
import { fillBytes, type Naming } from './names.ts';

/** What the writers of a publisher's furniture share. */
export interface Workshop {
  publisher: Publisher;
  random: Random;
  naming: Naming;
  /** Articles of the publisher that exist from the start, to link to. */
  articles: readonly Described[];
}

const properties: readonly ((random: Random) => string)[] = [
  (random) => `margin:${random.int(24)}px ${random.int(12)}px 0`,
  (random) => `padding:${random.int(32)}px`,
  (random) => `color:#${(0x100000 + random.int(0xefffff)).toString(16)}`,
  (random) =>
    `font:${400 + 100 * random.int(4)} ${12 + random.int(16)}px/1.${random.int(9)} var(--font-body)`,
  () => 'display:flex;align-items:center',
  () => 'display:grid;grid-template-columns:repeat(12,minmax(0,1fr))',
  (random) => `border-bottom:1px solid rgba(0,0,0,.${1 + random.int(8)})`,
  (random) => `transition:opacity .${1 + random.int(8)}s ease-in-out`,
  () => 'background:url("data:image/svg+xml;charset=utf-8,%3Csvg viewBox=\'0 0 8 8\'/%3E") no-repeat 50%',
  (random) => `max-width:${20 * (10 + random.int(50))}px`,
];

/** Style rules as a bundler leaves them. */
export function writeStyles({ random, naming }: Workshop, bytes: number): string {
  const rule = (): string => {
    const selector = naming.classes(
      random.pick(['card', 'menu', 'footer', 'teaser', 'rail']),
      naming.hash(4),
    );
    let body = random.pick(properties)(random);
    for (let i = random.int(5); i > 0; i--) body += `;${random.pick(properties)(random)}`;
    return `.${selector.split(' ', 1)[0]}>li:not(:first-child){${body}}`;
  };
  return fillBytes(bytes, (position) =>
    position % 9 === 8 ? `@media (min-width:${320 + 32 * random.int(30)}px){${rule()}${rule()}}` : rule(),
  );
}

// Comparisons and end tags inside strings are what trips a reader that takes script for markup.
const statements: readonly ((workshop: Workshop) => string)[] = [
  ({ naming: { short } }) =>
    `var ${short()}=document.createElement("script");${short()}.async=!0;${short()}.src=n+"?v="+Date.now();`,
  ({ naming: { short, hash } }) =>
    `for(var ${short()}=0;i<${short()}.length&&i<20;i++)t.push({k:"${hash(8)}",v:${short()}[i]});`,
  ({ naming: { short, hash } }) =>
    `function ${short()}${hash(3)}(e,t){return e&&e.${hash(6)}?e.${hash(6)}(t):void 0!==t&&(t.${hash(5)}=e),t}`,
  ({ naming: { hash } }) => `window.${hash(5)}Queue=window.${hash(5)}Queue||[];`,
  ({ naming: { short, hash } }) =>
    `try{${short()}.setItem("${hash(10)}",JSON.stringify({a:1,b:"${hash(6)}"}))}catch(e){}`,
  ({ naming: { short, hash } }) =>
    `${short()}.insertAdjacentHTML("beforeend",'<div class="${hash(7)}"><a href="#">'+${short()}+"<\\/a><\\/div>");`,
  ({ naming: { short, hash }, random }) =>
    `if(${short()}>${random.int(900)}&&!/bot|crawl/i.test(navigator.userAgent))n.${hash(6)}(!0);`,
  ({ naming: { short, hash } }) =>
    `${short()}.addEventListener("${hash(5)}",function(e){e.target.dataset.${hash(6)}&&r(e)},{passive:!0});`,
];

/** Inline scripts, one after the other, together about as long as asked for. */
export function writeScripts(workshop: Workshop, bytes: number): string {
  const { random, naming } = workshop;
  const perScript = 1_500;
  return fillBytes(bytes, () => {
    const body = fillBytes(Math.min(bytes, perScript), () => random.pick(statements)(workshop));
    return `<script data-cfasync="false" id="${naming.hash(8)}-js-before">!function(e,t,n,r){"use strict";${body}}(window,document);</script>`;
  });
}

/** The state a client-side framework wakes up with: entries of a JSON array, without its brackets. */
export function writeState({ random, naming, articles, publisher }: Workshop, bytes: number): string {
  const entries = fillBytes(bytes, (position) => {
    const article = articles[position % articles.length];
    const entry = {
      __typename: 'Teaser',
      id: naming.hash(12),
      headline: article?.title ?? publisher.title,
      path: article?.path ?? '/',
      section: article?.section ?? null,
      image: {
        src: `/img/${naming.hash(6)}.png`,
        widths: [320, 640, 960, 1280],
        focal: [random.next(), 0.5],
      },
      flags: {
        premium: random.int(9) === 0,
        live: false,
        commentsEnabled: true,
        adsEnabled: random.int(2) === 0,
      },
      tracking: { cluster: naming.hash(8), rank: position, experiments: [naming.hash(4), naming.hash(4)] },
    };
    return `${position === 0 ? '' : ','}${JSON.stringify(entry)}`;
  });
  return entries.replaceAll('<', '\\u003c');
}
