import type { ListenAddress } from './kinds';

/** Why a program cannot start; its message says what to do. */
export class CannotStart extends Error {}

/** Nothing can listen at the address that the setting names. */
export function cannotListen(setting: string, address: ListenAddress, why: unknown): CannotStart {
  const reason = why instanceof Error ? why.message : String(why);
  return new CannotStart(
    `${setting}: nothing can listen at ${inUrl(address)} (${reason}); ` +
      'choose another port, or an address of this machine',
  );
}

/** `127.0.0.1:9464`, `[::1]:9464` */
export function inUrl({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
