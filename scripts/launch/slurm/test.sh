#!/usr/bin/env bash
# Plays a run as an array of two jobs on a Slurm of its own (one node, loopback only), merges the
# parts, and compares the tables with those of the same run without Slurm.
#
#   scripts/launch/slurm/test.sh PATH_OF_GAMEMASTER
#
# Needs root and Debian's packages munge, slurmctld, slurmd and slurm-client.
set -euo pipefail
gamemaster=$(realpath "${1:?give the path of gamemaster}")
launch=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
export SLURM_CONF=$work/slurm.conf
daemons=()

end() {
    status=$?
    if [ $status != 0 ]; then tail -n 20 "$work"/*.log >&2 || true; fi
    for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$work"
    exit $status
}
trap end EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# Waits until a command succeeds; fails if the daemon with this process id has ended.
until_true() {
    local pid=$1
    shift
    until "$@" >/dev/null 2>&1; do
        kill -0 "$pid"
        sleep 0.2
    done
}

# Messages are signed with a key of this test. The socket's folder must belong to root.
mkdir -m 755 "$work/munge"
chmod 755 "$work"
dd if=/dev/urandom of="$work/munge/key" bs=128 count=1 status=none
chmod 400 "$work/munge/key"
munged --foreground --force --socket "$work/munge/socket" --key-file "$work/munge/key" \
    --pid-file "$work/munge/pid" --log-file "$work/munge/log" --seed-file "$work/munge/seed" \
    >"$work/munged.log" 2>&1 &
daemons+=($!)
until_true $! test -S "$work/munge/socket"

# Without cgroups: an empty folder stands for them.
mkdir "$work/cgroup" "$work/state" "$work/spool"
cat >"$work/cgroup.conf" <<CONF
CgroupPlugin=cgroup/v1
CgroupMountpoint=$work/cgroup
CgroupAutomount=no
CONF
host=$(hostname -s)
cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
MpiDefault=none
DefMemPerCPU=256
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=1024 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
CONF
slurmctld -D >"$work/slurmctld.log" 2>&1 &
daemons+=($!)
until_true $! scontrol ping
slurmd -D >"$work/slurmd.log" 2>&1 &
daemons+=($!)
until_true $! sh -c 'sinfo --noheader --format %T | grep -qx idle'

# The same run, in an array and alone.
cat >"$work/tournament.toml" <<SPEC
games = ["nim", "tic_tac_toe"]
blocks = 6
budget = { nodes = 100 }
[[players]]
kind = "alpha_beta"
[[players]]
kind = "random"
SPEC
cd "$work"
export GAMEMASTER=$gamemaster SPEC=$work/tournament.toml OUT=$work/parts
sbatch --wait --quiet --array=1-2 --cpus-per-task=1 --mem-per-cpu=256M --output "$work/job-%a.log" \
    "$launch/run_array.sbatch"
"$gamemaster" merge "$OUT/part-1" "$OUT/part-2" --out "$work/whole"
"$gamemaster" run "$SPEC" --quiet --out "$work/alone" >/dev/null
# All but times, which differ from run to run.
table() { "$gamemaster" query "$1" "SELECT match_id, role, player, reward FROM matches ORDER BY match_id, role" --format csv; }
cmp <(table "$work/whole") <(table "$work/alone")
echo "a Slurm array of 2 played $(table "$work/whole" | tail -n +2 | wc -l) seats, the same as one machine"
