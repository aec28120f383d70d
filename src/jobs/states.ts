/** What a job does. */
export const jobKinds = ['crawl', 'refresh', 'discover', 'recalculate', 'prune', 'import'] as const;
export type JobKind = (typeof jobKinds)[number];

/** Kinds that are about one source. */
export const kindsOfSources: readonly JobKind[] = ['crawl', 'refresh', 'discover'];

/** Where a job stands. */
export const jobStatuses = [
  'pending',
  'scheduled',
  'running',
  'paused',
  'completed',
  'failed',
  'cancelled',
] as const;
export type JobStatus = (typeof jobStatuses)[number];

/** The one table of legal moves; every update of a status names its `from` out of here. */
const moves: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  pending: ['scheduled', 'running', 'cancelled'],
  scheduled: ['running', 'pending', 'paused', 'cancelled'],
  paused: ['scheduled', 'pending', 'cancelled'],
  running: ['completed', 'failed', 'scheduled', 'paused', 'cancelled'],
  completed: ['scheduled', 'pending'],
  failed: ['pending'],
  cancelled: [],
};

/** Whether a job may go from one status to another. */
export const isLegalMove = (from: JobStatus, to: JobStatus): boolean => moves[from].includes(to);

/** What a person may do with a job. */
export const jobActions = ['pause', 'resume', 'cancel', 'retry', 'force_run'] as const;
export type JobAction = (typeof jobActions)[number];

const actions: Readonly<Record<JobAction, { from: readonly JobStatus[]; to: JobStatus }>> = {
  pause: { from: ['scheduled'], to: 'paused' },
  resume: { from: ['paused'], to: 'scheduled' },
  cancel: { from: ['pending', 'scheduled', 'running', 'paused'], to: 'cancelled' },
  retry: { from: ['failed'], to: 'pending' },
  force_run: { from: ['scheduled', 'paused', 'failed', 'completed'], to: 'pending' },
};

/** The statuses an action is legal in, and where it leads. */
export const actionMove = (action: JobAction): { from: readonly JobStatus[]; to: JobStatus } =>
  actions[action];

/** What may be done with a job as it stands: the only buttons that are shown. */
export const legalActions = (status: JobStatus): JobAction[] =>
  jobActions.filter((action) => actions[action].from.includes(status));
