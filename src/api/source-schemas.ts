import { type Static, Type } from 'typebox';
import { type SourceStatus, sourceStatuses, sourceStatusOf } from '../channels/index.ts';
import { AppError } from '../errors/index.ts';
import { checkSettings } from '../source-lists/index.ts';
import { renderModes, type Source, type SourceSettings } from '../sources/index.ts';
import type { Identity } from './identity.ts';
import { answer, count, date, oneOf, orNull, serial, strict, text } from './schemas.ts';

/** How a source is followed. */
export const modes = ['feed', 'spider', 'both'] as const;
const patterns = Type.Array(text(1000), { maxItems: 500 });
const selector = Type.Optional(text(1000, { least: 0 }));

/** CSS selectors of a source, by the field they are for. */
export const selectorsShape = Type.Object(
  {
    container: selector,
    exclude: selector,
    title: selector,
    body: selector,
    author: selector,
    date: selector,
    section: selector,
    image: selector,
  },
  strict,
);

/** What a source may be given besides its name: settings that are read as a whole. */
const settingFields = {
  articleUrlPatterns: patterns,
  include: patterns,
  exclude: patterns,
  allowLeaving: Type.Boolean(),
  maxDepth: Type.Integer({
    minimum: -1,
    maximum: 1000,
    description: 'links from the front page; 0: 3, -1: without end; more than 5 is warned of',
  }),
  fixedInterval: Type.Boolean(),
  proxies: Type.Array(text(1000), { maxItems: 100, description: 'needs the admin role' }),
  copies: oneOf(['deliver', 'hold'] as const),
  // Whether an article that continues on other pages is read to its end.
  pages: oneOf(['all', 'first'] as const),
  images: oneOf(['off', 'reference', 'store'] as const),
  group: Type.String({
    pattern: '^[a-z0-9_-]{1,40}$',
    description: 'group of fetchers that alone asks its domains',
  }),
  // Whether its pages run in a browser: those that need it, all of them, or none.
  render: oneOf(renderModes),
  selectors: selectorsShape,
};
type SettingName = keyof typeof settingFields;
const settingNames = Object.keys(settingFields) as SettingName[];

const plainFields = {
  name: text(200),
  ingestionMode: oneOf(modes),
  feedPollIntervalMinutes: Type.Integer({ minimum: 1, maximum: 43_200 }),
  priority: Type.Integer({ minimum: 1, maximum: 10 }),
};
const delayMs = Type.Integer({ minimum: 0, maximum: 86_400_000 });

/** A new source. */
export const newSourceShape = Type.Object(
  {
    url: text(2048),
    name: Type.Optional(plainFields.name),
    ingestionMode: Type.Optional(plainFields.ingestionMode),
    feedPollIntervalMinutes: Type.Optional(plainFields.feedPollIntervalMinutes),
    priority: Type.Optional(plainFields.priority),
    rateLimitMs: Type.Optional(orNull(delayMs)),
    settings: Type.Optional(Type.Partial(Type.Object(settingFields), strict)),
  },
  strict,
);

/** What may change of a source: what is left out stays, null takes a setting back. */
export const sourceChangeShape = Type.Object(
  {
    name: Type.Optional(plainFields.name),
    ingestionMode: Type.Optional(plainFields.ingestionMode),
    feedPollIntervalMinutes: Type.Optional(plainFields.feedPollIntervalMinutes),
    priority: Type.Optional(plainFields.priority),
    rateLimitMs: Type.Optional(orNull(delayMs)),
    settings: Type.Optional(
      Type.Object(
        Object.fromEntries(
          settingNames.map((name) => [name, Type.Optional(orNull(settingFields[name]))]),
        ) as {
          [Name in SettingName]: ReturnType<
            typeof Type.Optional<ReturnType<typeof orNull<(typeof settingFields)[Name]>>>
          >;
        },
        strict,
      ),
    ),
    respectRobots: Type.Optional(
      Type.Boolean({ description: 'false: Disallow lines do not hold; needs the admin role and a reason' }),
    ),
    reason: Type.Optional(text(2000, { description: 'why robots.txt is to be ignored or followed again' })),
  },
  { ...strict, minProperties: 1 },
);
export type SourceChangeBody = Static<typeof sourceChangeShape>;

