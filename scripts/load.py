#!/usr/bin/env python3
"""Measures gamemaster with many remote players at once, over HTTP on loopback:

    cargo build --release
    python3 scripts/load.py --players 1000

The players answer at once, or after the time of --think, from a few processes, each on an
address of its own (127.0.1.1, 127.0.1.2, ...). Prints the CPU time of gamemaster for a move,
its memory while all matches are in play and at most, and the faults that it recorded: any is
a reply that came too late, or was lost.
Without dependencies, on Linux. Exit code 0 if no move was lost.
"""
import argparse, asyncio, json, os, re, resource, socket, subprocess, sys, tempfile, time
from pathlib import Path

CELLS = [f"(mark {row} {column})" for row in (1, 2, 3) for column in (1, 2, 3)]


# Players: the first free cell of tic-tac-toe.

class Player(asyncio.Protocol):
    think = 0.0  # seconds
    matches = {}  # by address and match: whether it begins, and the cells that are taken

    def connection_made(self, transport):
        self.transport, self.received = transport, b""
        self.address = transport.get_extra_info("sockname")[0]

    def data_received(self, data):
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)[1])
        if len(body) < length:
            return
        self.received = b""
        reply = self.reply(body[:length].decode().lower()).encode()
        if self.think:
            asyncio.get_running_loop().call_later(self.think, self.send, reply)
        else:
            self.send(reply)

    def send(self, reply):
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/acl\r\nContent-Length: %d\r\n\r\n%s"
                             % (len(reply), reply))

    def reply(self, message):
        words = message.replace("(", " ").replace(")", " ").split(None, 3)
        if words[0] == "info":
            return "((name first) (status available))"
        key = (self.address, words[1])
        if words[0] == "start":
            self.matches[key] = (words[2] == "xplayer", [])
            return "ready"
        begins, taken = self.matches[key]
        moves = re.sub(r"\s+", " ", message).replace("( ", "(").replace(" )", ")")
        taken += [cell for cell in CELLS if cell in moves]
        if words[0] != "play":
            del self.matches[key]
            return "done"
        if (len(taken) % 2 == 0) != begins:
            return "noop"
        return next(cell for cell in CELLS if cell not in taken)


async def serve(addresses, port):
    loop = asyncio.get_running_loop()
    for address in addresses:
        listener = socket.create_server((address, port), backlog=64)
        await loop.create_server(Player, sock=listener)
    print("listening", flush=True)
    await asyncio.Event().wait()


def address(index):
    return f"127.0.{1 + index // 250}.{1 + index % 250}"


# The load.

def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def spec(arguments, port):
    players = "".join(f'[[players]]\nid = "p{index}"\nurl = "http://{address(index)}:{port}"\n'
                      for index in range(arguments.players))
    return (f'name = "load"\ngames = ["tic_tac_toe"]\nformat = "swiss"\nrounds = {arguments.rounds}\n'
            f'clocks = {{ start = "10s", play = "{arguments.clock}ms", margin = "0s", enforce = "exact" }}\n'
            f'record = {{ moves = false }}\n{players}')


def peak_memory(process, n_matches):
    """KiB while all matches are played, each by a thread, and in all: standings of many
    players take more."""
    in_play = peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
            now, n_threads = (int(re.search(rf"{name}:\s+(\d+)", status)[1]) for name in ("VmRSS", "Threads"))
            peak = max(peak, now)
            if n_threads > n_matches:
                in_play = max(in_play, now)
        except (OSError, TypeError):
            pass
        time.sleep(0.1)
    return in_play, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=1000, help="remote players (default: 1000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of a swiss system (default: 5)")
    parser.add_argument("--clock", type=int, default=100, help="play clock in ms (default: 100)")
    parser.add_argument("--processes", type=int, default=2, help="processes of the players (default: 2)")
    parser.add_argument("--gamemaster", default="target/release/gamemaster", help="the program to measure")
    parser.add_argument("--think", type=int, default=0, help="ms that players take for a reply (default: 0)")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if arguments.serve:
        Player.think = arguments.think / 1000
        return asyncio.run(serve(arguments.serve.split(","), arguments.port))
    addresses = [address(index) for index in range(arguments.players)]
    port = free_port()
    servers = [subprocess.Popen([sys.executable, __file__, "--serve", ",".join(addresses[part::arguments.processes]),
                                 "--think", str(arguments.think), "--port", str(port)],
                                stdout=subprocess.PIPE, text=True) for part in range(arguments.processes)]
    with tempfile.TemporaryDirectory(prefix="load-") as folder:
        try:
            for server in servers:
                if not server.stdout.readline():
                    sys.exit(f"error: the players cannot listen on port {port} of {addresses[0]} to {addresses[-1]}")
            Path(folder, "spec.toml").write_text(spec(arguments, port))
            command = [Path(arguments.gamemaster).resolve(), "run", "spec.toml", "--out", "out", "--quiet",
                       "--jobs", str(max(1, arguments.players // 2))]
            begun = time.monotonic()
            process = subprocess.Popen(command, cwd=folder)
            in_play, peak = peak_memory(process, arguments.players // 2)
            seconds = time.monotonic() - begun
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        finally:
            for server in servers:
                server.kill()
                server.wait()
        n_matches = n_moves = 0
        faults, slowest = {}, 0
        for line in Path(folder, "out/journal.jsonl").read_text().splitlines()[1:]:
            record = json.loads(line)
            n_matches += 1
            for decision in (decision for step in record["steps"] for decision in step):
                n_moves += 1
                slowest = max(slowest, decision["wall_us"])
                if "fault" in decision:
                    faults[decision["fault"]] = faults.get(decision["fault"], 0) + 1
    cpu = usage.ru_utime + usage.ru_stime
    print(f"{arguments.players} players, {arguments.players // 2} matches at once: {n_matches} matches, "
          f"{n_moves} moves in {seconds:.1f} s")
    print(f"CPU time of gamemaster: {cpu:.1f} s, {1e6 * cpu / max(1, n_moves):.0f} us a move")
    print(f"memory: {in_play / 1024:.0f} MiB in play, {peak / 1024:.0f} MiB at most; "
          f"slowest reply {slowest / 1000:.1f} ms; faults: {faults or 'none'}")
    return 0 if process.returncode == 0 and not faults else 1


if __name__ == "__main__":
    sys.exit(main())
