import { AppError, EXIT } from '../errors/index.ts';

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Reads a time from a flag: a date or time as ISO 8601 writes it, or how long ago, such as 90m, 6h, 7d, 2w. */
export function dateFlag(flag: string, text: string): Date {
  const ago = /^(\d{1,6})([mhdw])$/.exec(text.trim());
  const ms = ago === null ? Date.parse(text) : Date.now() - Number(ago[1]) * units[ago[2]!]!;
  if (Number.isFinite(ms)) return new Date(ms);
  throw new AppError('usage', `${flag} takes a date such as 2026-05-01, or 6h, 7d, 2w; not "${text}"`, {
    exitCode: EXIT.usage,
  });
}
