//! Staged schedules played through with made-up results.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use results::formats::RaceRule;
use results::record::Budget;

use super::*;
use crate::schedule::{Clocks, PlannedGame, PlannedPlayer, Seating, TimeBudget};

fn plan(seats: &[usize], n_players: usize) -> TournamentPlan {
    let clocks = Clocks { start: Duration::ZERO, play: Duration::ZERO, margin: Duration::ZERO };
    let game = |(index, &n_seats): (usize, &usize)| PlannedGame {
        hash: format!("game {index}"),
        // A role `random` before the others.
        seats: [vec![false], vec![true; n_seats]].concat(),
        weight: 1 + index as u32 % 2,
        hidden_information: false,
        unable: vec![],
        pairings: None,
    };
    let player = |index| {
        let hash = format!("player {index}");
        PlannedPlayer { draw_key: hash.clone(), hash, plays_hidden_information: false }
    };
    TournamentPlan {
        seed: 11,
        laps: 1,
        seating: Seating::Rotations,
        pairings: Pairings::All,
        games: seats.iter().enumerate().map(game).collect(),
        players: (0..n_players).map(player).collect(),
        time_budgets: vec![TimeBudget { clocks, budget: Budget::Nodes(9) }],
        settings_hash: "settings".into(),
    }
}

fn schedule(plan: TournamentPlan, stages: &[Stage]) -> Arc<StagedSchedule> {
    Arc::new(StagedSchedule::new(plan, stages.to_vec()).unwrap())
}

fn stage(format: Format, laps: u32) -> Stage {
    Stage { format, ..Stage::round_robin(laps) }
}

/// A made-up match: who has the larger number wins, if chance does not want it
/// otherwise; sometimes it is not scored.
fn finish(job: &Job, chance: u64, outcomes: &mut Outcomes) {
    let drawn = |player: usize| {
        let drawn = Fingerprint::of("test").number(chance).text(&job.id).number(player as u64);
        player as u64 * 40 + drawn.seed() % 100
    };
    let best = job.seats.iter().flatten().map(|&player| drawn(player)).max();
    let reward = |seat: &Option<usize>| match seat {
        None => Some(0),
        Some(player) if Some(drawn(*player)) == best => Some(100),
        Some(_) => Some(0),
    };
    let void = Fingerprint::of("scored").number(chance).text(&job.id).seed().is_multiple_of(50);
    outcomes.insert(&job.id, (!void).then(|| job.seats.iter().map(reward).collect()));
}

/// All rounds and jobs, played to the end.
fn play(schedule: &Arc<StagedSchedule>, chance: u64) -> (Vec<Arc<Round>>, Vec<Job>) {
    let mut outcomes = Outcomes::default();
    let mut walk = Walk::new(Arc::clone(schedule));
    let (mut rounds, mut jobs) = (vec![], vec![]);
    while let Some(round) = walk.round() {
        assert!(!walk.pass(&outcomes), "nothing of it is played");
        for job in schedule.jobs(&round) {
            finish(&job, chance, &mut outcomes);
            jobs.push(job);
        }
        assert!(walk.pass(&outcomes), "all of it is played");
        rounds.push(round);
    }
    assert!(walk.players_left().is_empty());
    (rounds, jobs)
}

