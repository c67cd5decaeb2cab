#!/usr/bin/env python3
"""Plays tournaments of all kinds of players for hours, kills at random, and checks that
nothing leaks and nothing is lost:

    cargo build --release
    python3 scripts/soak.py --minutes 360

One tournament lasts as long as the test: its memory, descriptors and threads must not
grow. Beside it, short tournaments are played one after the other; gamemaster, the players
that it launched or a remote player are killed at random, and the command is repeated until
the run is complete. Then its journal must have each match once, and none of its processes
may be left. Without dependencies, on Linux, on loopback only. Exit code 0 if all holds.
"""
import argparse, json, os, random, shutil, signal, statistics, subprocess, sys, tempfile, time
from pathlib import Path
from http.server import BaseHTTPRequestHandler, HTTPServer

FAULTS = ["silent", "nonsense", "bytes", "crashing", "hanging_up", "slow_to_send"]

SPEC = """
name = "soak"
seed = {seed}
blocks = {blocks}
games = ["tic_tac_toe", "nim", "connect_three"]
clocks = {{ start = "1s", play = "50ms", margin = "50ms", enforce = "exact" }}
players = [
  {{ kind = "random" }},
  {{ kind = "mcts", budget.nodes = 50 }},
  {{ id = "launched", command = "{gamemaster} serve --player legal --port {{port}}" }},
  {{ id = "remote", url = "http://127.0.0.1:{remote}" }},
  {{ id = "bad", command = "{python} {script} --misbehave {fault} --port {{port}}" }},
]
budget.nodes = 200
"""


# A player at fault.

class BadPlayer(BaseHTTPRequestHandler):
    """Answers INFO and START, and misbehaves in one of two moves."""
    fault = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).upper()
        reply, bad = b"ready", False
        if b"INFO" in body:
            reply = b"((name bad) (status available))"
        elif b"PLAY" in body:
            reply, bad = b"noop", random.random() < 0.5
        if bad and self.fault == "silent":
            return time.sleep(5)
        if bad and self.fault == "crashing":
            os._exit(1)
        if bad and self.fault == "hanging_up":
            return self.connection.close()
        if bad:
            reply = {"nonsense": b"(((", "bytes": os.urandom(3000)}.get(self.fault, reply)
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        if bad and self.fault == "slow_to_send":
            time.sleep(1)
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


def misbehave(fault, port):
    BadPlayer.fault = fault
    HTTPServer(("127.0.0.1", port), BadPlayer).serve_forever()


# Processes.

def children(pid):
    try:
        lists = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    own = [int(child) for text in lists for child in text.split()]
    return own + [deeper for child in own for deeper in children(child)]


