/** Parameters that count pages. */
export const pageWords =
  /^(?:page|paged|pageno|page_no|pagenum|pagenumber|pg|seite|pagina|página|pag|sida|side|strona|strana|stranka|sivu|oldal|sayfa|halaman|trang|currentpage|pageindex|pagen_1)$/i;
/** What stands before the number of a page in a path. */
export const pagePathWords =
  /^(?:page|paged|pg|seite|pagina|pag|sida|side|strona|strana|stranka|sivu|oldal|sayfa|halaman|trang)[/=_-]?$/i;
/** Parameters that count what is skipped. */
export const skipWords = /^(?:offset|start|from|skip|first|begin|startindex)$/i;
/** Parameters that count days and months. */
export const calendarWords = /^(?:day|month|year|week|date|tag|monat|jahr|[dmy])$/i;
/** A year that a month or day follows. */
export const yearBefore = /(?:^|\D)(?:19|20)\d\d\D/;
/** A word or nothing before the number: `/news/2`, `/news/page-2`. */
export const plainName = /^(?:\p{L}{1,12}[/=_-]?)?$/u;

const steps = (words: string, scripts: string, arrows: string): RegExp =>
  new RegExp(`^(?:[${arrows}|]+|[${arrows}]* ?(?:(?:${words})(?!\\p{L})|${scripts}).{0,60})$`, 'iu');

/** The text of a link to the next page. */
export const nextText = steps(
  'next|older|nächste|weiter|vor|suivante?|siguiente|próxim[ao]|seguinte|successiv[ao]|avanti|volgende|nästa|næste|neste|seuraava|następna|další|ďalšia|következő|următoarea|sonraki|επόμενη|след|следующая|далее|вперед|вперёд|наступна|berikutnya|selanjutnya',
  '下一?[页頁]|次|다음|التالي|הבא|अगला|ถัดไป',
  '›»→>',
);

/** The text of a link to the page before. */
export const previousText = steps(
  'previous|prev|newer|vorherige|zurück|précédente?|anterior|precedente|indietro|vorige|föregående|forrige|edellinen|poprzednia|předchozí|predchádzajúca|előző|anterioara|önceki|προηγούμενη|пред|предыдущая|назад|попередня|sebelumnya',
  '上一?[页頁]|前|이전|السابق|הקודם|पिछला|ก่อนหน้า',
  '‹«←<',
);

/** Titles are longer than what a pager says. */
export const mostPagerText = 20;

export const isStep = (text: string): boolean => nextText.test(text) || previousText.test(text);

/** A text that is a number: "3", "Page 3", "[3]". */
export const numberText = /^\D{0,12}(\d{1,6})\D{0,2}$/u;
export const saysPage = (text: string, page: number): boolean => numberText.exec(text)?.[1] === String(page);
