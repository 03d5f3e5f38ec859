import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** Why a call gets no payloads: a status, and a sentence that the caller may read. */
export class Refusal extends Error {
  /** @param reason for the log only; never content */
  constructor(
    readonly status: ContentfulStatusCode,
    sentence: string,
    readonly reason: string = sentence,
  ) {
    super(sentence);
  }
}
