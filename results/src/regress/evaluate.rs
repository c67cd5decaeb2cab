//! From the matches of a comparison to its result.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::FaultKind;
use crate::stats::betting::ConfidenceSequence;
use crate::stats::block::{BlockScore, Unit, block_scores};
use crate::stats::fault_policy::FaultPolicy;
use crate::stats::fault_test::FaultTest;
use crate::stats::holm::holm;
use crate::stats::laps::{t_interval, unvaried_interval};
use crate::stats::regression::answer;
use crate::stats::scored::{ScoredMatch, ScoredSeat, Stratum};
use crate::stats::sequential::Verdict;
use crate::stats::sign_flip::{sign_flip, sign_flip_terms};
use crate::stats::stopping::{Seen, Side};

use super::decide::{Findings, decide};
use super::unscored::{at_worst, is_unscored};
use super::{
    BASE, CANARY, Canary, Effect, Estimate, FaultCounts, Faults, GameEffect, HEAD, Outcome,
    PolicyMean, Question, Reason, Regression, Stopped, Strength,
};

/// Probability that head and canary are taken for different players though
/// nothing is wrong: that of three standard errors. Half is for their rewards,
/// half for their faults.
const CANARY_ALPHA: f64 = 0.0027;
/// Assignments of signs that are drawn where there are too many to try all.
const SIGN_DRAWS: u32 = 10_000;
const SIGN_SEED: u64 = 1;
/// Laps that are alike by chance hardly ever, unless one player always wins.
const MANY_REPEATS: usize = 10;

/// The matches, and the results of the tests.
pub(super) struct Evidence<'a> {
    /// Matches that count, in the order of the schedule.
    pub(super) matches: &'a [ScoredMatch],
    /// How many of them belong to whole parts of laps.
    pub(super) n_whole: usize,
    /// Whole parts of laps.
    pub(super) n_parts: u64,
    /// What the sequential test of strength said.
    pub(super) strength: Verdict,
    /// Its log-likelihood ratio.
    pub(super) llr: f64,
    /// Where it decides.
    pub(super) bounds: [f64; 2],
    /// The test of faults.
    pub(super) faults: &'a FaultTest,
}

/// The result of `question`.
pub(super) fn evaluate(
    question: Question,
    evidence: &Evidence<'_>,
    stopped: Stopped,
) -> Regression {
    let alpha = question.alpha;
    let whole = &evidence.matches[..evidence.n_whole];
    let is_compared = |played: &&ScoredMatch| played.seat_of(CANARY).is_none();
    let compared: Vec<&ScoredMatch> = whole.iter().filter(is_compared).collect();
    let blocks = block_scores(compared.iter().copied(), HEAD, BASE, Unit::Lap);
    let worst: Vec<ScoredMatch> = compared.iter().copied().map(at_worst).collect();
    let worst = block_scores(&worst, HEAD, BASE, Unit::Lap);
    let answer_of = |blocks: &[BlockScore]| {
        answer(evidence.strength, fixed_interval(blocks, alpha), question.margin)
    };
    // Faults count in all matches, also of a part that is not whole.
    let begun: Vec<&ScoredMatch> = evidence.matches.iter().filter(is_compared).collect();
    let faults = faults(&begun, evidence.faults, question.fault_alpha());
    let canary = question.has_canary.then(|| canary(whole, alpha));
    let findings = Findings {
        is_defined: true,
        faults_fail: faults.fails,
        base_is_broken: faults.base_is_broken(),
        canary_differs: canary.as_ref().is_some_and(|canary| canary.blames_machine),
        n_blocks: blocks.scores.len() as u64,
        n_incomplete: blocks.incomplete.len() as u64,
        strength: answer_of(&blocks.scores),
        worst: answer_of(&worst.scores).0,
    };
    let (outcome, reason) = decide(&findings);
    let n_unscored = evidence.matches.iter().filter(|played| is_unscored(played)).count() as u64;
    let has_unscored = !blocks.incomplete.is_empty();
    let strength = Strength {
        worst: has_unscored.then(|| effect(&worst.scores, alpha).mean).flatten(),
        n_incomplete: findings.n_incomplete,
        ..strength(&question, &blocks.scores, evidence)
    };
    let found = Regression {
        outcome,
        reason,
        stopped,
        n_laps: evidence.n_parts / question.parts_per_lap(),
        n_matches: evidence.matches.len() as u64,
        n_unscored,
        strength,
        games: games(&blocks.scores, &compared, alpha),
        policies: policies(&compared, &faults, alpha),
        faults,
        canary,
        question,
    };
    let undefined = undefined_number(&found);
    debug_assert_eq!(undefined, None, "all numbers of a comparison are defined");
    if undefined.is_some() { internal(found) } else { found }
}

