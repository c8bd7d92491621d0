#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# row.sh - makes one request that fails, so that the console has a row: a test server, started now, answers 500.
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build} port=$((20000 + $$ % 10000))
"$B/tools/server" "$port" &
trap 'kill $!' EXIT
sleep 0.2
"$B/tools/load" "127.0.0.1:$port" --conns 1 --rate 1 --seconds 1 --prefix /hello-seismo/ --query s=500 >/dev/null
echo "A server on 127.0.0.1:$port answered GET /hello-seismo/0 with status 500: that is a row in the console now."
