module order-saga/containers/compose

go 1.23.0

require github.com/docker/compose/v2 v2.39.4