fn strength(question: &Question, blocks: &[BlockScore], evidence: &Evidence<'_>) -> Strength {
    let alpha = question.alpha;
    let difference = effect(blocks, alpha);
    let decided = match evidence.strength {
        Verdict::Null => Some(Side::Worse),
        Verdict::Alternative => Some(Side::Equal),
        Verdict::GoOn | Verdict::Exhausted => None,
    };
    let at_end = fixed_interval(blocks, alpha);
    let seen = difference.mean.zip(difference.sd);
    let seen = seen.map(|(mean, sd)| Seen { n_blocks: difference.n_blocks, mean, sd, decided });
    let test = question.margin_test();
    let estimated = seen.and_then(|seen| test.estimate(&seen, 1.0 - alpha));
    // The estimate assumes a likelihood ratio of small differences. For large differences
    // its interval may exclude the plain mean; then the interval that is valid at any time
    // is used.
    let contradicted = |interval: [f64; 2]| {
        difference.mean.is_some_and(|mean| mean < interval[0] || mean > interval[1])
    };
    let estimate = match (estimated, difference.mean.zip(at_end)) {
        (Some(found), _) if contradicted(found.interval) => difference
            .mean
            .zip(difference.interval)
            .map(|(points, interval)| Estimate { points, interval }),
        (Some(found), _) => Some(found),
        // Blocks that are all alike: nothing stopped early by chance.
        (None, Some((points, interval))) => Some(Estimate { points, interval }),
        (None, None) => None,
    };
    let spread = difference.sd.filter(|&sd| sd > 0.0);
    Strength {
        estimate,
        at_end: at_end.filter(|_| decided.is_none()),
        anytime: difference.interval,
        llr: evidence.llr,
        bounds: evidence.bounds,
        n_incomplete: 0,
        worst: None,
        detectable: spread.and_then(|sd| test.detectable(sd, difference.n_blocks, 1.0 - alpha)),
        difference,
    }
}

/// The first number that is infinite or none, in words.
fn undefined_number(found: &Regression) -> Option<&'static str> {
    let Regression { strength, games, policies, faults, canary, .. } = found;
    let pair = |pair: Option<[f64; 2]>| pair.into_iter().flatten();
    let effect = |effect: &Effect| -> Vec<f64> {
        effect.mean.into_iter().chain(effect.sd).chain(pair(effect.interval)).collect()
    };
    let estimate = strength
        .estimate
        .iter()
        .flat_map(|estimate| [estimate.points].into_iter().chain(estimate.interval));
    let of_strength = effect(&strength.difference)
        .into_iter()
        .chain(estimate)
        .chain(pair(strength.at_end))
        .chain(pair(strength.anytime))
        .chain([strength.llr])
        .chain(strength.bounds)
        .chain(strength.worst)
        .chain(strength.detectable);
    let of_games = games
        .iter()
        .flat_map(|game| effect(&game.difference).into_iter().chain([game.p, game.p_holm]));
    let of_policies = policies.iter().flat_map(|mean| effect(&mean.difference));
    let of_canary = canary.iter().flat_map(|canary| {
        effect(&canary.difference).into_iter().chain(canary.p).chain(canary.p_faults)
    });
    let all = (of_strength.map(|number| ("strength", number)))
        .chain(of_games.map(|number| ("games", number)))
        .chain(of_policies.map(|number| ("fault policies", number)))
        .chain(of_canary.map(|number| ("canary", number)))
        .chain([("faults", faults.p)]);
    all.into_iter().find(|(_, number)| !number.is_finite()).map(|(name, _)| name)
}

