export type { CheckState, Finding } from './check.ts';
export { type DiagnoseOptions, type Diagnosis, diagnose } from './diagnose.ts';
export { diagnoseStall, type StallDiagnosis } from './stall.ts';
