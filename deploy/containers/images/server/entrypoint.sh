#!/bin/sh
# A server that listens everywhere tells the other services this container's own address.
set -eu
: "${BIND_ON_IP:=$(hostname -i)}"
export BIND_ON_IP
if [ "$BIND_ON_IP" = 0.0.0.0 ]; then
  : "${TEMPORAL_BROADCAST_ADDRESS:=$(hostname -i)}"
  export TEMPORAL_BROADCAST_ADDRESS
fi
# Before 1.30 the configuration is a file of the image.
if [ -f config/docker.yaml ]; then exec temporal-server --root /etc/temporal --config config --env docker start; fi
exec temporal-server start
