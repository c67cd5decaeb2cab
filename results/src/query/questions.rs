//! Ready-made queries.

/// A query by name.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it returns.
    pub answers: &'static str,
    /// The SQL of it.
    pub sql: &'static str,
}

/// The ready-made queries. The role `random` has no player and is left out of queries
/// about players.
pub const QUESTIONS: [Question; 10] = [
    Question {
        name: "rewards",
        answers: "the mean reward of each player at each game",
        sql: "\
SELECT player, game, AVG(reward) AS reward, COUNT(reward) AS n_matches
FROM matches
WHERE player IS NOT NULL
GROUP BY player, game
ORDER BY game, reward DESC, player",
    },
    Question {
        name: "roles",
        answers: "the mean reward of each role: how fair a game is",
        sql: "\
SELECT game, role, AVG(reward) AS reward, COUNT(reward) AS n_matches
FROM matches
WHERE player IS NOT NULL
GROUP BY game, role
ORDER BY game, role",
    },
    Question {
        name: "opponents",
        answers: "the mean reward of each player against every other player",
        sql: "\
SELECT player, opponent, AVG(reward) AS reward, COUNT(reward) AS n_matches
FROM matches
INNER JOIN (
    SELECT job, role_index AS seat, player AS opponent FROM matches WHERE player IS NOT NULL
) AS others ON matches.job = others.job
WHERE role_index <> seat AND player IS NOT NULL
GROUP BY player, opponent
ORDER BY player, opponent",
    },
    Question {
        name: "wins",
        answers: "matches that each player won alone, tied for first, and lost",
        sql: "\
SELECT player,
    SUM(CASE WHEN rank_in_match = 1 AND n_first = 1 THEN 1 ELSE 0 END) AS won,
    SUM(CASE WHEN rank_in_match = 1 AND n_first > 1 THEN 1 ELSE 0 END) AS tied,
    SUM(CASE WHEN rank_in_match > 1 THEN 1 ELSE 0 END) AS lost
FROM (
    SELECT job, player, rank_in_match,
        SUM(CASE WHEN rank_in_match = 1 THEN 1 ELSE 0 END) OVER (PARTITION BY job) AS n_first,
        COUNT(rank_in_match) OVER (PARTITION BY job) AS n_players
    FROM matches
    WHERE player IS NOT NULL AND reward IS NOT NULL
) AS ranked
WHERE n_players > 1
GROUP BY player
ORDER BY won DESC, player",
    },
    Question {
        name: "faults",
        answers: "faults by player, game and kind",
        sql: "\
SELECT player, game, SUM(n_late_start) AS late_start, SUM(n_late_move) AS late_move,
    SUM(n_illegal_move) AS illegal_move, SUM(n_unreadable) AS unreadable,
    SUM(n_crashed) AS crashed, SUM(n_unreachable) AS unreachable
FROM matches
WHERE player IS NOT NULL
GROUP BY player, game
HAVING SUM(n_late_start + n_late_move + n_illegal_move + n_unreadable + n_crashed
    + n_unreachable) > 0
ORDER BY player, game",
    },
    Question {
        name: "endings",
        answers: "how the matches of each game ended, and why",
        sql: "\
SELECT game, ending, ending_reason, COUNT(DISTINCT job) AS n_matches
FROM matches
GROUP BY game, ending, ending_reason
ORDER BY game, n_matches DESC, ending",
    },
    Question {
        name: "lengths",
        answers: "how many steps the matches of each game took",
        sql: "\
SELECT game, COUNT(*) AS n_matches, MIN(n_steps) AS least, AVG(n_steps) AS mean,
    MAX(n_steps) AS most
FROM matches
WHERE role_index = 0
GROUP BY game
ORDER BY game",
    },
    Question {
        name: "branching",
        answers: "number of legal moves in states with a choice, and how often there was a choice",
        sql: "\
SELECT game, AVG(CASE WHEN n_legal > 1 THEN n_legal END) AS legal_moves,
    MAX(n_legal) AS most, AVG(CASE WHEN n_legal > 1 THEN 1.0 ELSE 0.0 END) AS share_of_choices
FROM moves
WHERE player IS NOT NULL
GROUP BY game
ORDER BY game",
    },
    Question {
        name: "times",
        answers: "time taken for moves with a choice, milliseconds; no rows if the run records no times",
        sql: "\
SELECT player, game, COUNT(think_us) AS n_moves, AVG(think_us) / 1000 AS mean_ms,
    MEDIAN(think_us) / 1000 AS median_ms, MAX(think_us) / 1000.0 AS longest_ms
FROM moves
WHERE n_legal > 1 AND think_us IS NOT NULL
GROUP BY player, game
ORDER BY player, game",
    },
    Question {
        name: "openings",
        answers: "first moves with a choice, and the mean reward after each",
        sql: "\
SELECT moves.game, moves.role, moves.move, COUNT(*) AS n_matches, AVG(reward) AS reward
FROM moves
INNER JOIN matches ON moves.job = matches.job AND moves.role_index = matches.role_index
WHERE step = 0 AND n_legal > 1 AND moves.player IS NOT NULL
GROUP BY moves.game, moves.role, moves.move
ORDER BY moves.game, moves.role, n_matches DESC, moves.move",
    },
];
