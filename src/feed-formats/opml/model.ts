/** A subscription of an OPML file. */
export type OpmlOutline = {
  title: string | null;
  /** Address of the feed; null where only the site is known. */
  feedUrl: string | null;
  siteUrl: string | null;
  description: string | null;
  language: string | null;
  /** Names of the folders it is in, outermost first. */
  folders: string[];
  /** Attributes of one other namespace, by their names without its prefix; absent when there are none. */
  extra?: Record<string, string>;
};
