//! Tests of the schedule.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn time_budget(play_ms: u64) -> TimeBudget {
    let clocks = Clocks {
        start: Duration::from_secs(1),
        play: Duration::from_millis(play_ms),
        margin: Duration::ZERO,
    };
    TimeBudget { clocks, budget: Budget::Clock }
}

fn game(index: usize, n_seats: usize, weight: u32) -> PlannedGame {
    // A role `random` in the middle where there is room for it.
    let mut seats = vec![true; n_seats];
    if n_seats > 1 {
        seats.insert(1, false);
    }
    PlannedGame {
        hash: format!("game {index}"),
        seats,
        weight,
        hidden_information: false,
        unable: vec![],
        pairings: None,
    }
}

fn player(index: usize) -> PlannedPlayer {
    let hash = format!("player {index}");
    PlannedPlayer { draw_key: hash.clone(), hash, plays_hidden_information: true }
}

pub(super) fn plan(
    games: &[(usize, u32)],
    n_players: usize,
    n_budgets: u64,
    laps: u32,
) -> TournamentPlan {
    TournamentPlan {
        seed: 7,
        laps,
        seating: Seating::Rotations,
        pairings: Pairings::All,
        games: games.iter().enumerate().map(|(i, &(k, weight))| game(i, k, weight)).collect(),
        players: (0..n_players).map(player).collect(),
        time_budgets: (1..=n_budgets).map(time_budget).collect(),
        settings_hash: "settings".into(),
    }
}

prop_compose! {
    fn plans()(
        games in prop::collection::vec((1usize..4, 1u32..3), 1..4),
        n_players in 3usize..6,
        n_budgets in 1u64..3,
        laps in 1u32..4,
        permutations: bool,
        seed: u64,
    ) -> TournamentPlan {
        let seating = if permutations { Seating::Permutations } else { Seating::Rotations };
        TournamentPlan { seed, seating, ..plan(&games, n_players, n_budgets, laps) }
    }
}