/// Inconclusive, because a number is undefined; counts are unchanged.
fn internal(found: Regression) -> Regression {
    let n_blocks = found.strength.difference.n_blocks;
    let (outcome, reason) = (Outcome::Inconclusive, Reason::Internal);
    Regression {
        outcome,
        reason,
        strength: Strength {
            difference: Effect { n_blocks, ..Effect::default() },
            estimate: None,
            at_end: None,
            anytime: None,
            llr: 0.0,
            bounds: found.question.errors().bounds(),
            n_incomplete: found.strength.n_incomplete,
            worst: None,
            detectable: None,
        },
        games: vec![],
        policies: vec![],
        faults: Faults { p: 1.0, fails: false, ..found.faults },
        canary: None,
        ..found
    }
}

/// Whether all blocks turned out alike; differences are exact.
fn is_unvaried(blocks: &[BlockScore]) -> bool {
    blocks.windows(2).all(|pair| pair[0].difference == pair[1].difference)
}

/// The interval of the mean difference for a fixed number of blocks, cut to the possible
/// range of -100 to 100 points; `None` for fewer than two.
fn fixed_interval(blocks: &[BlockScore], alpha: f64) -> Option<[f64; 2]> {
    let points: Vec<f64> = blocks.iter().map(|block| block.difference.points()).collect();
    let found = t_interval(&points, 1.0 - alpha)?;
    if is_unvaried(blocks) {
        return Some(unvaried_interval(points[0], found.n, 1.0 - alpha, [-100.0, 100.0]));
    }
    Some(found.interval.map(|bound| bound.clamp(-100.0, 100.0)))
}

fn effect(blocks: &[BlockScore], alpha: f64) -> Effect {
    let points: Vec<f64> = blocks.iter().map(|block| block.difference.points()).collect();
    let n_blocks = points.len() as u64;
    // The mean of equal numbers is theirs, and not what rounding makes of it.
    let mean = match &points[..] {
        [] => None,
        [first, ..] if is_unvaried(blocks) => Some(*first),
        _ => Some(points.iter().sum::<f64>() / n_blocks as f64),
    };
    let sd = t_interval(&points, 1.0 - alpha).map(|found| found.sd);
    let sd = sd.map(|sd| if is_unvaried(blocks) { 0.0 } else { sd });
    Effect { n_blocks, mean, sd, interval: anytime(blocks, alpha) }
}

fn anytime(blocks: &[BlockScore], alpha: f64) -> Option<[f64; 2]> {
    let mut sequence = ConfidenceSequence::new(1.0 - alpha);
    blocks.iter().for_each(|block| sequence.add(block.difference.score()));
    (!blocks.is_empty()).then(|| sequence.interval())
}

fn games(blocks: &[BlockScore], compared: &[&ScoredMatch], alpha: f64) -> Vec<GameEffect> {
    let mut strata: BTreeMap<&Stratum, Vec<BlockScore>> = BTreeMap::new();
    for block in blocks {
        strata.entry(&block.stratum).or_default().push(block.clone());
    }
    let p = strata.values().map(|blocks| sign_flip(blocks, SIGN_DRAWS, SIGN_SEED).less);
    let p: Vec<f64> = p.collect();
    let game =
        |((stratum, blocks), (p, p_holm)): ((&Stratum, Vec<BlockScore>), (f64, f64))| GameEffect {
            game: stratum.game.clone(),
            budget: stratum.clock.to_string(),
            difference: effect(&blocks, alpha),
            p,
            p_holm,
            warns: p_holm <= alpha,
            repeats: repeats(compared, stratum),
        };
    let corrected = holm(&p);
    strata.into_iter().zip(p.into_iter().zip(corrected)).map(game).collect()
}

