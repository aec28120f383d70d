export { contentHash, type Extraction, type ExtractOptions, extractPage } from './extract-page.ts';
export type { PageImage } from './images.ts';
export { type Selected, type Selectors, selectNodes } from './selectors.ts';
