import type { Socket } from 'node:net';
import { NamedFailure } from './failure.ts';

const ignoreLateError = (): void => undefined;

/** Runs until `event`, an error, the abort or the limit; the socket is destroyed unless the event came. */
export function settleSocket(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error: Error | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off(event, onEvent);
      socket.off('close', onClose);
      socket.off('error', finish);
      if (error === null) {
        resolve();
        return;
      }
      socket.destroy();
      reject(error);
    };
    const onEvent = (): void => finish(null);
    const onClose = (): void => finish(Object.assign(new Error('connection closed'), { code: 'ECONNRESET' }));
    const onAbort = (): void => finish(new NamedFailure('aborted', 'connection attempt given up'));
    const timer = setTimeout(
      () => finish(Object.assign(new Error(`no answer within ${timeoutMs} ms`), { code: 'ETIMEDOUT' })),
      timeoutMs,
    );
    // Stays: an error between two owners, or after our own destroy, would otherwise be thrown by Node.
    socket.on('error', ignoreLateError);
    socket.once(event, onEvent);
    socket.once('error', finish);
    socket.once('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
