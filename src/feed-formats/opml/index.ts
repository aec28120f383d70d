/** OPML: subscription lists in and out. */
export type { OpmlOutline } from './model.ts';
export { OpmlReader, type OpmlResult, parseOpml } from './parse.ts';
export { opmlFoot, opmlHead, outlineTag, writeOpml } from './write.ts';
