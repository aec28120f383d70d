import { copyString } from '../html/index.ts';
import type { Codes } from './block-codes.ts';

/**
 * What short lines around an article say, in the languages of the web. Each is only evidence for the block scorer,
 * never a verdict: an article may well contain a sentence about newsletters.
 */
const FIRST: [string, RegExp][] = [
  [
    'more',
    /^(?:(?:read|see|learn|find out|discover|click|view|watch|listen|check out|explore)\b.{0,40}(?:\bmore|\balso|\bnext|\bhere|\bfull|\ball|\bnow|:)|(?:related|also read|read|also|more from|more on|more in|don.t miss|recommended|you (?:may|might) (?:also )?like|see also|up next|next article|previous|mehr|lesen sie|weiterlesen|auch interessant|lire aussi|à lire|voir aussi|leer más|lea también|lee también|te puede interesar|leggi anche|leia (?:mais|também)|você pode|lees ook|læs også|les også|läs (?:mer|också|även)|czytaj|читайте|das könnte|zum thema|weitere |ähnliche |passend |siehe auch|meist ?gelesen|empfehlung|aus dem archiv|vorherige[rs]?\b|nächste[rs]? (?:artikel|beitrag)|articles (?:similaires|liés)|sur le même|à voir|noticias relacionadas|artículos relacionados|más (?:noticias|información|sobre)|ver (?:más|también)|artigos relacionados|veja (?:mais|também)|saiba mais|potrebbe|articoli correlati|lees (?:meer|verder)|meer over|zobacz|przeczytaj|polecamy|lue (?:myös|lisää))(?:\b|$))/,
  ],
  [
    'share',
    /^(?:share|tweet|pin|e-?mail|print|copy link|facebook|twitter|x|whatsapp|linkedin|pinterest|reddit|telegram|teilen|partager|compartir|condividi|save|bookmark|follow|like|drucken|merken|(?:artikel|beitrag|seite) (?:teilen|drucken|merken|versenden|empfehlen)|imprimer|imprimir|stampa|delen|dela)\b.{0,30}$/,
  ],
  [
    'date',
    /^(?:(?:first |last )?(?:published|updated|posted|modified|veröffentlicht|publié|publicado|pubblicato|aktualisiert|stand|zuletzt|erstellt|letzte änderung|geändert|datum|mis à jour|actualizado|atualizado|aggiornato)\b.{0,30}\d|\p{L}{3,9}\.?\s\d{1,2},?\s(?:19|20)\d{2}|\d{1,2}[.\s]\s?(?:de\s)?\p{L}{3,9}\.?,?\s(?:de\s)?(?:19|20)\d{2}|\d{1,4}[./-]\d{1,2}[./-]\d{2,4}\b|\d+ (?:min(?:ute)?s?\b.{0,3}(?:read|lesezeit|lectura)|(?:minute|hour|day|week|month)s? ago)|(?:vor|am|vom|il y a|hace|há) \d+)/u,
  ],
  [
    'comments',
    /^\W{0,5}\d{0,6}\s?(?:comments?|replies|reply|responses?|leave a|post a|add a|log ?in|sign ?in|kommentare?|commentaires?|comentarios?|comentários?|commenti|antworten|diskussion|diskutieren|schreiben? sie|anmelden|registrieren|einloggen|laisser|répondre|réagir|se connecter|deja (?:un|tu)|responder|iniciar|lascia un|rispondi|accedi|reageer|reacties|inloggen|logga in|logg inn|zaloguj)\b/,
  ],
  [
    'ad',
    /^\W{0,5}(?:advertisement|advertising|sponsored|promoted|ad|ads|werbung|anzeige|publicité|publicidad|publicidade|pubblicità|advertentie|annonse?|reklama?)\b.{0,40}$/,
  ],
  [
    'toc',
    /^(?:table of contents|contents|in this (?:article|post|guide|story)|jump to|on this page|what.s (?:inside|in this)|inhaltsverzeichnis|inhalt|sommaire|índice|quick links|skip to)\b/,
  ],
  [
    'tags',
    /^(?:tags?|topics?|filed under|categor(?:y|ies)|keywords?|posted in|tagged|etiquetas|schlagw[oö]rter|themen|mots-clés|tema|temas|labels?|more about|in|schlagworte?|stichworte?|kategorien?|rubrik|catégories?|categor[ií]as?|tagi)\b/,
  ],
  [
    'refs',
    /^\W{0,3}(?:references?|sources?|bibliography|notes?|footnotes?|citations?|further reading|resources|works cited|quellen|références|referencias|fuentes|literatur|quelle|weblinks|einzelnachweise|external links|see also)\W{0,3}$/,
  ],
];

