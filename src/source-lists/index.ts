/** Lists of publishers as files: OPML, CSV, JSON, NDJSON and plain addresses, in and out. */
export { isWordAlone, withScheme } from './check.ts';
export { formatOfName } from './detect-format.ts';
export {
  type ListEntry,
  type ListedChannel,
  type ListedSource,
  type ListFormat,
  listFormats,
} from './model.ts';
export { readList } from './read-list.ts';
export { checkSettings, warnOfSettings } from './settings.ts';
export { createListWriter, type ListWriter } from './write-list.ts';