const plainAnswer = {
  id: serial,
  slug: Type.String(),
  name: Type.String(),
  url: Type.String(),
  enabled: Type.Boolean(),
  disabledAt: orNull(date),
  disableReason: orNull(Type.String()),
  ingestionMode: plainFields.ingestionMode,
  feedPollIntervalMinutes: plainFields.feedPollIntervalMinutes,
  priority: plainFields.priority,
  rateLimitMs: orNull(count),
  settings: Type.Object({}, { additionalProperties: true, description: 'passwords of proxies are masked' }),
  createdAt: date,
};

/** A source as it is answered. */
export const sourceShape = Type.Object(plainAnswer, strict);

const overruled = Type.Array(
  Type.Object({ domain: Type.String(), source: Type.String(), group: Type.String() }, strict),
  { description: "groups that other sources give to its domains, and that this one's overrules" },
);

const warningFields = {
  warnings: Type.Array(Type.String(), {
    description: 'what somebody should know of the settings that were given',
  }),
};

/** A source that was changed. */
export const changedSourceShape = Type.Object({ ...plainAnswer, ...warningFields, overruled }, strict);

/** A source with how it goes. */
export const statusFields = {
  ...plainAnswer,
  status: oneOf(sourceStatuses),
  channels: count,
  failing: count,
  lastItemAt: orNull(date),
  searching: Type.Boolean(),
};

const mask = '********';

/** A source without the passwords of its proxies. */
export function shownSource<T extends Source>(source: T): T {
  const { proxies } = source.settings;
  if (proxies === undefined) return source;
  return { ...source, settings: { ...source.settings, proxies: proxies.map(masked) } };
}

/** A source with its status in a word. */
export const shownStatus = (source: SourceStatus) => ({
  ...shownSource(source),
  status: sourceStatusOf(source),
});

// By hand: a proxy that no URL parser takes may hold a password all the same.
const masked = (proxy: string): string => proxy.replace(/\/\/[^/]*@/, `//${mask}@`);

/** Settings that only an admin may give: proxies lead our requests anywhere, and robots.txt is a promise. */
export function adminSetting(settings: Readonly<Record<string, unknown>>): string | null {
  if (settings.proxies !== undefined && settings.proxies !== null) return 'proxies';
  return settings.respectRobots === false ? 'respectRobots' : null;
}

/** Refuses settings that the caller may not give or that cannot be used. */
export function requireUsable(
  settings: Readonly<Record<string, unknown>>,
  identity: Identity,
): SourceSettings {
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
  const needsAdmin = adminSetting(given);
  if (needsAdmin !== null) requireAdmin(identity, `settings.${needsAdmin}`);
  const checked = checkSettings(given);
  if (checked.outcome === 'bad') throw settingsInvalid(checked.reason);
  if (Array.isArray(given.proxies) && given.proxies.some((one) => String(one).includes(mask)))
    throw settingsInvalid('settings.proxies has a masked password: give the real one');
  return checked.settings;
}

const settingsInvalid = (reason: string): AppError =>
  new AppError('settings_invalid', reason, { httpStatus: 422 });

/** Refuses what only an admin may do. */
export function requireAdmin(identity: Identity, what: string): void {
  if (identity.role !== 'admin')
    throw new AppError('forbidden', `${what} needs the admin role`, { httpStatus: 403 });
}

/** Why somebody does something. */
export const reasonText = text(2000, { description: 'why' });

/** Where a search for feeds stands. */
export const discoveryShape = answer({
  state: oneOf(['pending', 'page', 'candidates', 'found', 'nothing'] as const),
  candidates: Type.Array(
    answer({
      url: Type.String(),
      by: Type.String(),
      outcome: orNull(Type.String()),
    }),
  ),
  channelId: orNull(serial),
  reason: orNull(Type.String()),
  found: Type.Array(
    answer({
      kind: oneOf(['feed', 'sitemap'] as const),
      url: Type.String(),
      title: orNull(Type.String()),
      entries: count,
      owner: orNull(answer({ slug: Type.String(), name: Type.String() })),
    }),
    { description: 'what its probes found, with the source that polls it; kept for a day' },
  ),
});

/** What was added, or was there. */
export const addedShape = answer({
  ...changedSourceShape.properties,
  created: Type.Boolean(),
  channelId: orNull(serial),
});

/** How one selector did on stored documents. */
export const selectorRate = answer({
  field: Type.String(),
  documents: count,
  matched: count,
  lastMatchAt: orNull(date),
  latest: Type.String(),
});