const ANYWHERE: [string, RegExp][] = [
  [
    'subscribe',
    /newsletter|\bsubscri|sign(?:ing)? up|abonn|s.inscri|suscr[ií]b|iscriv|your inbox|e-?mail address|free trial|register (?:now|for)|download (?:our|the) (?:free )?(?:app|guide|ebook)|follow us|join (?:us|our|the conversation)|donate|support (?:us|our)|подпи|jetzt (?:anmelden|registrieren|testen|lesen|bestellen|sichern)|passwort|mot de passe|contraseña|spenden|unterstützen sie|folgen sie|folge[nt]? uns|suivez-nous|síguenos|seguici|volg ons/,
  ],
  [
    'rights',
    /©|\(c\) ?(?:19|20)\d\d|copyright|all rights reserved|alle rechte|tous droits|todos los derechos|todos os direitos|tutti i diritti|rechten voorbehouden/,
  ],
  [
    'credit',
    /getty|shutterstock|\bistock|unsplash|\bap photo|\bafp\b|(?:photos?|images?|fotos?|bild|video|credits?|crédits?|illustration|graphic) ?(?::|by\b|credit|courtesy|via\b|©)|courtesy of|\((?:photo|image|foto|credit)|via reuters|adobe stock|\bdpa\b|pictured (?:above|here)|(?:quelle|foto|bild) ?:|\bimago\b|picture[ -]alliance|symbolbild|archiv(?:bild|foto)/,
  ],
  [
    'legal',
    /\bcookies?\b|privacy (?:policy|notice)|terms (?:of|and|&)|\bconsent\b|datenschutz|impressum|mentions légales|aviso legal|privatsphäre|externe[nr]? inhalt|einwilligung|zustimm|nutzungsbedingungen|personenbezogen|données personnelles|datos personales|javascript/,
  ],
  [
    'bio',
    /\b(?:is|was) (?:an?|the) (?:[\p{L}-]+ ){0,4}(?:writer|editor|reporter|journalist|correspondent|contributor|author|columnist|professor|producer|fellow|blogger|founder|director|manager|strategist|expert|specialist|freelancer?|consultant|attorney|photographer|co-founder|ceo)\b|about the authors?|contributed to this|follow (?:him|her|me|them) |view all posts|all posts by|über den autor|sobre (?:el|o) autor|à propos de l.auteur|über die autor|redakteur|korrespondent|\bist (?:freier?|autor|journalist|leiter)|est (?:journaliste|rédact|correspondant)|es periodista/u,
  ],
  [
    'disclosure',
    /affiliate|commission|disclos|editor.?s.? note|disclaimer|correction:|this (?:article|story|post) (?:was|is|has been|originally|first|contains)|originally (?:appeared|published)|we may (?:earn|receive)|not (?:intended|a substitute)|for informational purposes|independently|diese[rs]? (?:artikel|beitrag|text) (?:ist|wurde|erschien|stammt|enthält)|anmerkung der redaktion|haftungsausschluss|cet article (?:est|a été)|este artículo (?:fue|es)/,
  ],
  [
    'cta',
    /contact us|call us|get started|get in touch|book (?:a|your|now)|request (?:a|your)|shop (?:now|our)|buy now|learn more|get (?:a|your|the) (?:free|quote|app)|schedule (?:a|your)|start (?:your|a) free|try (?:it )?(?:for )?free|talk to (?:us|an? )|speak (?:to|with) |apply now|view (?:all|more|details)|see (?:all|more)|show more|load more|add to cart|click here|sign in|continue reading below|(?:story|article) continues|will not be published|jetzt (?:kaufen|buchen|anfragen)|mehr erfahren|erfahren sie|klicken sie|warenkorb|en savoir plus|cliquez ici|haga clic|clicca qui|klik hier|mehr anzeigen|alle anzeigen/,
  ],
];

/**
 * The first four letters of a word that every phrase of a group contains. Most lines hold none of them, and one scan for
 * words costs a fifth of trying all patterns at every place.
 */
const TRIGGERS: Record<string, string> = {
  subscribe:
    'news subs sign abon insc susc iscr inbo mail emai tria regi down foll join dona supp подп jetz pass cont spen unte folg suiv sígu segu volg',
  rights: 'c copy righ rech droi dere dire diri',
  credit:
    'gett shut isto unsp ap afp phot imag foto bild vide cred créd illu grap cour reut adob dpa pict quel symb arch',
  legal: 'cook priv term cons date impr ment avis exte einw zust nutz pers dato java',
  bio: 'is was auth aute cont foll view post auto reda réda korr frei jour leit corr peri',
  disclosure:
    'affi comm disc edit corr arti artí stor post orig earn rece inte subs info inde beit text anme haft',
  cta: 'cont call star touc book requ shop buy lear free quot app appl apps sche try talk spea view see show load cart clic sign publ jetz erfa klic ware savo cliq haga klik anze',
};
const MAX_PREFIX = 4;
const LETTER_A = 97;
const COPYRIGHT = 0xa9;

const lowerCase = (code: number) => (code >= 65 && code <= 90 ? code + 32 : code);
const isLetter = (code: number) => code >= LETTER_A && code <= 122;
const isDigit = (code: number) => code >= 48 && code <= 57;
/** Letters beyond ASCII, and what is as good as one: signs of all scripts are left out. */
const isFarLetter = (code: number) =>
  code >= 0xc0 && (code < 0x2000 || (code >= 0x3040 && code < 0xd800)) && code !== 0xd7 && code !== 0xf7;

/** A letter in five bits: those of ASCII each their own; the others share five numbers, capitals with small letters. */
const letterKey = (code: number) => (isLetter(code) ? code - LETTER_A + 1 : 27 + ((code & 31) % 5));

function prefixKey(word: string): number {
  let key = 0;
  for (let i = 0; i < Math.min(word.length, MAX_PREFIX); i++) key = key * 32 + letterKey(word.charCodeAt(i));
  return key;
}

const PREFIX_LOG = 10;
const PREFIX_SLOTS = 1 << PREFIX_LOG;

/** Bits of words by the key of their prefix; a Map takes four times as long. */
class PrefixBits {
  readonly #keys = new Int32Array(PREFIX_SLOTS);
  readonly #bits = new Int32Array(PREFIX_SLOTS);

  constructor(groups: readonly (readonly [name: string, ...unknown[]])[], words: Record<string, string>) {
    groups.forEach(([name], bit) => {
      for (const word of words[name]?.split(' ') ?? []) {
        const slot = this.#find(prefixKey(word));
        this.#keys[slot] = prefixKey(word);
        this.#bits[slot]! |= 1 << bit;
      }
    });
  }

  /** The bits of a prefix; 0 where it is none. */
  get(key: number): number {
    return this.#bits[this.#find(key)]!;
  }

  #find(key: number): number {
    let slot = Math.imul(key, 0x9e3779b1) >>> (32 - PREFIX_LOG);
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & (PREFIX_SLOTS - 1);
    return slot;
  }
}

