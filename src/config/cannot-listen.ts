import type { ListenAddress } from './kinds';

/** Nothing can listen at the address that the setting names. */
export class CannotListen extends Error {
  constructor(setting: string, address: ListenAddress, why: unknown) {
    const reason = why instanceof Error ? why.message : String(why);
    super(
      `${setting}: nothing can listen at ${inUrl(address)} (${reason}); ` +
        'choose another port, or an address of this machine',
    );
  }
}

/** `127.0.0.1:9464`, `[::1]:9464` */
export function inUrl({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
