import type { IncomingMessage } from 'node:http';

/** The work may take longer than a silent connection is kept; calls inside a process have none. */
export const stayWith = ({ socket }: IncomingMessage): void => void socket.setTimeout?.(0);