def left_in(folder):
    """Processes that run in a folder."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if os.readlink(link) == str(folder):
                found.append(int(link.parent.name))
        except OSError:
            pass
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Usage:
    """What a process holds, again and again."""

    def __init__(self, name, pid):
        self.name, self.pid, self.samples, self.sampled = name, pid, [], 0

    def sample(self):
        """Every second, however often it is called."""
        if time.monotonic() < self.sampled + 1:
            return
        self.sampled = time.monotonic()
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
            value = {line.split(":")[0]: line.split()[1] for line in status.splitlines() if line.split()[1:]}
            n_open = len(os.listdir(f"/proc/{self.pid}/fd"))
            self.samples.append((int(value["VmRSS"]), n_open, int(value["Threads"])))
        except (OSError, KeyError):
            pass

    def growth(self):
        """The second and the last fifth of the samples: medians of memory, most of the rest."""
        fifth = len(self.samples) // 5
        if fifth < 3:
            return f"{self.name}: too few samples", False
        parts = [self.samples[fifth:2 * fifth], self.samples[-fifth:]]
        memory = [statistics.median(sample[0] for sample in part) / 1024 for part in parts]
        n_open, threads = ([max(sample[index] for sample in part) for part in parts] for index in (1, 2))
        text = (f"{self.name}: memory {memory[0]:.1f} to {memory[1]:.1f} MiB, descriptors "
                f"{n_open[0]} to {n_open[1]}, threads {threads[0]} to {threads[1]}")
        flat = memory[1] < 1.05 * memory[0] + 4 and n_open[1] <= n_open[0] + 4 and threads[1] <= threads[0] + 2
        return text, flat


class Remote:
    """A built-in player behind a port, which is started again where it was."""

    def __init__(self, gamemaster):
        self.gamemaster, self.port, self.process = gamemaster, 0, None
        self.start()

    def start(self):
        command = [self.gamemaster, "serve", "--player", "random", "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = self.process.stdout.readline()
        if not address:
            raise RuntimeError("gamemaster serve did not start")
        self.port = int(address.split()[-1].rstrip("/").rsplit(":")[-1])

    def restart(self):
        self.end()
        self.start()

    def end(self):
        self.process.kill()
        self.process.wait()


# Tournaments.

def write_spec(folder, arguments, remote, seed, blocks):
    folder.mkdir(parents=True)
    text = SPEC.format(seed=seed, blocks=blocks, gamemaster=arguments.gamemaster, remote=remote.port,
                       python=sys.executable, script=Path(__file__).resolve(), fault=FAULTS[seed % len(FAULTS)])
    (folder / "spec.toml").write_text(text)


def run(folder, arguments, more=()):
    command = [arguments.gamemaster, "run", "spec.toml", "--out", "out", "--quiet", "--jobs", "2", *more]
    errors = open(folder / "errors.txt", "ab")
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True)


def check_journal(folder, is_complete):
    """What is wrong with the journal of a run, and its number of matches."""
    done, wrong = {}, []
    lines = (folder / "out/journal.jsonl").read_bytes().split(b"\n")
    if lines.pop():
        wrong.append("its last line is half-written")
    for line in lines[1:]:
        record = json.loads(line)
        if record["ending"]["kind"] != "aborted":
            done[record["job"]] = done.get(record["job"], 0) + 1
    if any(n > 1 for n in done.values()):
        wrong.append("a match is there twice")
    if is_complete and sorted(done) != list(range(len(done))):
        wrong.append("a match is missing")
    return wrong, len(done)


def short_tournament(folder, arguments, remote, seed, counts, usages):
    """Plays a tournament to its end through kills. What is wrong, and the number of matches."""
    write_spec(folder, arguments, remote, seed, 2)
    preview = json.loads(run(folder, arguments, ["--dry-run", "--json"]).communicate()[0])
    for attempt in range(40):
        process = run(folder, arguments)
        # The last attempts are left alone.
        deadline = time.monotonic() + (random.uniform(0.2, 8) if attempt < 4 else 1e9)
        while process.poll() is None:
            for usage in usages:
                usage.sample()
            if time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            deadline = time.monotonic() + random.uniform(1, 8)
            launched = children(process.pid)
            what = random.choice(["gamemaster", "launched", "launched", "remote"])
            if what == "remote":
                remote.restart()
            elif what == "gamemaster" or not launched:
                process.kill()
            else:
                kill(random.choice(launched))
            counts[what] = counts.get(what, 0) + 1
        code = process.wait()
        if code == 0:
            break
        # 1 and 3: matches without a player; killed: -9.
        if code not in (1, 3, -signal.SIGKILL):
            return [f"exit code {code}: see {folder}/errors.txt"], 0
    else:
        return [f"it never became complete: see {folder}/errors.txt"], 0
    wrong, n_matches = check_journal(folder, True)
    if n_matches != preview["n_jobs"]:
        wrong.append(f"{n_matches} of {preview['n_jobs']} matches")
    report = subprocess.run([arguments.gamemaster, "report", "out"], cwd=folder, capture_output=True)
    if report.returncode != 0:
        wrong.append(f"report: {report.stderr.decode()}")
    for _ in range(100):
        if not left_in(folder):
            break
        time.sleep(0.1)
    else:
        wrong.append(f"processes are left: {left_in(folder)}")
    return wrong, n_matches


def soak(arguments, folder):
    random.seed(arguments.seed)
    still, killed = Remote(arguments.gamemaster), Remote(arguments.gamemaster)
    long = folder / "long"
    write_spec(long, arguments, still, 4, 1_000_000)
    longest = run(long, arguments)
    usages = [Usage("long tournament", longest.pid), Usage("remote player", still.process.pid)]
    end, sampled, counts, wrong = time.monotonic() + 60 * arguments.minutes, 0, {}, []
    n_runs = n_matches = 0
    try:
        while time.monotonic() < end and not wrong:
            n_runs += 1
            place = folder / f"run{n_runs}"
            found, n = short_tournament(place, arguments, killed, n_runs, counts, usages)
            wrong += [f"run {n_runs}: {what}" for what in found]
            n_matches += n
            if not found:
                shutil.rmtree(place)
            if longest.poll() is not None:
                wrong.append(f"the long tournament ended with {longest.returncode}: see {long}/errors.txt")
                break
            # Its launched players may be killed, too.
            launched = children(longest.pid)
            if launched and random.random() < 0.5:
                kill(random.choice(launched))
                counts["launched"] = counts.get("launched", 0) + 1
            if time.monotonic() > sampled + 60:
                sampled = time.monotonic()
                memory = [f"{usage.samples[-1][0] / 1024:.1f} MiB" for usage in usages]
                print(f"{n_runs} runs, {n_matches} matches, killed {counts}, {', '.join(memory)}", flush=True)
    finally:
        if longest.poll() is None:
            longest.send_signal(signal.SIGINT)
            try:
                code = longest.wait(60)
                if code != 130:
                    wrong.append(f"the long tournament ended with {code} after Ctrl-C")
            except subprocess.TimeoutExpired:
                longest.kill()
                wrong.append("the long tournament did not end after Ctrl-C")
        still.end()
        killed.end()
    found, n_long = check_journal(long, False)
    wrong += [f"long tournament: {what}" for what in found]
    print(f"{n_runs} runs with {n_matches} matches, killed {counts}; {n_long} matches in the long tournament")
    for usage in usages:
        text, is_flat = usage.growth()
        print(text)
        if not is_flat:
            wrong.append(f"not flat: {text}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=360, help="play for so long (default: 360)")
    parser.add_argument("--gamemaster", default="target/release/gamemaster", help="the program to test")
    parser.add_argument("--seed", type=int, default=1, help="random seed of the kills")
    parser.add_argument("--misbehave", choices=FAULTS, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.misbehave:
        return misbehave(arguments.misbehave, arguments.port)
    arguments.gamemaster = str(Path(arguments.gamemaster).resolve())
    folder = Path(tempfile.mkdtemp(prefix="soak-")).resolve()
    wrong = soak(arguments, folder)
    for what in wrong:
        print(f"wrong: {what}")
    if not wrong:
        shutil.rmtree(folder)
        print("all is well")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
