import { type Page, resolveUrl } from '../html/index.ts';
import { comparable } from './comparable.ts';
import type { Crumb } from './json-ld.ts';

// Longer ones are titles.
const MAX_NAME_CHARS = 40;
const FRONT_PAGE = new Set(
  'home,homepage,frontpage,main,start,startseite,accueil,inicio,início,portada,páginainicial,главная,strona główna,hlavnístránka,úvod,hem,forside,forsiden,hjem,etusivu,anasayfa,トップ,ホーム,首页,首頁,홈,beranda,trangchủ'
    .split(',')
    .map(comparable),
);

/** The section of a page by its breadcrumbs: the last step that is neither the front page nor the page itself. */
export function sectionOfCrumbs(
  crumbs: readonly Crumb[],
  page: Page,
  title: string | null,
  sites: readonly string[],
): string | null {
  const own = withoutQuery(page.url);
  const titles = [title, page.title].map((one) => comparable(one ?? '')).filter((one) => one !== '');
  const names = new Set(sites);
  const isFront = ({ name, url }: Crumb) => {
    const at = url === null ? null : withoutQuery(resolveUrl(url, page.baseUrl) ?? '');
    return (
      FRONT_PAGE.has(comparable(name)) || names.has(comparable(name)) || /^https?:\/\/[^/]+$/.test(at ?? '')
    );
  };
  const isThis = ({ name, url }: Crumb) =>
    (url !== null && withoutQuery(resolveUrl(url, page.baseUrl) ?? '') === own) ||
    titles.some((one) => one.startsWith(comparable(name)) && comparable(name).length > one.length / 3);
  const between = crumbs.filter(
    (crumb, i) => !isThis(crumb) && !(i === 0 && isFront(crumb)) && crumb.name.length <= MAX_NAME_CHARS,
  );
  return between.at(-1)?.name ?? null;
}

const withoutQuery = (url: string) => url.replace(/[?#].*$/s, '').replace(/\/+$/, '');
