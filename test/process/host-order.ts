/** What a command is run with inside the host process. */
export type HostOrder = {
  args: string[];
  env: Record<string, string>;
  cwd: string;
  input?: string;
  /** How wide the terminal is; the host begins when it knows. */
  columns?: number;
};

/** How it ended; what is `left` open would have kept a process of its own alive for ever. */
export type HostAnswer = { code: number; stdout: string; stderr: string; left: string[] };

/** Written to the terminal behind what a command wrote: the answer comes another way and may be faster. */
export const endMark = '\u0000the command has ended\u0000';
