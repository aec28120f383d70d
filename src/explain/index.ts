export { type DomainExplanation, describeDomain } from './describe-domain.ts';
export { describeUrl, type Explanation } from './describe-url.ts';
export { type DomainFacts, loadDomainFacts } from './load-domain.ts';
export { loadUrlFacts, type UrlFacts } from './load-url.ts';
export { isHeld, reasonText } from './words.ts';