const groupsByPrefix = new PrefixBits(ANYWHERE, TRIGGERS);
const RIGHTS = 1 << ANYWHERE.findIndex(([name]) => name === 'rights');

/** The groups whose phrases a text may hold, by the beginnings of its words. */
function possibleGroups(codes: Uint16Array, from: number, to: number): number {
  let groups = 0;
  let key = 0;
  let letters = 0;
  for (let at = from; at < to; at++) {
    const code = lowerCase(codes[at]!);
    if (isLetter(code) || isFarLetter(code)) {
      if (letters++ >= MAX_PREFIX) continue;
      key = key * 32 + letterKey(code);
      if (letters === MAX_PREFIX) groups |= groupsByPrefix.get(key);
      continue;
    }
    if (letters > 0 && letters < MAX_PREFIX) groups |= groupsByPrefix.get(key);
    if (code === COPYRIGHT) groups |= RIGHTS;
    key = 0;
    letters = 0;
  }
  return letters > 0 && letters < MAX_PREFIX ? groups | groupsByPrefix.get(key) : groups;
}

// A byline keeps its capitals: "by Anna Berg" is one, "by a narrow margin" is not.
const BYLINE =
  /^(?:(?:[Ww]ritten|[Pp]osted|[Pp]ublished|(?:[Mm]edically )?[Rr]eviewed|[Ee]dited|[Ss]tory|[Ww]ords) )?(?:[Bb]y|BY|[Vv]on|[Pp]ar|[Pp]or|[Dd]i|[Dd]oor|[Aa]v|[Aa]f)\s?:?\s\p{Lu}[\p{L}.'’-]{0,30}(?:\s[\p{L}.'’&,-]{1,30}){0,8}$/u;
const BYLINE_CHARS = 120;
// The letters it begins with.
const BYLINE_LETTERS = new Set(Array.from('wpmresbvda', (letter) => letter.charCodeAt(0)));
const mayBeByline = (first: number) => first < 128 && BYLINE_LETTERS.has(first | 32);
const PARAGRAPH_CHARS = 700;
const FIRST_CHARS = 100;
const ANYWHERE_CHARS = 220;

/** Names of the phrase groups, in the order of their bits. */
export const PHRASE_NAMES: readonly string[] = [
  'byline',
  ...FIRST.map(([name]) => name),
  ...ANYWHERE.map(([name]) => name),
];