fn stages() -> impl Strategy<Value = Vec<Stage>> {
    let format = prop_oneof![
        Just(Format::RoundRobin),
        Just(Format::Gauntlet { challengers: 1 }),
        (1u32..4).prop_map(|rounds| Format::Swiss { rounds }),
        (0u32..3).prop_map(|extra_laps| Format::Knockout { extra_laps }),
        (1u32..4).prop_map(|rounds| Format::Ladder { rounds }),
    ];
    let stage = (format, 1u32..3, any::<bool>()).prop_map(|(format, laps, raced)| {
        let is_table = matches!(format, Format::RoundRobin | Format::Gauntlet { .. });
        let race = (raced && is_table).then(RaceRule::default);
        Stage { format, laps: laps * if race.is_some() { 6 } else { 1 }, best: None, race }
    });
    (prop::collection::vec(stage, 1..4), 4u32..6).prop_map(|(mut stages, best)| {
        if stages.len() > 1 {
            stages[1].best = Some(best);
        }
        stages
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn jobs_are_numbered_in_whole_blocks_and_never_twice(
        stages in stages(),
        n_players in 5usize..7,
        n_games in 1usize..3,
        chance: u64,
    ) {
        let schedule = schedule(plan(&vec![2; n_games], n_players), &stages);
        let (rounds, jobs) = play(&schedule, chance);
        let ids: BTreeSet<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
        prop_assert_eq!(ids.len(), jobs.len());
        prop_assert!(jobs.iter().zip(0..).all(|(job, number)| job.number == number));
        let mut blocks: BTreeMap<u64, Vec<&Job>> = BTreeMap::new();
        for job in &jobs {
            blocks.entry(job.block).or_default().push(job);
        }
        prop_assert!(blocks.keys().copied().eq(0..blocks.len() as u64));
        for jobs in blocks.values() {
            let seatings: BTreeSet<_> = jobs.iter().map(|job| &job.seats).collect();
            prop_assert_eq!((jobs.len(), seatings.len()), (2, 2));
            prop_assert!(jobs.iter().all(|job| job.seed == jobs[0].seed && job.lap == jobs[0].lap));
        }
        // No two blocks share their randomness, so they are independent.
        let seeds: BTreeSet<u64> = blocks.values().map(|jobs| jobs[0].seed).collect();
        prop_assert_eq!(seeds.len(), blocks.len());
        let ids: Vec<RoundId> = rounds.iter().map(|round| round.id).collect();
        prop_assert!(ids.is_sorted() && ids.iter().collect::<BTreeSet<_>>().len() == ids.len());
        prop_assert!(rounds.iter().all(|round| round.id.round <= round.n_rounds));
        // As many as was said beforehand.
        let outline = schedule.outline();
        for (stage, number) in outline.iter().zip(1..) {
            let own = rounds.iter().filter(|round| round.id.stage == number);
            let n_matches: u64 = own.map(|round| round.n_jobs).sum();
            prop_assert!((stage.n_matches_at_least..=stage.n_matches).contains(&n_matches));
        }
        let by_game: u64 = schedule.most_rounds().iter().map(|round| round.n_matches).sum();
        prop_assert_eq!(by_game, schedule.most_jobs());
    }

    #[test]
    fn what_is_played_does_not_depend_on_the_order_of_results(
        stages in stages(),
        chance: u64,
        order: u64,
    ) {
        let schedule = schedule(plan(&[2], 5), &stages);
        let (_, jobs) = play(&schedule, chance);
        let known = |outcomes: &Outcomes| -> Vec<Job> {
            let rounds = schedule.rounds(outcomes);
            rounds.iter().flat_map(|round| schedule.jobs(round)).collect()
        };
        // Plays what is missing in any order, and looks now and then.
        let mut outcomes = Outcomes::default();
        loop {
            let mut missing: Vec<Job> = known(&outcomes);
            prop_assert_eq!(&missing[..], &jobs[..missing.len()]);
            missing.retain(|job| outcomes.get(&job.id).is_none());
            if missing.is_empty() {
                break;
            }
            order_by_seed(&mut missing, order);
            let n = (2 * missing.len()).div_ceil(3);
            missing[..n].iter().for_each(|job| finish(job, chance, &mut outcomes));
        }
        prop_assert_eq!(outcomes.len(), jobs.len());
        prop_assert_eq!(known(&outcomes), jobs);
    }
}

#[test]
fn the_first_round_robin_is_the_one_of_the_schedule() {
    let plan = TournamentPlan { laps: 2, ..plan(&[1, 2, 3], 4) };
    let jobs: Vec<Job> = Schedule::new(plan.clone()).unwrap().jobs().collect();
    let schedule = schedule(plan, &[Stage::round_robin(2), stage(Format::RoundRobin, 1)]);
    let (rounds, played) = play(&schedule, 1);
    assert_eq!(rounds[0].n_jobs, jobs.len() as u64);
    for (one, other) in played.iter().zip(&jobs) {
        assert_eq!(&Job { round: None, ..one.clone() }, other);
    }
    // The second goes on where the first ended.
    assert!(played[jobs.len()..].iter().all(|job| job.lap >= 2));
}

#[test]
fn a_race_leaves_the_survivors_jobs_as_they_were() {
    let plan = TournamentPlan { laps: 30, ..plan(&[2, 2], 5) };
    let raced = Stage { race: Some(RaceRule::default()), ..Stage::round_robin(30) };
    let (rounds, played) = play(&schedule(plan.clone(), &[raced]), 2);
    let last = &rounds[rounds.len() - 1];
    let survivors: BTreeSet<usize> =
        last.blocks.iter().flat_map(|block| block.block.players.iter().copied()).collect();
    assert!(survivors.len() < 5 && survivors.contains(&4), "{survivors:?}");
    assert!(played.len() < Schedule::new(plan.clone()).unwrap().n_jobs() as usize / 2);
    let of_survivors = |jobs: &mut dyn Iterator<Item = Job>| -> Vec<(String, u32, u32)> {
        let only = |job: &Job| job.seats.iter().flatten().all(|player| survivors.contains(player));
        jobs.filter(only).map(|job| (job.id, job.lap, job.rotation)).collect()
    };
    let alone = of_survivors(&mut Schedule::new(plan).unwrap().jobs());
    let raced = of_survivors(&mut played.into_iter());
    assert_eq!(raced, alone[..raced.len()], "the same ones in the same order");
}

#[test]
fn a_gauntlet_may_be_raced() {
    let format = Format::Gauntlet { challengers: 1 };
    let raced = Stage { race: Some(RaceRule::default()), ..stage(format, 40) };
    let (rounds, jobs) = play(&schedule(plan(&[2, 2], 6), &[raced]), 3);
    assert!(jobs.iter().all(|job| job.seats.contains(&Some(0))));
    let last = &rounds[rounds.len() - 1].blocks;
    let others: BTreeSet<usize> =
        last.iter().flat_map(|block| block.block.players.clone()).collect();
    assert!(others.len() < 6 && others.contains(&5), "{others:?}");
}

#[test]
fn the_best_of_a_swiss_system_go_on_to_a_knockout() {
    let knockout = Stage { best: Some(4), ..stage(Format::Knockout { extra_laps: 1 }, 2) };
    let stages = [stage(Format::Swiss { rounds: 3 }, 3), knockout];
    let (rounds, _) = play(&schedule(plan(&[2], 8), &stages), 4);
    let told: Vec<_> = rounds
        .iter()
        .filter(|round| round.id.extra == 0)
        .map(|round| (round.id.stage, round.id.round))
        .collect();
    assert_eq!(told, [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]);
    let players = |round: &Round| -> BTreeSet<usize> {
        round.blocks.iter().flat_map(|block| block.block.players.clone()).collect()
    };
    let semi = rounds.iter().find(|round| round.id.stage == 2).unwrap();
    assert_eq!(semi.n_rounds, 2);
    // The larger number is the stronger player.
    assert!(players(semi).len() == 4 && players(semi).contains(&7), "{:?}", players(semi));
}

#[test]
fn groups_of_three_play_a_swiss_system() {
    let (rounds, jobs) =
        play(&schedule(plan(&[3, 3], 7), &[stage(Format::Swiss { rounds: 3 }, 1)]), 5);
    assert_eq!(rounds.len(), 3);
    for round in &rounds {
        let groups: BTreeSet<&Vec<usize>> =
            round.blocks.iter().map(|block| &block.block.players).collect();
        let players: BTreeSet<usize> =
            groups.iter().flat_map(|group| group.iter().copied()).collect();
        assert_eq!((groups.len(), players.len()), (2, 6), "one waits");
    }
    // 2 groups, a block at the one and two at the other game, 3 matches each.
    assert_eq!(jobs.len(), 3 * 2 * 3 * 3);
}

#[track_caller]
fn check_error(plan: TournamentPlan, stages: &[Stage], expected: &str) {
    assert_eq!(StagedSchedule::new(plan, stages.to_vec()).unwrap_err().to_string(), expected);
}

#[test]
fn what_cannot_be_played_is_refused() {
    let swiss = stage(Format::Swiss { rounds: 3 }, 1);
    let knockout = stage(Format::Knockout { extra_laps: 1 }, 1);
    let two =
        "stage 1: swiss needs games for two players or more, the same number in all games; game ";
    check_error(plan(&[1], 5), &[swiss], &format!("{two}0 has 1 role"));
    check_error(plan(&[2, 3], 5), &[swiss], &format!("{two}1 has 3 roles"));
    check_error(
        plan(&[3], 5),
        &[knockout],
        "stage 1: knockout needs games for two players; game 0 has 3 roles",
    );
    check_error(
        plan(&[2], 3),
        &[stage(Format::Swiss { rounds: 4 }, 1)],
        "stage 1: rounds = 4: a swiss system of 3 players has at most 3 rounds; in more, some players \
         would have to meet twice",
    );
    check_error(
        plan(&[2], 1),
        &[knockout],
        "stage 1: 1 player cannot play it, at least 2 are needed",
    );
    let best = Stage { best: Some(6), ..knockout };
    check_error(
        plan(&[2], 5),
        &[swiss, best],
        "stage 2: best = 6, but the stage before has only 5 players",
    );
    let mut hidden = plan(&[2], 5);
    hidden.games[0].hidden_information = true;
    check_error(hidden, &[swiss], "player 0 cannot play game 0");
    let mut clocks = plan(&[2], 5);
    clocks.time_budgets.push(clocks.time_budgets[0]);
    check_error(
        clocks,
        &[swiss],
        "pairings that depend on results need a single budget, and the spec has 2; run it once with \
         each",
    );
}
