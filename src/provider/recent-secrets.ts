/**
 * The secrets that were sent recently. The provider may quote a cart item, with its password, in the answer to a later
 * call that contains no secret, as an order does. So the secrets of one call are blanked out in the answers of the next
 * ones.
 *
 * This knows only the secrets that this worker has sent. The secrets of a saga's other calls, on any worker, come with
 * the call (`CallOptions.secrets`).
 */

/** A failure's answer is searched for all of them: more of them would delay other calls. */
const charsMax = 32_768;

/** The beginning of a long script is enough, unless the provider quotes it from the middle. */
const secretCharsMax = 4_096;

/** Shorter secrets are words that occur in other answers; they are blanked out only in the answer to their own call. */
const secretCharsMin = 6;

export class RecentSecrets {
  /** The newest first. */
  all: readonly string[] = [];

  add(secrets: readonly string[]): void {
    // As most calls have none.
    if (secrets.length === 0) return;
    const sent = secrets.map((secret) => secret.slice(0, secretCharsMax));
    const all = new Set([...sent.reverse(), ...this.all]);
    let chars = 0;
    this.all = [...all].filter((secret) => {
      if (secret.length < secretCharsMin) return false;
      chars += secret.length;
      return chars <= charsMax;
    });
  }
}
