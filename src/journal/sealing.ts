/** How confidential values are written: like Temporal's payloads, so encrypted where there are keys. */
export interface Sealing {
  seal(value: unknown): Promise<string>;
  /** @throws Error where it cannot be decrypted */
  unseal(sealed: string): Promise<unknown>;
  /**
   * Digests by which equal texts are recognised. Without the key they do not show the text.
   *
   * @returns one by the key that encrypts, then one by each older key; without keys, one plain digest
   */
  digests(text: string): string[];
  /** Digests of a secret, by which it is recognised. Without keys they take long to guess by. */
  secretDigests(secret: string): Promise<string[]>;
}
