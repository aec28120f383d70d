/** A column of a table. */
export type Column = {
  key: string;
  label: string;
  /** The name the server sorts by; without it the column cannot be sorted by. */
  sort?: string;
  /** Which way the server sorts by it; descending unless said. */
  order?: 'ascending' | 'descending';
  isNumber?: boolean;
  /** What the row is about: it heads the card on a narrow screen. */
  isMain?: boolean;
};
