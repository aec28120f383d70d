import { GROUP_NAMES, TAG_GROUP_NAMES } from './name-groups.ts';
import { PHRASE_NAMES } from './phrases.ts';
import { STRUCTURE_NAMES } from './structure-features.ts';
import { TEXT_NAMES } from './text-features.ts';

/** Tags that an owner is told apart by. */
export const OWNER_TAGS = ['p', 'li', 'div', 'h1', 'h2', 'h4', 'figcaption', 'pre'];
const PAGE_FEATURES = [
  'pageBlocks',
  'pageChars',
  'pageProseShare',
  'pageArticles',
  'position',
  'charPosition',
  'proseBefore',
  'proseAfter',
  'sinceHeadline',
  'headlineSeen',
  'titleLike',
  'repeated',
  'firstSame',
  'inLdBody',
  'inDescription',
];
const GROUP_FEATURES = [
  'sameCount',
  'sameWords',
  'sameLinkShare',
  'sameProse',
  'run',
  'groupBefore',
  'groupAfter',
  'siblings',
  'siblingIndex',
];
const CONTAINER_FEATURES = [
  'parentChars',
  'parentLinkShare',
  'parentProse',
  'parentBlocks',
  'grandChars',
  'grandLinkShare',
  'grandProse',
  'grandBlocks',
  'greatLinkShare',
  'greatProse',
  'inside60',
  'inside85',
  'branchChars',
  'branchLinkShare',
  'branchProse',
  'branchBlocks',
  'branchDepth',
  'branchIndex',
  'depth',
  'depthToContainer',
  'branchSameName',
];
/** Which neighbours a block is seen with. */
export const NEIGHBOURS = [-3, -2, -1, 1, 2, 3];
/** Whether a neighbour is told to be prose, to have the same parent: no tree asked for the others. */
export const tellsProse = (at: number): boolean => at !== 3;
export const tellsParent = (at: number): boolean => at !== -3;
const NEIGHBOUR_FEATURES = NEIGHBOURS.flatMap((at) => [
  `words${at}`,
  `linkShare${at}`,
  ...(tellsProse(at) ? [`prose${at}`] : []),
  ...(tellsParent(at) ? [`sameParent${at}`] : []),
]);
const HEADING_FEATURES = [
  'headingBits',
  'headingMore',
  'headingDistance',
  'proseGapBefore',
  'proseGapAfter',
  'isHeading',
  'nextIsHeading',
  'afterLastProse',
  'saysBefore',
  'saysAfter',
  'commentLines',
  'sinceComments',
];

/** Groups whose names say more when they stand between the block and what it shares with the headline. */
export const BRANCH_GROUPS = ['comment', 'related', 'side', 'card', 'signup', 'shop', 'meta', 'caption'];
const HEADLINE_FEATURES = [
  'articleOfHeadline',
  'sureHeadline',
  ...BRANCH_GROUPS.map((name) => `branch:${name}`),
];

/** Names of the features, in the order of a row. */
export const FEATURE_NAMES: readonly string[] = [
  ...TEXT_NAMES,
  ...PHRASE_NAMES.map((name) => `says:${name}`),
  ...OWNER_TAGS.map((tag) => `tag:${tag}`),
  ...GROUP_NAMES.map((name) => `name:${name}`),
  ...TAG_GROUP_NAMES.map((name) => `in:${name}`),
  ...PAGE_FEATURES,
  ...GROUP_FEATURES,
  ...CONTAINER_FEATURES,
  ...NEIGHBOUR_FEATURES,
  ...HEADING_FEATURES,
  ...STRUCTURE_NAMES,
  ...HEADLINE_FEATURES,
  'namesSite',
  'classHint',
];

/** Length of a row of features. */
export const FEATURE_COUNT = FEATURE_NAMES.length;
