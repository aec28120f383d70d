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

/**
 * Whether a line is a label of the layout and never of an article: "Advertisement" between two paragraphs is as likely a
 * part of the run as they are. Of 24 such lines that were kept on 769 pages one stands in the reference.
 */
export const isLayoutLine = ({ text, words }: Pick<Block, 'text' | 'words'>): boolean =>
  words <= MAX_WORDS && LABEL.test(text);
