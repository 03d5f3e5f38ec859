/**
 * The secrets that were sent recently. A provider that is asked to place an order may quote the item that it was told before,
 * password and all, in an answer to a call that carries none. So what one call sent is blanked out in the next ones' answers.
 *
 * This knows only what went through here: with several workers, an item that another one added is not among it. What a saga's
 * other calls have told the provider, whoever made them, comes with the call (`CallOptions.secrets`).
 */

/** A failure's answer is searched for all of them: more would hold up the calls of others. */
const charsMax = 32_768;

/** The beginning of a long script is enough to blank out what an excerpt shows of it, unless it is quoted from the middle. */
const secretCharsMax = 4_096;

/** Shorter ones are words that other answers are full of; the call that sends one blanks it out in its own answer. */
const secretCharsMin = 6;

export class RecentSecrets {
  private readonly newestLast = new Set<string>();
  private chars = 0;

  add(secrets: readonly string[]): void {
    for (const whole of secrets) {
      const secret = whole.slice(0, secretCharsMax);
      if (secret.length < secretCharsMin) continue;
      this.forget(secret);
      this.newestLast.add(secret);
      this.chars += secret.length;
    }
    for (const oldest of this.newestLast) {
      if (this.chars <= charsMax) break;
      this.forget(oldest);
    }
  }

  all(): string[] {
    return [...this.newestLast];
  }

  private forget(secret: string): void {
    if (this.newestLast.delete(secret)) this.chars -= secret.length;
  }
}
