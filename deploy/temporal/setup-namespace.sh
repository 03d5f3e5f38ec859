#!/bin/sh
# Makes the namespace TEMPORAL_NAMESPACE on the server at TEMPORAL_ADDRESS, where there is none. It keeps the histories of
# sagas that have ended for RETENTION.
set -eu

tries=60
until temporal operator cluster health >/dev/null; do
  tries=$((tries - 1))
  if [ "$tries" -eq 0 ]; then exit 1; fi
  sleep 1
done
temporal operator namespace describe "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --retention "$RETENTION" "$TEMPORAL_NAMESPACE"
