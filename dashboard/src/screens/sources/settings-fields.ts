import type { Input } from '../../api/client.ts';
import { plural } from '../../parts/format.ts';
import { modeWords, type SourceCard } from './source-words.ts';

type Base = { key: string; label: string; hint: string; isAdmin?: boolean };
/** One setting as the form asks for it. Empty means: not set for this source. */
export type SettingField = Base &
  (
    | { kind: 'text'; isNeeded?: boolean; most: number }
    | { kind: 'number'; isNeeded?: boolean; min: number; max: number }
    | { kind: 'lines' }
    | {
        kind: 'choice';
        /** What it is when nothing is said; without it something must be. */
        none?: string;
        choices: readonly (readonly [value: string, label: string])[];
      }
  );

/** Settings that are fields of the source itself. */
export const plainFields: readonly SettingField[] = [
  {
    key: 'name',
    kind: 'text',
    isNeeded: true,
    most: 200,
    label: 'Name',
    hint: 'Its short name in addresses stays.',
  },
  {
    key: 'ingestionMode',
    kind: 'choice',
    label: 'Followed by',
    hint: 'Feeds and sitemaps are polled; links on its pages are followed; or both.',
    choices: Object.entries(modeWords),
  },
  {
    key: 'feedPollIntervalMinutes',
    kind: 'number',
    isNeeded: true,
    min: 1,
    max: 43_200,
    label: 'Minutes between polls',
    hint: 'For all its feeds; its sitemaps keep their own.',
  },
  {
    key: 'priority',
    kind: 'number',
    isNeeded: true,
    min: 1,
    max: 10,
    label: 'Priority',
    hint: '1 to 10. What has a higher one is fetched first.',
  },
  {
    key: 'rateLimitMs',
    kind: 'number',
    min: 0,
    max: 86_400_000,
    label: 'Milliseconds between requests',
    hint: 'At least so much; robots.txt may ask for more. Empty: as configured.',
  },
];

const yes = [['true', 'yes']] as const;

/** Settings of what is taken, most of them for sources whose links are followed. */
export const linkFields: readonly SettingField[] = [
  {
    key: 'articleUrlPatterns',
    kind: 'lines',
    label: 'Addresses of articles',
    hint: 'One pattern a line (RE2): an address that one is found in is an article. Empty: decided by how it looks.',
  },
  {
    key: 'include',
    kind: 'lines',
    label: 'Only addresses with',
    hint: 'One pattern a line: no other links are followed, and no other items of feeds and sitemaps taken. Empty: all are.',
  },
  {
    key: 'exclude',
    kind: 'lines',
    label: 'Never addresses with',
    hint: 'One pattern a line: these links and items are left out.',
  },
  {
    key: 'maxDepth',
    kind: 'number',
    min: -1,
    max: 1000,
    label: 'Depth',
    hint: 'How many links away from its front page. Empty or 0: 3; -1: without end. More than 5 seldom brings news.',
  },
  {
    key: 'allowLeaving',
    kind: 'choice',
    none: 'no',
    choices: yes,
    label: 'May leave its domain',
    hint: 'Whether links to other domains are followed.',
  },
];

/** Settings for polls, requests and what becomes of documents. */
export const keepFields: readonly SettingField[] = [
  {
    key: 'fixedInterval',
    kind: 'choice',
    none: 'no',
    choices: yes,
    label: 'Fixed interval',
    hint: 'Yes: its channels are polled exactly as said above, whatever is learnt of them.',
  },
  {
    key: 'copies',
    kind: 'choice',
    none: 'as usual: deliver',
    choices: [
      ['deliver', 'deliver'],
      ['hold', 'keep, but do not deliver'],
    ],
    label: 'Copies',
    hint: 'What is done with articles that others printed first.',
  },
  {
    key: 'pages',
    kind: 'choice',
    none: 'as usual: all',
    choices: [
      ['all', 'all'],
      ['first', 'only the first'],
    ],
    label: 'Pages of an article',
    hint: 'Whether an article that continues on other pages is read to its end.',
  },
  {
    key: 'images',
    kind: 'choice',
    none: 'as configured',
    choices: [
      ['off', 'off'],
      ['reference', 'note where they are'],
      ['store', 'store them'],
    ],
    label: 'Images',
    hint: 'What is done with the images of its articles.',
  },
  {
    key: 'group',
    kind: 'text',
    most: 40,
    label: 'Group of fetchers',
    hint: 'Only fetchers of this group ask its domains (a-z, 0-9, - and _). Empty: any may.',
  },
  {
    key: 'render',
    kind: 'choice',
    none: 'as usual: when they need it',
    choices: [
      ['auto', 'when they need it'],
      ['always', 'always'],
      ['never', 'never'],
    ],
    label: 'Run pages in a browser',
    hint: 'Pages that show their text only with JavaScript wait for a fetcher that has a browser.',
  },
  {
    key: 'proxies',
    kind: 'lines',
    isAdmin: true,
    label: 'Proxies (admin)',
    hint: 'One address a line, instead of the configured ones. Passwords are masked: give them anew with every change.',
  },
];
const deepFields: readonly SettingField[] = [...linkFields, ...keepFields];

/** What the form holds: text, or a number where a number is asked for. */
export type SettingsForm = Record<string, string | number>;

function shown(field: SettingField, value: unknown): string | number {
  // A setting that is off is the same as one that is not there.
  if (value === undefined || value === null || value === false) return '';
  if (field.kind === 'lines') return Array.isArray(value) ? value.join('\n') : '';
  return typeof value === 'number' ? value : String(value);
}

/** The form of a source as it is stored. */
export function settingsForm(source: SourceCard): SettingsForm {
  const plain = source as unknown as Record<string, unknown>;
  return Object.fromEntries([
    ...plainFields.map((field) => [field.key, shown(field, plain[field.key])]),
    ...deepFields.map((field) => [field.key, shown(field, source.settings[field.key])]),
  ]);
}

function meant(field: SettingField, value: string | number): unknown {
  if (field.kind === 'lines') {
    const lines = String(value)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    return lines.length === 0 ? null : lines;
  }
  if (value === '') return null;
  return value === 'true' ? true : value;
}

type Body = Input<'updateSource'>['body'];

/** What is different between two forms, as the API takes it, and in words. */
export function settingsChange(before: SettingsForm, after: SettingsForm): { body: Body; changes: string[] } {
  const changes: string[] = [];
  const changed = (fields: readonly SettingField[]): Record<string, unknown> => {
    const found = fields.filter(
      (field) =>
        JSON.stringify(meant(field, before[field.key] ?? '')) !==
        JSON.stringify(meant(field, after[field.key] ?? '')),
    );
    for (const field of found)
      changes.push(changeText(field, before[field.key] ?? '', after[field.key] ?? ''));
    return Object.fromEntries(found.map((field) => [field.key, meant(field, after[field.key] ?? '')]));
  };
  const plain = changed(plainFields);
  const settings = changed(deepFields);
  return { body: { ...plain, ...(Object.keys(settings).length === 0 ? {} : { settings }) } as Body, changes };
}

function changeText(field: SettingField, before: string | number, after: string | number): string {
  const word = (value: string | number): string => {
    const given = meant(field, value);
    if (given === null) return field.kind === 'choice' ? (field.none ?? 'not set') : 'not set';
    if (Array.isArray(given)) return plural(given.length, 'line');
    return (
      (field.kind === 'choice' ? field.choices.find(([key]) => key === value)?.[1] : undefined) ??
      String(value)
    );
  };
  return `${field.label}: ${word(before)} → ${word(after)}`;
}