/// Whether the base was rewarded alike, role by role, in all of many laps.
fn repeats(compared: &[&ScoredMatch], stratum: &Stratum) -> bool {
    let mut laps: BTreeMap<u32, Vec<(u32, Option<u8>)>> = BTreeMap::new();
    for played in compared.iter().filter(|played| *played.stratum == *stratum) {
        if let Some(seat) = played.seat_of(BASE) {
            laps.entry(played.lap).or_default().push((seat.role, seat.reward));
        }
    }
    laps.values_mut().for_each(|lap| lap.sort_unstable());
    let mut rewards = laps.values();
    let first = rewards.next();
    laps.len() >= MANY_REPEATS && rewards.all(|lap| Some(lap) == first)
}

fn fault_counts(matches: &[&ScoredMatch], player: &str) -> FaultCounts {
    let mut counts = FaultCounts::default();
    let mut kinds = [0; 6];
    for seat in matches.iter().filter_map(|played| played.seat_of(player)) {
        counts.n_matches += 1;
        counts.n_faulty += u64::from(seat.faults.iter().any(|&n| n > 0));
        for (sum, &n) in kinds.iter_mut().zip(&seat.faults) {
            *sum += u64::from(n);
        }
    }
    counts.kinds = FaultKind::ALL.into_iter().zip(kinds).filter(|(_, n)| *n > 0).collect();
    counts
}

fn faults(begun: &[&ScoredMatch], test: &FaultTest, alpha: f64) -> Faults {
    Faults {
        base: fault_counts(begun, BASE),
        head: fault_counts(begun, HEAD),
        n_pairs: test.n_pairs(),
        p: test.p_value(),
        fails: test.rejects(alpha),
    }
}

/// As the matches would count if faults were scored otherwise.
fn policies(compared: &[&ScoredMatch], faults: &Faults, alpha: f64) -> Vec<PolicyMean> {
    if faults.base.n_faulty + faults.head.n_faulty == 0 {
        return vec![];
    }
    let mean = |policy: FaultPolicy| {
        let scored: Vec<ScoredMatch> =
            compared.iter().map(|played| policy.apply(played, |_| true)).collect();
        let blocks = block_scores(&scored, HEAD, BASE, Unit::Lap);
        PolicyMean { policy: policy.name().to_owned(), difference: effect(&blocks.scores, alpha) }
    };
    FaultPolicy::ALL.map(mean).to_vec()
}

/// Head and canary are one player: where they differ, something else is wrong. Each
/// block could as well have turned out the other way round, whatever it is like:
/// that holds from the first block on, with or without spread.
fn canary(matches: &[ScoredMatch], alpha: f64) -> Canary {
    let without_base: Vec<&ScoredMatch> =
        matches.iter().filter(|played| played.seat_of(BASE).is_none()).collect();
    let blocks = block_scores(without_base.iter().copied(), HEAD, CANARY, Unit::Lap).scores;
    let keys: BTreeSet<(u32, &Stratum)> =
        blocks.iter().map(|block| (block.lap, &*block.stratum)).collect();
    let of_both = |played: &&ScoredMatch| keys.contains(&(played.lap, &*played.stratum));
    let both: Vec<&ScoredMatch> = without_base.into_iter().filter(of_both).collect();
    let points: Vec<f64> = blocks.iter().map(|block| block.difference.points()).collect();
    let p = sign_flip_terms(&points, SIGN_DRAWS, SIGN_SEED).two_sided;
    let p_faults = sign_flip_terms(&more_faulty(&both), SIGN_DRAWS, SIGN_SEED).two_sided;
    Canary {
        difference: effect(&blocks, alpha),
        head: fault_counts(&both, HEAD),
        canary: fault_counts(&both, CANARY),
        p: Some(p),
        p_faults: Some(p_faults),
        blames_machine: p.min(p_faults) <= CANARY_ALPHA / 2.0,
    }
}

