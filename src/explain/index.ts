export { describeUrl, type Explanation } from './describe-url.ts';
export { loadUrlFacts, type UrlFacts } from './load-url.ts';
