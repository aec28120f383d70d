import type { Input } from '../../api/client.ts';

/** CSS selectors of a source, by the field they are for. */
export type Selectors = Input<'testSelectors'>['body']['selectors'];
type Field = keyof Selectors;

/** The fields that selectors can be given for, with what each is good for. */
export const selectorFields: readonly { field: Field; label: string; hint: string }[] = [
  {
    field: 'container',
    label: 'Container',
    hint: 'The element that holds the article; text outside is ignored.',
  },
  { field: 'exclude', label: 'Leave out', hint: 'Elements that are removed before anything is read.' },
  { field: 'title', label: 'Title', hint: 'The headline.' },
  { field: 'body', label: 'Body', hint: 'The paragraphs of the article.' },
  { field: 'author', label: 'Author', hint: 'Who wrote it; each match is one name.' },
  { field: 'date', label: 'Date', hint: 'When it was published; a datetime attribute is best.' },
  { field: 'section', label: 'Section', hint: 'The part of the publication.' },
  { field: 'image', label: 'Image', hint: 'The lead image.' },
];

/** What is said, without the fields that are empty; null: nothing is. */
export function givenSelectors(form: Readonly<Record<Field, string>>): Selectors | null {
  const given = Object.entries(form)
    .map(([field, selector]) => [field, selector.trim()] as const)
    .filter(([, selector]) => selector !== '');
  return given.length === 0 ? null : Object.fromEntries(given);
}

/** A form of what a source has; settings are what people and files put there, so nothing is taken for granted. */
export function formOf(settings: Readonly<Record<string, unknown>>): Record<Field, string> {
  const stored = (settings.selectors ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    selectorFields.map(({ field }) => [field, typeof stored[field] === 'string' ? stored[field] : '']),
  ) as Record<Field, string>;
}
