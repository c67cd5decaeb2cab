//! From the matches of a comparison to its answer.

use std::collections::BTreeMap;

use crate::evidence::Clock;
use crate::record::FaultKind;
use crate::stats::betting::ConfidenceSequence;
use crate::stats::block::{BlockScore, Unit, block_scores};
use crate::stats::fault_gate::{FaultyMatches, different_faults, more_faults};
use crate::stats::fault_policy::FaultPolicy;
use crate::stats::holm::holm;
use crate::stats::laps::{t_interval, unvaried_interval};
use crate::stats::normal::t_quantile;
use crate::stats::power::Design;
use crate::stats::regression::{Answer, Ground, answer};
use crate::stats::scored::{ScoredMatch, Stratum};
use crate::stats::sequential::Verdict;
use crate::stats::sign_flip::sign_flip;

use super::{
    BASE, CANARY, Canary, Effect, FaultCounts, Faults, GameEffect, HEAD, MIN_BLOCKS, Outcome,
    PolicyMean, Question, Reason, Regression, Stopped, Strength,
};

/// Probability that head and canary are taken for different players though
/// nothing is wrong: that of three standard errors.
const CANARY_ALPHA: f64 = 0.0027;
/// Assignments of signs that are drawn where there are too many to try all.
const SIGN_DRAWS: u32 = 10_000;
const SIGN_SEED: u64 = 1;
/// Laps that are alike by chance hardly ever, unless one player always wins.
const MANY_REPEATS: usize = 10;

/// The answer to `question` from the matches of whole laps. `test` is the
/// sequential test's verdict, its ratio, and the bounds of that.
pub(super) fn evaluate(
    question: Question,
    matches: &[ScoredMatch],
    n_laps: u64,
    test: (Verdict, f64, [f64; 2]),
    stopped: Stopped,
) -> Regression {
    let (verdict, llr, bounds) = test;
    let alpha = question.alpha;
    let compared: Vec<&ScoredMatch> =
        matches.iter().filter(|played| played.seat_of(CANARY).is_none()).collect();
    let blocks = block_scores(compared.iter().copied(), HEAD, BASE, Unit::Lap);
    let difference = effect(&blocks.scores, alpha);
    let n_blocks = difference.n_blocks;
    let faults = faults(&compared, alpha);
    let canary = question.has_canary.then(|| canary(matches, alpha));
    let (outcome, reason) = if canary.as_ref().is_some_and(|canary| canary.blames_machine) {
        (Outcome::Inconclusive, Reason::Canary)
    } else if faults.fails {
        (Outcome::Fail, Reason::Faults)
    } else if n_blocks < MIN_BLOCKS {
        (Outcome::Inconclusive, Reason::TooFew)
    } else {
        in_words_of_ours(answer(verdict, difference.interval, question.margin))
    };
    let n_unscored = matches.iter().filter(|played| is_unscored(played)).count() as u64;
    Regression {
        outcome,
        reason,
        stopped,
        n_laps,
        n_matches: matches.len() as u64,
        n_unscored,
        strength: Strength {
            difference,
            anytime: anytime(&blocks.scores, alpha),
            llr,
            bounds,
            n_incomplete: blocks.incomplete.len() as u64,
            detectable: difference
                .sd
                .map(|sd| Design { sd, alpha, power: 1.0 - alpha }.detectable(n_blocks)),
        },
        games: games(&blocks.scores, &compared, alpha),
        policies: policies(&compared, &faults, alpha),
        faults,
        canary,
        question,
    }
}

fn in_words_of_ours((answer, ground): (Answer, Ground)) -> (Outcome, Reason) {
    let outcome = match answer {
        Answer::Pass => Outcome::Pass,
        Answer::Fail => Outcome::Fail,
        Answer::Inconclusive => Outcome::Inconclusive,
    };
    let reason = match ground {
        Ground::Test => Reason::Test,
        Ground::Interval => Reason::Interval,
        Ground::Nothing => Reason::Undecided,
    };
    (outcome, reason)
}

fn is_unscored(played: &ScoredMatch) -> bool {
    played.seats.iter().all(|seat| seat.reward.is_none())
}

fn effect(blocks: &[BlockScore], alpha: f64) -> Effect {
    let points: Vec<f64> = blocks.iter().map(|block| block.difference.points()).collect();
    let n_blocks = points.len() as u64;
    let mean = (n_blocks > 0).then(|| points.iter().sum::<f64>() / n_blocks as f64);
    let found = t_interval(&points, 1.0 - alpha);
    let interval = found.map(|found| match found.sd {
        0.0 => unvaried_interval(found.mean, found.n, 1.0 - alpha, [-100.0, 100.0]),
        _ => found.interval,
    });
    Effect { n_blocks, mean, sd: found.map(|found| found.sd), interval }
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
    let game = |((stratum, blocks), (p, p_holm)): ((&Stratum, Vec<BlockScore>), (f64, f64))| {
        let Stratum { start_clock_ms, play_clock_ms, nodes, .. } = *stratum;
        GameEffect {
            game: stratum.game.clone(),
            clock: Clock { start_clock_ms, play_clock_ms, nodes }.to_string(),
            difference: effect(&blocks, alpha),
            p,
            p_holm,
            warns: p_holm <= alpha,
            repeats: repeats(compared, stratum),
        }
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

fn faulty(counts: &FaultCounts) -> FaultyMatches {
    FaultyMatches { faulty: counts.n_faulty, all: counts.n_matches }
}

fn faults(compared: &[&ScoredMatch], alpha: f64) -> Faults {
    let (base, head) = (fault_counts(compared, BASE), fault_counts(compared, HEAD));
    let p = more_faults(faulty(&base), faulty(&head));
    Faults { fails: p <= alpha, p, base, head }
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

/// Head and canary are one player: where they differ, something else is wrong.
fn canary(matches: &[ScoredMatch], alpha: f64) -> Canary {
    let without_base: Vec<&ScoredMatch> =
        matches.iter().filter(|played| played.seat_of(BASE).is_none()).collect();
    let blocks = block_scores(without_base.iter().copied(), HEAD, CANARY, Unit::Lap).scores;
    let difference = effect(&blocks, alpha);
    let of_both = |played: &&ScoredMatch| {
        let same =
            |block: &BlockScore| block.lap == played.lap && *block.stratum == *played.stratum;
        blocks.iter().any(same)
    };
    let both: Vec<&ScoredMatch> = without_base.into_iter().filter(of_both).collect();
    let (head, canary) = (fault_counts(&both, HEAD), fault_counts(&both, CANARY));
    let unlike = different_faults(faulty(&head), faulty(&canary)) <= CANARY_ALPHA;
    Canary { blames_machine: unlike || is_off_zero(&difference), difference, head, canary }
}

/// Whether a mean is further from zero than chance takes it.
fn is_off_zero(difference: &Effect) -> bool {
    let (Some(mean), Some(sd)) = (difference.mean, difference.sd) else { return false };
    let n = difference.n_blocks as f64;
    let limit = t_quantile(1.0 - CANARY_ALPHA / 2.0, n - 1.0) * sd / n.sqrt();
    mean.abs() > limit.max(1e-9)
}
