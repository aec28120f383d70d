const SLOTS = 1_024;
const MAX_CHARS = 12;

// Literals first: V8 keeps one object per literal, so comparing with them is comparing addresses.
const COMMON =
  'html head body title meta link base script style noscript template div span p a img br hr ul ol li dl dt dd table ' +
  'thead tbody tfoot tr td th h1 h2 h3 h4 h5 h6 b i em strong small u s sub sup mark q cite code pre blockquote figure ' +
  'figcaption picture source video audio iframe svg path g use nav header footer main article section aside form input ' +
  'button label select option textarea time address details summary font center ins del abbr picture canvas object embed ' +
  'class id href src srcset alt name content property rel type style title lang role hidden width height datetime itemprop ' +
  'itemscope itemtype target value data-src media sizes loading d fill viewbox xmlns action method for placeholder aria-label ' +
  'aria-hidden tabindex async defer crossorigin charset http-equiv onclick data-id';

const slots: (string | undefined)[] = new Array<string | undefined>(SLOTS).fill(undefined);
for (const name of COMMON.split(' ')) slots[slotOf(name, 0, name.length)] = name;

function slotOf(text: string, start: number, end: number): number {
  let hash = end - start;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    hash = (Math.imul(hash, 31) + (code >= 65 && code <= 90 ? code + 32 : code)) | 0;
  }
  return (hash ^ (hash >>> 10)) & (SLOTS - 1);
}

/**
 * The lower-case name that stands at a place of the page. The few names pages are made of are kept, so that a tag costs
 * no new string and every later look-up finds its hash ready; a slice of at most twelve characters holds no page alive.
 */
export function readName(text: string, start: number, end: number): string {
  const length = end - start;
  if (length > MAX_CHARS) return text.slice(start, end).toLowerCase();
  const slot = slotOf(text, start, end);
  const known = slots[slot];
  if (known !== undefined && known.length === length && isSame(text, start, known)) return known;
  const name = text.slice(start, end).toLowerCase();
  slots[slot] = name;
  return name;
}

function isSame(text: string, start: number, known: string): boolean {
  for (let i = 0; i < known.length; i++) {
    const code = text.charCodeAt(start + i);
    if ((code >= 65 && code <= 90 ? code + 32 : code) !== known.charCodeAt(i)) return false;
  }
  return true;
}
