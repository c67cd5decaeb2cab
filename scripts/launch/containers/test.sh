#!/usr/bin/env bash
# Builds the image of a static gamemaster, has a worker in a container of it play a run through a
# queue, and compares the tables with those of the same run without a container.
#
#   scripts/launch/containers/test.sh PATH_OF_STATIC_GAMEMASTER
#
# Needs root and Debian's packages buildah and nats-server, and no registry. Containerfile.prebuilt
# says how to build a static program.
set -euo pipefail
gamemaster=$(realpath "${1:?give the path of a static gamemaster}")
launch=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
buildah=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/runroot")
# Jobs have process groups of their own, so that what buildah starts ends with it.
set -m
jobs=()

end() {
    status=$?
    if [ $status != 0 ]; then tail -n 20 "$work"/*.log >&2 || true; fi
    for pid in "${jobs[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
    wait
    "${buildah[@]}" rm --all >/dev/null || true
    rm -rf "$work"
    exit $status
}
trap end EXIT

mkdir "$work/context"
cp "$gamemaster" "$work/context/gamemaster"
"${buildah[@]}" build --isolation chroot --quiet --tag gamemaster \
    --file "$launch/Containerfile.prebuilt" "$work/context" >/dev/null
container=$("${buildah[@]}" from gamemaster)
# Anybody may write into the folder /run of the container.
mkdir -m 777 "$work/run"
# Replaces its shell, which the callers start for it.
in_container() {
    exec "${buildah[@]}" run --isolation chroot --volume "$work/run:/run" "$container" -- /gamemaster "$@"
}
in_container play tic_tac_toe random legal | tail -n 1

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
nats-server --addr 127.0.0.1 --port "$port" --jetstream --store_dir "$work/streams" >"$work/nats.log" 2>&1 &
jobs+=($!)
until (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    kill -0 "${jobs[0]}"
    sleep 0.2
done
in_container worker --queue "nats://localhost:$port" --jobs 2 --cache cache >"$work/worker.log" 2>&1 &
jobs+=($!)

cat >"$work/tournament.toml" <<SPEC
games = ["nim", "tic_tac_toe"]
blocks = 6
budget = { nodes = 100 }
[[players]]
kind = "alpha_beta"
[[players]]
kind = "random"
SPEC
run=("$gamemaster" run "$work/tournament.toml" --quiet)
"${run[@]}" --out "$work/whole" --queue "nats://127.0.0.1:$port" >/dev/null
"${run[@]}" --out "$work/alone" >/dev/null
"$gamemaster" queue drain "nats://127.0.0.1:$port"
wait "${jobs[1]}"
for table in matches.csv moves.csv; do cmp "$work/whole/$table" "$work/alone/$table"; done
echo "a worker in a container played $(($(wc -l <"$work/whole/matches.csv") - 1)) seats, the same as one machine"
"${buildah[@]}" images --format "image: {{.Size}}"