/// What is played, without who sits where.
fn pairing(job: &Job) -> (usize, Duration, BTreeSet<usize>) {
    (job.game, job.clocks.play, job.seats.iter().flatten().copied().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ids_are_unique_and_jobs_are_what_their_numbers_say(plan in plans()) {
        let schedule = Schedule::new(plan).unwrap();
        let jobs: Vec<Job> = schedule.jobs().collect();
        prop_assert_eq!(jobs.len() as u64, schedule.n_jobs());
        let ids: BTreeSet<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
        prop_assert_eq!(ids.len(), jobs.len());
        for (index, job) in jobs.iter().enumerate() {
            prop_assert_eq!(job.number, index as u64);
            let computed = schedule.job(job.number);
            prop_assert_eq!(Some(job), computed.as_ref());
        }
        prop_assert_eq!(schedule.job(schedule.n_jobs()), None);
    }

    #[test]
    fn blocks_are_complete_and_share_their_seed(plan in plans()) {
        let schedule = Schedule::new(plan.clone()).unwrap();
        let mut blocks: BTreeMap<u64, Vec<Job>> = BTreeMap::new();
        for job in schedule.jobs() {
            blocks.entry(job.block).or_default().push(job);
        }
        prop_assert_eq!(blocks.len() as u64, schedule.n_blocks());
        for jobs in blocks.values() {
            let n_seats = jobs[0].seats.iter().flatten().count();
            prop_assert!(jobs.iter().all(|job| pairing(job) == pairing(&jobs[0])));
            prop_assert!(jobs.iter().all(|job| job.seed == jobs[0].seed));
            prop_assert!(jobs.iter().all(|job| job.lap == jobs[0].lap));
            prop_assert_eq!(pairing(&jobs[0]).2.len(), n_seats);
            let seatings: BTreeSet<_> = jobs.iter().map(|job| &job.seats).collect();
            prop_assert_eq!(seatings.len(), jobs.len());
            // Everybody sits equally often on every seat.
            let mut sits: BTreeMap<(usize, usize), usize> = BTreeMap::new();
            for job in jobs {
                for (role, player) in job.seats.iter().enumerate() {
                    if let Some(player) = player {
                        *sits.entry((role, *player)).or_default() += 1;
                    }
                }
            }
            prop_assert_eq!(sits.len(), n_seats * n_seats);
            prop_assert!(sits.values().all(|&count| count == jobs.len() / n_seats));
        }
    }

    #[test]
    fn every_prefix_is_balanced(plan in plans()) {
        let schedule = Schedule::new(plan.clone()).unwrap();
        let mut begun: BTreeMap<_, u32> = BTreeMap::new();
        for job in schedule.jobs() {
            begun.entry(pairing(&job)).or_default();
        }
        for job in schedule.jobs() {
            if job.rotation == 0 {
                *begun.get_mut(&pairing(&job)).unwrap() += 1;
            }
            // Blocks begun, in laps: nowhere more than one apart.
            let weight = |game: usize| plan.games[game].weight;
            let most = begun.iter().map(|((game, ..), n)| n.div_ceil(weight(*game))).max();
            let least = begun.iter().map(|((game, ..), n)| n / weight(*game)).min();
            prop_assert!(most.unwrap() <= least.unwrap() + 1);
        }
    }

    #[test]
    fn a_player_more_keeps_the_old_jobs(plan in plans()) {
        let before = Schedule::new(plan.clone()).unwrap();
        let mut more = plan;
        more.players.insert(0, player(100));
        more.laps += 1;
        more.games.insert(0, game(100, 2, 1));
        let after: BTreeSet<String> =
            Schedule::new(more).unwrap().jobs().map(|job| job.id).collect();
        prop_assert!(before.jobs().all(|job| after.contains(&job.id)));
    }
}

#[test]
fn in_a_gauntlet_exactly_one_challenger_plays_in_each_match() {
    let all = plan(&[(1, 1), (2, 1), (3, 2)], 5, 1, 2);
    let gauntlet = TournamentPlan { pairings: Pairings::Gauntlet(2), ..all.clone() };
    let schedule = Schedule::new(gauntlet).unwrap();
    let jobs: Vec<Job> = schedule.jobs().collect();
    assert_eq!(jobs.len() as u64, schedule.n_jobs());
    let ids: BTreeSet<String> =
        Schedule::new(all.clone()).unwrap().jobs().map(|job| job.id).collect();
    assert!(jobs.iter().all(|job| ids.contains(&job.id)), "jobs of the round robin");
    for game in 1..3 {
        let pairings: BTreeSet<_> =
            jobs.iter().filter(|job| job.game == game).map(pairing).collect();
        // 2 challengers against 1 or 2 of 3 others.
        assert_eq!(pairings.len(), 6);
        let n_challengers = |players: &BTreeSet<usize>| players.range(..2).count();
        assert!(pairings.iter().all(|(_, _, players)| n_challengers(players) == 1));
    }
    for round in schedule.rounds() {
        for role in 0..all.games[round.game].seats.len() {
            let seated = |player: usize| {
                let own = |job: &&Job| job.game == round.game && job.seats[role] == Some(player);
                jobs.iter().filter(own).count() as u64
            };
            if all.games[round.game].seats[role] {
                assert!((2..5).all(|player| seated(player) == round.n_times_seated));
            }
        }
    }
    let all_challengers =
        TournamentPlan { pairings: Pairings::Gauntlet(5), ..plan(&[(2, 1)], 5, 1, 1) };
    let Err(ScheduleError::NothingToPlay { skips }) = Schedule::new(all_challengers) else {
        panic!()
    };
    let none = Skip::NoGauntlet { game: 0, n_seats: 2, n_challengers: 5, n_others: 0 };
    assert_eq!(skips, [none]);
}

#[test]
fn who_cannot_play_sits_out() {
    let mut plan = plan(&[(2, 1), (2, 1), (4, 1)], 3, 1, 1);
    plan.games[1].hidden_information = true;
    plan.players[2].plays_hidden_information = false;
    let schedule = Schedule::new(plan.clone()).unwrap();
    assert_eq!(
        schedule.skips(),
        [
            Skip::SitsOut { game: 1, player: 2 },
            Skip::TooFewPlayers { game: 2, n_seats: 4, n_players: 3 },
        ]
    );
    assert_eq!(schedule.n_jobs(), 3 * 2 + 2);
    plan.games.drain(..2);
    assert!(matches!(Schedule::new(plan), Err(ScheduleError::NothingToPlay { .. })));
}

/// Journals refer to jobs by these ids: with others no run could be resumed.
#[test]
fn ids_of_jobs_do_not_change_between_versions() {
    let schedule = Schedule::new(plan(&[(2, 1), (3, 2)], 4, 1, 2)).unwrap();
    let ids: Vec<String> =
        [0, 1, 30].iter().map(|&number| schedule.job(number).unwrap().id).collect();
    assert_eq!(ids, ["583bf192592d69718de3", "fe88d6cfd30eb6b5c5b9", "9cdfc7013d1de1f5fc5e"]);
}

#[test]
fn listed_pairings_meet_alone_and_equal_lots_meet_equal_chances() {
    let mut plan = plan(&[(2, 1), (1, 2)], 3, 1, 3);
    for player in &mut plan.players[..2] {
        player.draw_key = "same".into();
    }
    let pairing =
        |players: &[usize], weight| PlannedPairing { players: players.to_vec(), weight, set: 0 };
    plan.games[0].pairings = Some(vec![pairing(&[0, 2], 2), pairing(&[1, 2], 2)]);
    plan.games[1].pairings = Some(vec![pairing(&[0], 1), pairing(&[0, 1], 1)]);
    let schedule = Schedule::new(plan).unwrap();
    // In a lap 2 blocks of 2 matches for each of two pairings, and 2 of 1.
    assert_eq!(schedule.n_jobs(), 3 * (8 + 2));
    let mut chances = BTreeMap::<(u32, u32), Vec<(u64, Vec<_>)>>::new();
    for job in schedule.jobs().filter(|job| job.game == 0) {
        let seats = job.seats.iter().map(|seat| seat.map(|player| player.max(1))).collect();
        chances.entry((job.lap, job.rotation)).or_default().push((job.seed, seats));
    }
    assert_eq!(chances.len(), 6 * 2);
    for chances in chances.values() {
        assert_eq!(chances.len(), 2);
        assert_eq!(chances[0], chances[1], "same seed and seats, apart from the compared players");
    }
    let ids: BTreeSet<String> = schedule.jobs().map(|job| job.id).collect();
    assert_eq!(ids.len() as u64, schedule.n_jobs());
    let longer = schedule.clone().with_laps(4);
    assert!(longer.jobs().zip(schedule.jobs()).all(|(one, other)| one == other));
    assert_eq!(longer.n_jobs(), 40);
}

#[test]
fn a_huge_schedule_is_not_laid_out_in_memory() {
    let schedule = Schedule::new(plan(&[(2, 1)], 2, 1, u32::MAX)).unwrap();
    let last = schedule.job(schedule.n_jobs() - 1).unwrap();
    assert_eq!((last.number, last.rotation), (2 * u64::from(u32::MAX) - 1, 1));
}

#[test]
fn sets_are_numbered() {
    let sets: Vec<_> = (0..binomial(4, 2)).map(|number| combination(4, 2, number)).collect();
    assert_eq!(sets, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    assert_eq!((binomial(200, 100), binomial(1, 2), binomial(2, 2)), (u64::MAX, 0, 1));
}
