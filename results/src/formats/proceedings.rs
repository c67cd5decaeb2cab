//! What became of a run's stages, from its journal alone.

use std::collections::BTreeMap;
use std::path::Path;

use super::standing::{Standing, standing};
use super::{Formats, PlayedBlock, RoundId, RoundRecord, Stage};
use crate::journal::{Journal, JournalError, MatchRow};

/// A run of more than one plain round robin.
#[derive(Clone, Debug)]
pub struct Proceedings {
    /// Ids of the players, by number.
    pub players: Vec<String>,
    /// Stages that have begun; the first always has.
    pub stages: Vec<StageProceedings>,
    /// How many stages there are to be.
    pub n_stages: u32,
}

/// One stage.
#[derive(Clone, Debug)]
pub struct StageProceedings {
    /// What it is.
    pub stage: Stage,
    /// Its players, best seed first.
    pub entrants: Vec<u32>,
    /// How it stands after all rounds that are finished.
    pub standing: Standing,
    /// Rounds that are finished, further laps counted.
    pub n_finished: u32,
    /// The round that is begun but not finished, and its matches that are done.
    pub unfinished: Option<(RoundRecord, u64)>,
}

/// Reads the proceedings of the run whose journal is at `path`; `None` if it is
/// one plain round robin.
///
/// # Errors
/// If the journal cannot be read or is damaged.
pub fn read(path: &Path) -> Result<Option<Proceedings>, JournalError> {
    let journal = Journal::open(path)?;
    let Some(formats) = journal.header().formats.clone() else { return Ok(None) };
    let mut matches = vec![];
    journal.index()?.each_row(|row| {
        matches.extend(PlayedMatch::of(row, &formats));
        Ok(())
    })?;
    Ok(Some(proceedings(formats, &matches)))
}

/// A match that is done.
struct PlayedMatch {
    block: u64,
    round: RoundRecord,
    game: String,
    /// Players and their rewards; `None` if it was not scored.
    seats: Vec<(u32, Option<u8>)>,
}

impl PlayedMatch {
    /// `None` if it is not done, or not of these formats, which then is not a match of
    /// ours.
    fn of(row: &MatchRow<'_>, formats: &Formats) -> Option<Self> {
        let number = |player: &str| formats.players.iter().position(|id| *id == *player);
        let seats = row.players().map(|(_, player, seat)| {
            let number = number(player)?;
            Some((number as u32, row.reward(seat)))
        });
        Some(Self {
            block: row.block,
            round: row.round.filter(|_| row.ending.is_done())?,
            game: row.game.clone().into(),
            seats: seats.collect::<Option<_>>()?,
        })
    }
}

fn proceedings(formats: Formats, matches: &[PlayedMatch]) -> Proceedings {
    let mut games: BTreeMap<&str, u32> = BTreeMap::new();
    for played in matches {
        let next = games.len() as u32;
        games.entry(&played.game).or_insert(next);
    }
    let mut by_round: BTreeMap<RoundId, Vec<&PlayedMatch>> = BTreeMap::new();
    for played in matches {
        by_round.entry(played.round.id).or_default().push(played);
    }
    let mut entrants: Vec<u32> = (0..formats.players.len() as u32).collect();
    let mut stages = vec![];
    for (stage, number) in formats.stages.iter().zip(1..) {
        let own = by_round.iter().filter(|(id, _)| id.stage == number);
        let (mut rounds, mut unfinished) = (vec![], None);
        for (_, matches) in own {
            let record = matches[0].round;
            if matches.len() as u64 == record.n_matches && unfinished.is_none() {
                rounds.push(blocks(matches, &games));
            } else {
                unfinished = unfinished.or(Some((record, matches.len() as u64)));
            }
        }
        let is_begun = !rounds.is_empty() || unfinished.is_some();
        if !is_begun && number > 1 {
            break;
        }
        if let Some(best) = stage.best {
            entrants.truncate(best as usize);
        }
        let standing = standing(stage, &entrants, &rounds);
        let ranking = standing.ranking(&entrants);
        let n_finished = rounds.len() as u32;
        stages.push(StageProceedings { stage: *stage, entrants, standing, n_finished, unfinished });
        entrants = ranking;
    }
    Proceedings { players: formats.players, stages, n_stages: formats.stages.len() as u32 }
}

/// The blocks of a finished round.
fn blocks(matches: &[&PlayedMatch], games: &BTreeMap<&str, u32>) -> Vec<PlayedBlock> {
    let mut repetitions: BTreeMap<(u32, Vec<u32>), u32> = BTreeMap::new();
    let of_block = matches.chunk_by(|one, other| one.block == other.block);
    of_block
        .map(|matches| {
            let mut players: Vec<u32> =
                matches[0].seats.iter().map(|&(player, _)| player).collect();
            players.sort_unstable();
            let stratum = games[matches[0].game.as_str()];
            let repetition = repetitions.entry((stratum, players.clone())).or_default();
            *repetition += 1;
            let mean = |&player: &u32| {
                let seats = matches.iter().flat_map(|played| &played.seats);
                let own = seats.filter(|(other, _)| *other == player);
                let rewards: Option<Vec<f64>> =
                    own.map(|(_, reward)| reward.map(f64::from)).collect();
                rewards.map(|rewards| rewards.iter().sum::<f64>() / rewards.len() as f64)
            };
            let rewards = players.iter().map(mean).collect();
            PlayedBlock { stratum, repetition: *repetition - 1, players, rewards }
        })
        .collect()
}
