/** The header in which Temporal's OpenTelemetry clients send a trace along: JSON, as `{"traceparent":"00-…"}`. */
export const traceHeader = '_tracer-data';