/// In each block, how many more faulty matches the head has than the canary.
fn more_faulty(matches: &[&ScoredMatch]) -> Vec<f64> {
    let mut blocks: BTreeMap<(u32, &Stratum), f64> = BTreeMap::new();
    for played in matches {
        let sum = blocks.entry((played.lap, &*played.stratum)).or_default();
        for (player, sign) in [(HEAD, 1.0), (CANARY, -1.0)] {
            let is_faulty = |seat: &ScoredSeat| seat.faults.iter().any(|&n| n > 0);
            *sum += if played.seat_of(player).is_some_and(is_faulty) { sign } else { 0.0 };
        }
    }
    blocks.into_values().collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::regress::tracker::tests::{conclude, lap, question};
    use crate::stats::block::{Difference, made_up};

    /// Thirds, as games of three roles leave them, differ by rounding only.
    #[test]
    fn blocks_that_are_all_alike_have_an_interval_with_a_width() {
        for (numerator, denominator) in [(-1, 3), (-2, 7), (0, 1), (33, 7)] {
            let mut blocks = made_up(vec![0; 32]);
            blocks.iter_mut().for_each(|block| {
                block.difference = Difference::new(numerator, denominator);
            });
            let found = effect(&blocks, 0.05);
            let points = numerator as f64 / denominator as f64;
            assert_eq!((found.sd, found.mean), (Some(0.0), Some(points)));
            let [low, high] = fixed_interval(&blocks, 0.05).unwrap();
            assert!(low < points - 10.0 && high > points + 9.0, "{low} {high}");
        }
    }

    /// Student's t of two blocks reaches far beyond what is possible.
    #[test]
    fn the_interval_of_few_blocks_stays_in_the_possible_range() {
        let mut blocks = made_up(vec![0; 2]);
        for (block, points) in blocks.iter_mut().zip([-50, 25]) {
            block.difference = Difference::new(points, 1);
        }
        assert_eq!(fixed_interval(&blocks, 0.05), Some([-100.0, 100.0]));
        blocks[1].difference = Difference::new(-49, 1);
        let [low, high] = fixed_interval(&blocks, 0.05).unwrap();
        assert!(low > -60.0 && high < -40.0, "{low} {high}");
    }

    #[test]
    fn the_matches_of_a_canary_are_found_in_a_time_that_grows_with_them() {
        // With laps times matches this would be 10^9 comparisons.
        let matches: Vec<ScoredMatch> =
            (0..4_000).flat_map(|number| lap(number, [50; 4], 50)).collect();
        let matches: Vec<ScoredMatch> =
            matches.into_iter().filter(|played| played.seat_of(BASE).is_none()).collect();
        let found = canary(&matches, 0.05);
        assert_eq!(found.difference.n_blocks, 4_000);
        assert_eq!((found.head.n_matches, found.p), (8_000, Some(1.0)));
    }

    /// Head and canary are one player, whose matches end in any way.
    fn blamed(n_blocks: u64, seed: u64, fault_rate: f64) -> bool {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut matches = vec![];
        for number in 0..n_blocks {
            // Most blocks are alike, a few end in a landslide.
            let points = if rng.random_bool(0.8) { 50 } else { 100 * rng.random_range(0..2) };
            for mut played in lap(number, [50; 4], points) {
                for seat in &mut played.seats {
                    seat.faults[1] = u32::from(rng.random_bool(fault_rate));
                }
                matches.extend((played.seat_of(BASE).is_none()).then_some(played));
            }
        }
        canary(&matches, 0.05).blames_machine
    }

    #[test]
    fn the_canary_blames_the_machine_no_more_often_than_it_says() {
        for (n_blocks, fault_rate) in [(2, 0.0), (12, 0.0), (12, 0.3), (40, 0.1)] {
            let n_runs = 250;
            let n = (0..n_runs).filter(|&seed| blamed(n_blocks, seed, fault_rate)).count();
            // 0.27 % and three standard errors of 250 runs are 3.1.
            assert!(n <= 3, "{n_blocks} {fault_rate}: {n} of {n_runs}");
        }
    }

    #[test]
    fn an_undefined_number_is_no_answer() {
        let sound = conclude(40, (0..40).map(|number| lap(number, [50, 40, 60, 50], 50)));
        assert_eq!(undefined_number(&sound), None);
        assert_eq!(sound.outcome, Outcome::Pass);
        let broken = |spoil: &dyn Fn(&mut Regression)| {
            let mut found = sound.clone();
            spoil(&mut found);
            found
        };
        let table = [
            (broken(&|found| found.strength.llr = f64::NAN), "strength"),
            (broken(&|found| found.strength.at_end = Some([f64::NAN, 0.0])), "strength"),
            (broken(&|found| found.strength.difference.mean = Some(f64::INFINITY)), "strength"),
            (
                broken(&|found| found.strength.estimate.as_mut().unwrap().points = f64::NAN),
                "strength",
            ),
            (broken(&|found| found.games[0].p = f64::NAN), "games"),
            (broken(&|found| found.faults.p = f64::NAN), "faults"),
            (broken(&|found| found.canary.as_mut().unwrap().p = Some(f64::NAN)), "canary"),
        ];
        for (found, name) in table {
            assert_eq!(undefined_number(&found), Some(name));
            let found = internal(found);
            assert_eq!((found.outcome, found.reason), (Outcome::Inconclusive, Reason::Internal));
            assert_eq!(undefined_number(&found), None);
            // What is written can be read.
            let json = serde_json::to_string(&found).unwrap();
            assert_eq!(serde_json::from_str::<Regression>(&json).unwrap(), found);
        }
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "all numbers of a comparison are defined")]
    fn an_undefined_number_is_a_panic_in_tests() {
        let evidence = Evidence {
            matches: &[],
            n_whole: 0,
            n_parts: 0,
            strength: Verdict::GoOn,
            llr: f64::NAN,
            bounds: [-3.0, 3.0],
            faults: &FaultTest::default(),
        };
        let _ = evaluate(question(8), &evidence, Stopped::Time);
    }

    #[test]
    fn answers_of_earlier_versions_can_be_read() {
        let old = r#"{"outcome":"pass","reason":"test","stopped":"decided","question":{"base":"a",
            "head":"b","suite":"s","margin":3.0,"alpha":0.05,"max_laps":9,"time_limit_s":null,
            "matches_per_lap":108,"blocks_per_lap":24,"has_canary":true},"n_laps":9,"n_matches":972,
            "n_unscored":0,"strength":{"difference":{"n_blocks":216,"mean":0.0,"sd":0.0,
            "interval":[-1.0,1.0]},"anytime":[-2.0,2.0],"llr":3.1,"bounds":[-2.9,2.9],
            "n_incomplete":0,"detectable":0.0},"games":[],"faults":{"base":{"n_matches":1,
            "n_faulty":0,"kinds":[]},"head":{"n_matches":1,"n_faulty":0,"kinds":[]},"p":1.0,
            "fails":false},"policies":[],"canary":{"difference":{"n_blocks":0,"mean":null,
            "sd":null,"interval":null},"head":{"n_matches":0,"n_faulty":0,"kinds":[]},"canary":
            {"n_matches":0,"n_faulty":0,"kinds":[]},"blames_machine":false}}"#;
        let found: Regression = serde_json::from_str(old).unwrap();
        assert_eq!((found.question.parts_per_lap(), found.question.max_blocks()), (1, 216));
    }
}
