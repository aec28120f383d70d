/** URLs: one identity (the key), one fetch address, their domain, and what may enter the frontier. */
export {
  type ClassifyContext,
  classifyUrl,
  type LearnedKinds,
  type PageKind,
  type UrlClass,
  unknownShape,
} from './classify.ts';
export { canonicalDomain, domainIdentity, registrableDomain } from './domain.ts';
export {
  decideUrlFilter,
  type UrlFilterDecision,
  type UrlFilterReason,
  type UrlFilterRules,
} from './filter.ts';
export { isFrontPage } from './front-page.ts';
export {
  applyHostRules,
  type HostRules,
  hasRules,
  mostRuleNameLength,
  mostRuleNames,
  parseHostRules,
  type RulesAtWork,
  type RulesOf,
} from './host-rules.ts';
export {
  type IdentifyOptions,
  type IdentifyResult,
  identifyUrl,
  MAX_URL_LENGTH,
  originOf,
  type UrlIdentity,
  type UrlRejection,
} from './identity.ts';
export { channelHash, channelTwin, parseUrlId, probeHash, urlId } from './ids.ts';
export { parseUrlPattern } from './patterns.ts';
export { isSingle, shapesOf, type UrlShapes } from './shape.ts';
export { parseUrl, resolveUrl } from './whatwg.ts';
