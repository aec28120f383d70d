import type { Block } from './blocks.ts';

const MAX_WORDS = 5;
const LABEL = new RegExp(
  `^[^\\p{L}\\d]*(?:${[
    'advertise?ments?|advertising|anzeige|werbung|publicité|publicidade?|pubblicità|advertentie|annons|reklama?',
    '(?:story|article) continues below(?: (?:this |the )?ad(?:vertisement)?)?|continue reading below',
    'scroll (?:down )?(?:for more|to continue(?: reading)?)',
    'table of contents|inhaltsverzeichnis|table des matières',
    'share this(?: article| story| post)?|related articles|loading',
    'image \\d{1,3} (?:of|/) \\d{1,3}',
  ].join('|')})[^\\p{L}\\d]*$`,
  'iu',
);

// Stands in for an embedded part that is not shown without consent.
const MAX_WITHHELD_WORDS = 60;
const WITHHELD =
  /^(?:to (?:see|view|watch) this (?:content|embed|video|post)\b.{0,60}\b(?:cookies|consent)\b|(?:empfohlener )?(?:externer|redaktioneller) inhalt\b.{0,40}$|(?:deine|ihre) privatsphäre-einstellungen verhindern\b)/i;
const ASKS_CONSENT = 'Datenschutzeinstellungen anpassen';

// "1 2 3", "Pages: 1 2 … 9 Next": the pages of the article.
const MAX_PAGER_WORDS = 20;
const PAGER =
  /^(?:\p{L}{1,12}[.:]? )?(?:[‹«<]{1,2} )?1(?: [|·] | )2(?:(?: [|·])? (?:\d{1,3}|…|\.\.\.))*(?: [›»>→]{1,2}| \p{L}[^.]{0,20})?$/u;

/**
 * Whether a line is a label of the layout and never of an article: "Advertisement" between two paragraphs is as likely a
 * part of the run as they are. Of 24 such lines that were kept on 769 pages one stands in the reference, and of nine
 * that stand in for what is withheld none.
 */
export const isLayoutLine = ({ text, words, links }: Pick<Block, 'text' | 'words' | 'links'>): boolean =>
  (words <= MAX_WORDS && LABEL.test(text)) ||
  (links > 0 && words <= MAX_PAGER_WORDS && PAGER.test(text)) ||
  (words <= MAX_WITHHELD_WORDS && (WITHHELD.test(text) || text.endsWith(ASKS_CONSENT)));
