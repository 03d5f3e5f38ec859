/** How what is not for everybody's eyes is written down: as Temporal's payloads are, so encrypted where there are keys. */
export interface Sealing {
  seal(value: unknown): Promise<string>;
  /** @throws Error where it cannot be decrypted */
  unseal(sealed: string): Promise<unknown>;
  /**
   * By which two texts are known to be the same, and nobody without the key learns them.
   *
   * @returns by the key that encrypts first, then by each older one; one that needs no key where there is none
   */
  digests(text: string): string[];
}
