/** Words of the page furniture around an article. */
export interface Furniture {
  home: string;
  more: string;
  related: string;
  newsletter: string;
  comments: string;
  commentLine: string;
  by: string;
  published: string;
  updated: string;
  next: string;
  previous: string;
  archive: string;
  about: string;
  login: string;
  search: string;
  rights: string;
  photo: string;
  advert: string;
  notFound: string;
  membersOnly: string;
}

/**
 * What a language needs to write news. Slots in patterns: {S} who, {A} did what, {P} place, {T} day, {R} reason,
 * {Q} quotation, {H} person, {G} topic, {N} number. Phrases are whole and already inflected, so that any combination
 * is a grammatical sentence.
 */
export interface Lexicon {
  code: string;
  sections: readonly { slug: string; name: string }[];
  firstNames: readonly string[];
  lastNames: readonly string[];
  subjects: readonly string[];
  actions: readonly string[];
  places: readonly string[];
  days: readonly string[];
  reasons: readonly string[];
  quotes: readonly string[];
  topics: readonly string[];
  sentences: readonly string[];
  titles: readonly string[];
  headings: readonly string[];
  /** Parts of publishers' names: the domain is the lower-case ASCII form. */
  names: { first: readonly string[]; second: readonly string[] };
  /** Between sentences: a space, or nothing in Japanese. */
  gap: string;
  furniture: Furniture;
}
