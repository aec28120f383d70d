/** OPML: subscription lists in and out. */
export type { OpmlOutline } from './model.ts';
export { type OpmlResult, parseOpml } from './parse.ts';
export { writeOpml } from './write.ts';
