#!/bin/sh
# A server that listens everywhere tells the other services this container's own address.
set -eu
: "${BIND_ON_IP:=$(hostname -i)}"
export BIND_ON_IP
if [ "$BIND_ON_IP" = 0.0.0.0 ]; then
  : "${TEMPORAL_BROADCAST_ADDRESS:=$(hostname -i)}"
  export TEMPORAL_BROADCAST_ADDRESS
fi
exec temporal-server start
