#!/usr/bin/env bash
# Plays the ladder of the built-in players and writes results/baseline/ladder.csv and ladder.md:
#
#   cargo build --release --locked && scripts/ladder.sh
#
# Each spec in results/baseline/ladder is a table. If it is interrupted, the same command continues.
# A rebuilt program starts anew, because its players may have changed; RUNS names a folder of runs
# to continue with it all the same, GAMEMASTER another program.
set -euo pipefail
cd "$(dirname "$0")/.."
gamemaster=$(realpath -m "${GAMEMASTER:-target/release/gamemaster}")
if [ ! -x "$gamemaster" ]; then
    echo "no program at $gamemaster: build it, or name another one in GAMEMASTER" >&2
    exit 2
fi
runs=${RUNS:-results/runs/ladder-$(sha256sum "$gamemaster" | cut -c1-8)}
out=results/baseline
tables=(two_players one_player three_players four_players simultaneous chance hidden_information clocks)

# There are too many groups of four players to play all of them.
parts() {
    case $1 in
    four_players) echo --partition slice:1/20 ;;
    esac
}

for i in "${!tables[@]}"; do
    name=${tables[i]}
    printf '\n== %s (%d of %d)\n' "$name" $((i + 1)) ${#tables[@]} >&2
    # shellcheck disable=SC2046 # no word for most tables
    "$gamemaster" run "$out/ladder/$name.toml" --out "$runs/$name" $(parts "$name") >/dev/null
done

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
{
    cat <<'END'
# The ladder of the built-in players

Made by `scripts/ladder.sh` from the specs in [ladder](ladder). [How to repeat it](README.md#the-ladder).
`ladder.csv` has the same tables with all digits.

END
    "$gamemaster" game bench --suite tic_tac_toe --time 500ms --format md |
        sed -n '/rustc/ { s/; [0-9.]* s for each number//; p }; /^Yardstick/ { s/; peak.*/./; p }'
    cat <<'END'

- *reward*: mean reward, 0 to 100, with its 95 % interval; every game has the same weight.
- *first %*: the probability of ranking first by the mean reward.
- *Elo*: Bradley-Terry; *Elo by places*: Plackett-Luce, if there are games for more than two players.
  The mean is 0.
- *games*: the games that the player can play. Compare players with fewer games by a run of these
  games.
END
    for name in "${tables[@]}"; do
        title=${name//_/ }
        printf '\n## %s\n\n' "${title^}"
        # The comment at the beginning of the spec says what is played.
        sed -n '/^#/!q; s/^# *//p' "$out/ladder/$name.toml"
        "$gamemaster" report "$runs/$name" --sections standings --format md |
            awk '/^## Notes/ { exit } /^#/ { skip = 1; next } skip { skip = 0; print ""; next }
                 { sub(/ ?First: the probability.*/, ""); print }' | cat -s
    done
} | cat -s >"$new/ladder.md"
for name in "${tables[@]}"; do
    "$gamemaster" report "$runs/$name" --table standings | sed "1s/^/table,/; 2,\$s/^/$name,/"
done | awk 'NR == 1 || !/^table,/' >"$new/ladder.csv"
mv "$new/ladder.md" "$new/ladder.csv" "$out/"
echo "wrote $out/ladder.md and $out/ladder.csv" >&2
