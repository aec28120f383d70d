export { type Answer, type ExplainOptions, explain, parseSubject, type Subject } from './answer.ts';
export { type ChannelExplanation, describeChannel } from './describe-channel.ts';
export { type DomainExplanation, describeDomain } from './describe-domain.ts';
export { describeUrl, type Explanation } from './describe-url.ts';
export { type ChannelFacts, loadChannelFacts } from './load-channel.ts';
export { type DomainFacts, loadDomainFacts } from './load-domain.ts';
export { loadUrlFacts, type UrlFacts } from './load-url.ts';
export { channelErrors, deadReasons, failureReasons } from './reasons.ts';
export { holdTexts, isHeld, reasonText, reasonTexts, span } from './words.ts';
