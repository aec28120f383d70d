export { type ArticleHtml, articleHtml } from './article-html.ts';
export { makeComparable } from './comparable.ts';
export { type BlockStory, type Candidate, type Explanation, explainPage } from './explain.ts';
export {
  contentHash,
  type Extraction,
  type ExtractOptions,
  extractPage,
  writtenDates,
} from './extract-page.ts';
export type { PageImage } from './images.ts';
export {
  isWritten,
  leaveOut,
  parseSelectors,
  type Selected,
  type Selectors,
  selectNodes,
} from './selectors.ts';
export {
  COPY_SIMILARITY,
  SIGNATURE_BANDS,
  SIGNATURE_CHARS,
  signatureBands,
  signatureSimilarity,
  textSignature,
} from './signature.ts';
