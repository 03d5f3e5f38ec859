/**
 * What a call to the provider can fail with. The provider documents no errors, so each class says no more than what can
 * be told from the wire, and above all whether the provider may have done what it was asked:
 *
 *     nothing took effect       NotSent · PutOff · TokenUnreadable · RateLimited · Unauthorized · Rejected
 *     may have taken effect     UnknownOutcome
 *     not the provider at all   UnexpectedResponse
 *
 * A message names the endpoint, the status and the reason. It never carries headers, credentials or request fields.
 */

export type ProviderFailureName =
  | 'NotSent'
  | 'PutOff'
  | 'TokenUnreadable'
  | 'RateLimited'
  | 'Unauthorized'
  | 'Rejected'
  | 'UnknownOutcome'
  | 'UnexpectedResponse';

export interface FailureFacts {
  /** Method and the document's path with its parameters unfilled, e.g. `DELETE /order/cartItems/delete/{cart_item_id}`. */
  endpoint: string;
  /** HTTP status; absent where no answer came. */
  status?: number | undefined;
  /** The answer's body: secrets blanked out, cut to 500 characters. Absent where there was none. */
  body?: string | undefined;
}

export abstract class ProviderFailure extends Error {
  abstract override readonly name: ProviderFailureName;
  /** {@link FailureFacts.endpoint} */
  readonly endpoint: string;
  /** {@link FailureFacts.status} */
  readonly status?: number;
  /** {@link FailureFacts.body} */
  readonly body?: string;

  constructor(message: string, { endpoint, status, body }: FailureFacts) {
    super(`${endpoint} ${message}`);
    this.endpoint = endpoint;
    if (status !== undefined) this.status = status;
    if (body !== undefined) this.body = body;
  }
}

/**
 * No byte of the request left: the name did not resolve, the connection was refused, TLS failed, no connection was free
 * in time. Not a sign that the request is at fault; sending it again is safe.
 */
export class NotSent extends ProviderFailure {
  override readonly name: 'NotSent' | 'PutOff' | 'TokenUnreadable' = 'NotSent';
}

/** Another call was answered 429, and the pause that the provider asked for is not over. It says nothing of this call. */
export class PutOff extends NotSent {
  override readonly name = 'PutOff';

  constructor(
    message: string,
    facts: FailureFacts,
    /** How long it is no use to try again, in milliseconds. */
    readonly retryAfterMs: number,
  ) {
    super(message, facts);
  }
}

/** Whoever keeps the token did not give it: our own trouble. It says nothing of the provider. */
export class TokenUnreadable extends NotSent {
  override readonly name = 'TokenUnreadable';
}

/** 429: too many calls; this one took no effect. Does not mean that the request is at fault, nor that a wait is enough. */
export class RateLimited extends ProviderFailure {
  override readonly name = 'RateLimited';
  /** What the provider asked to wait, in milliseconds from its answer; absent where it did not say, or said it unreadably. */
  readonly retryAfterMs?: number;

  constructor(message: string, facts: FailureFacts, retryAfterMs: number | undefined) {
    super(message, facts);
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/**
 * 401 or 403, or credentials that cannot be put into a header: nothing took effect. It says nothing of the request
 * itself, which may go through as it is once the credentials are right.
 */
export class Unauthorized extends ProviderFailure {
  override readonly name = 'Unauthorized';
}

/**
 * The provider said no: any 4xx without a row of its own, or a 2xx whose body carries a code of 400 to 599. Nothing took
 * effect, and the same request is not expected to fare better later. Also thrown without a status, and without anything
 * sent, for an argument that no request can be built from (an id that is no positive integer): a mistake in the program.
 */
export class Rejected extends ProviderFailure {
  override readonly name = 'Rejected';
}

/**
 * The request left, and what became of it is not known: no answer in time, a connection lost, 408, 5xx, or a success that
 * cannot be read. It does *not* mean that nothing happened: an order may be placed, an item may be in the cart.
 */
export class UnknownOutcome extends ProviderFailure {
  override readonly name = 'UnknownOutcome';
}

/**
 * An answer that this interface does not give: a redirect. It is never followed, because it would carry credentials and
 * an order to an address that nobody configured. Most likely the base URL is wrong; it does not prove that nothing happened.
 */
export class UnexpectedResponse extends ProviderFailure {
  override readonly name = 'UnexpectedResponse';
}
