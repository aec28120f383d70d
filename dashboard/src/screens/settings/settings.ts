import type { Item } from '../../api/client.ts';

/** A setting in force. */
export type Setting = Item<'listSettings'>;

/** A value as people write it. */
export function valueText(value: Setting['value']): string {
  if (value === null || value === '') return 'not set';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return String(value);
}

/** Whether a setting fits what is looked for: all words, in its names or what it is for. */
export function isFound(setting: Setting, looked: string): boolean {
  const text = `${setting.key} ${setting.env} ${setting.description}`.toLowerCase();
  return looked
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
