import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { ja } from './ja.ts';
import type { Lexicon } from './lexicon.ts';
import { ru } from './ru.ts';
import { sv } from './sv.ts';

export type { Furniture, Lexicon } from './lexicon.ts';

/** Every language the web publishes in; the order is part of the seed's meaning. */
export const lexicons = { en, de, fr, es, sv, ru, ja } as const satisfies Record<string, Lexicon>;

/** A language the web publishes in. */
export type Language = keyof typeof lexicons;
