export {
  actOnFailing,
  actOnNamed,
  type ChannelAction,
  type ChannelOutcome,
  channelActions,
  countFailing,
  type FailingFilter,
  type PollRefusal,
  type PortionOutcome,
  refusalOf,
} from './act-on-failing.ts';
export {
  type Channel,
  type ChannelKind,
  type ChannelStatus,
  createChannel,
  type DiscoveryDelay,
  type FoundBy,
  isArchiveRead,
  listChannels,
  loadChannels,
  loadDiscoveryDelay,
  loadMoved,
  type NewChannel,
  submitPoll,
} from './channels.ts';
export {
  type Candidate,
  type Discovery,
  findDiscovery,
  hasFallenBack,
  isOutOfReach,
  lockOpenDiscoveries,
  saveDiscovery,
  startAgain,
  startDiscovery,
  startRediscovery,
} from './discoveries.ts';
export { exportSources } from './export-list.ts';
export { loadNames, loadSeen, pruneStates, type SitemapFile, saveFiles, saveSeen } from './files.ts';
export { submitFrontPage } from './front-page.ts';
export {
  type BadLine,
  type ImportOptions,
  type ImportReport,
  importSources,
  startReport,
} from './import-list.ts';
export {
  countSources,
  findSourceStatus,
  hasTextPlace,
  pageSources,
  type SourceFilter,
  type SourcePlace,
  type SourceSort,
  type SourceStatus,
  type SourceStatusWord,
  sourceSorts,
  sourceStatuses,
  sourceStatusOf,
} from './list-sources.ts';
export {
  endRow,
  forgetAddress,
  isAstray,
  type MoveOutcome,
  mergeChannel,
  moveChannel,
  returnChannel,
} from './moves.ts';
export {
  type ChannelChange,
  findChannel,
  findChannelIds,
  findNamedChannel,
  findReplacement,
  listAddresses,
  pollChannel,
  removeChannel,
  setChannelEnabled,
  unknownChannel,
  updateChannel,
  wakeChannel,
} from './operate.ts';
export { loadPaces, type Pace } from './paces.ts';
export { type ChannelPlace, loadPollKey, pageChannels } from './page-channels.ts';
export { type FoundChannel, loadFoundChannels } from './probes.ts';
export { decideMultipliers, type FleetGroup, type Multipliers } from './schedule/fleet.ts';
export {
  decideNextPoll,
  decideWeight,
  type PollBounds,
  type PollPlan,
  pollBounds,
} from './schedule/next-poll.ts';
export { expectItems, learnRhythm, lookAhead, type PollNews, type Rhythm } from './schedule/rhythm.ts';
export {
  loadMultipliers,
  MultiplierReader,
  packRhythm,
  parseRhythm,
  sharePolls,
} from './schedule/stored.ts';
export {
  countDropped,
  createSubscriptions,
  type DueSubscription,
  endUnwantedSubscriptions,
  findPushTarget,
  type HubAnswer,
  loadPushStates,
  type PushState,
  type PushTarget,
  type SubscriptionState,
  saveHubAnswer,
  savePush,
  takeDueSubscriptions,
  type Verification,
  verifySubscription,
} from './subscriptions.ts';