// What a line must begin with, after signs and a number, for a pattern of FIRST to match: the first letters of the first
// word. Dates begin with any word and hold a digit.
const FIRST_WORDS: Record<string, string> = {
  more:
    'read see lear find disc clic view watc list chec expl rela also more don reco you up next prev mehr lese weit auch ' +
    'lire à voir leer lea lee te legg leia você les læs läs czyt чита das zum ähnl pass sieh meis empf aus vorh näch ' +
    'arti artí sur noti más ver veja saib potr lees meer zoba prze pole lue',
  share:
    'shar twee pin e emai prin copy face twit x what link pint redd tele teil part comp cond save book foll like druc merk beit arti seit impr stam dele dela',
  comments:
    'comm repl resp leav post add log logi sign komm come antw disk schr anme regi einl lais répo réag se deja inic lasc risp acce reag reac inlo logg zalo',
  ad: 'adve spon prom ad ads werb anze publ pubb anno rekl',
  toc: 'tabl cont in jump on what inha somm índi quic skip',
  tags: 'tag tags topi file cate caté keyw post tagg etiq schl them mots tema labe more in stic kate rubr tagi',
  refs: 'refe réfé sour bibl note foot cita furt reso work quel lite exte see fuen webl einz',
};
const firstBitsByPrefix = new PrefixBits(FIRST, FIRST_WORDS);
const DATE_BIT = 1 << FIRST.findIndex(([name]) => name === 'date');
// A date pattern reaches no further than this for its first digit.
const DATE_CHARS = 50;

/** The patterns of FIRST that a line can match, as bits, by its first word and whether it holds a digit. */
function possibleFirst(codes: Uint16Array, from: number, to: number): number {
  let key = 0;
  let letters = 0;
  let bits = 0;
  for (let at = from; at < to && at < from + DATE_CHARS && bits === 0; at++)
    if (isDigit(codes[at]!)) bits = DATE_BIT;
  for (let at = from; at < to && letters < MAX_PREFIX; at++) {
    const code = lowerCase(codes[at]!);
    if (isLetter(code) || isFarLetter(code)) {
      key = key * 32 + letterKey(code);
      letters++;
    } else if (letters > 0) break;
  }
  return letters === 0 ? bits : bits | firstBitsByPrefix.get(key);
}

/**
 * Which phrase groups a line belongs to, as bits; the line is text `i` of `codes`. Lower case once and plain patterns:
 * with the flags `i` and `u` the same patterns took a tenth of a page's time.
 */
export function phraseBits(text: string, i: number, { codes, starts }: Codes): number {
  // Beyond this it is a paragraph, whatever it mentions.
  if (text.length > PARAGRAPH_CHARS) return 0;
  const from = starts[i]!;
  const to = starts[i + 1]!;
  let bits = text.length <= BYLINE_CHARS && mayBeByline(codes[from]!) && BYLINE.test(text) ? 1 : 0;
  const first = possibleFirst(codes, from, Math.min(to, from + FIRST_CHARS));
  const anywhere = possibleGroups(codes, from, Math.min(to, from + ANYWHERE_CHARS));
  if (first === 0 && anywhere === 0) return bits;
  const sample = (text.length <= ANYWHERE_CHARS ? text : text.slice(0, ANYWHERE_CHARS)).toLowerCase();
  const start = sample.length <= FIRST_CHARS ? sample : sample.slice(0, FIRST_CHARS);
  for (let bit = 0; first >> bit !== 0; bit++)
    if (((first >> bit) & 1) === 1 && FIRST[bit]![1].test(start)) bits |= 1 << (bit + 1);
  for (let group = 0; anywhere >> group !== 0; group++)
    if (((anywhere >> group) & 1) === 1 && ANYWHERE[group]![1].test(sample))
      bits |= 1 << (1 + FIRST.length + group);
  return bits;
}

// Menus, boxes and teasers come back with every page of a site: six of seven lines of simulated pages had come before.
const KNOWN_LINES = 8_192;
const KNOWN_CHARS = 160;
const knownLines = new Array<string>(KNOWN_LINES).fill('');
const knownBits = new Int32Array(KNOWN_LINES);

/** The same through a memory of the lines that came last, by a hash of the line; it bounds itself to about a megabyte. */
export function knownPhraseBits(text: string, i: number, codes: Codes, hash: number): number {
  if (text.length > KNOWN_CHARS) return phraseBits(text, i, codes);
  const slot = (hash ^ (hash >>> 13)) & (KNOWN_LINES - 1);
  if (knownLines[slot] === text) return knownBits[slot]!;
  const bits = phraseBits(text, i, codes);
  knownLines[slot] = copyString(text);
  knownBits[slot] = bits;
  return bits;
}
