//! The parts of a lap of listed pairings, as a comparison of players has them.

use std::collections::BTreeMap;

use super::{Group, Schedule};

impl Schedule {
    /// Puts a lap in parts, each with its share of every pairing, and in each part
    /// the pairings of a set next to each other, rare ones last: matches that share a
    /// seed follow each other, so that they are played at nearly the same time and by
    /// one machine, and there are results long before the lap ends.
    pub(super) fn gather(&self, order: &mut [u32]) {
        if self.groups.iter().all(|group| group.set.is_none()) {
            return;
        }
        let mut first = BTreeMap::new();
        for (position, &block) in order.iter().enumerate() {
            first.entry(self.part_and_set_of(block)).or_insert(position);
        }
        order.sort_by_cached_key(|&block| {
            let key = self.part_and_set_of(block);
            (key.0, first[&key], self.is_rare(self.group_of(block)))
        });
    }

    /// The part of the lap that a block belongs to, and the key that groups the blocks
    /// of this part that are played together.
    fn part_and_set_of(&self, block: u32) -> (u32, [u64; 4]) {
        let group = self.group_of(block);
        let repetition = (u64::from(block) - group.first_block) / group.n_pairings;
        let (game, time_budget) = (group.game as u64, group.time_budget as u64);
        let (set, n_parts) = (u64::from(group.set.unwrap_or_default()), u64::from(self.n_parts));
        let game_weight = u64::from(self.plan.games[group.game].weight.max(1));
        // Rare pairings do not all fall into the same part.
        let offset = if self.is_rare(group) { game + time_budget + set } else { 0 };
        let part = (repetition * n_parts / u64::from(group.weight) + offset) % n_parts;
        let part = u32::try_from(part).expect("below their number");
        (part, [game, time_budget, set, repetition % game_weight])
    }

    /// Whether a part has fewer blocks of these pairings than of others of their set.
    fn is_rare(&self, group: &Group) -> bool {
        let game_weight = self.plan.games[group.game].weight.max(1);
        u64::from(group.weight) < u64::from(self.n_parts) * u64::from(game_weight)
    }

    /// Jobs of a lap after which each of its parts ends, ascending; the last is
    /// all of them. In each part what is compared is played equally often at each
    /// game and time budget. A schedule of unlisted pairings has one part.
    #[must_use]
    pub fn part_ends(&self) -> Vec<u64> {
        let mut n_jobs = vec![0; self.n_parts as usize];
        for group in &self.groups {
            let n_blocks = group.n_pairings * u64::from(group.weight);
            for block in group.first_block..group.first_block + n_blocks {
                let block = u32::try_from(block).expect("bounded by MAX_BLOCKS_PER_LAP");
                n_jobs[self.part_and_set_of(block).0 as usize] += group.matches_per_block;
            }
        }
        let mut sum = 0;
        let ends = n_jobs.into_iter().map(|n| {
            sum += n;
            sum
        });
        ends.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::super::{Job, PlannedPairing};
    use super::*;

    /// Base, head and canary against each of two opponents, at two games of which
    /// one weighs twice, under two clocks.
    #[test]
    fn what_is_compared_is_played_together_in_parts_of_a_lap() {
        let mut plan = plan(&[(2, 1), (2, 2)], 5, 2, 2);
        for compared in &mut plan.players[..3] {
            compared.draw_key = "compared".into();
        }
        let pairing = |player, opponent, weight| PlannedPairing {
            players: vec![player, opponent],
            weight,
            set: opponent as u32,
        };
        let listed: Vec<_> = [3, 4]
            .into_iter()
            .flat_map(|opponent| {
                [(0, 4), (1, 4), (2, 1)].map(|(player, weight)| pairing(player, opponent, weight))
            })
            .collect();
        plan.games.iter_mut().for_each(|game| game.pairings = Some(listed.clone()));
        let schedule = Schedule::new(plan).unwrap();
        let ends = schedule.part_ends();
        assert_eq!((ends.len(), ends[3]), (4, schedule.jobs_per_lap()));
        let jobs: Vec<Job> = schedule.jobs().take(ends[3] as usize).collect();
        let compared = |job: &Job| job.seats.iter().flatten().copied().min().unwrap();
        let mut first = 0;
        for end in ends {
            let part = &jobs[first as usize..end as usize];
            let mut n: BTreeMap<_, [u32; 3]> = BTreeMap::new();
            for job in part {
                n.entry((job.game, job.clocks.play)).or_default()[compared(job)] += 1;
            }
            for ((game, _), n) in n {
                let expected = 4 * (1 + game as u32);
                assert_eq!([n[0], n[1]], [expected; 2], "base and head in each part");
            }
            let n_canary = part.iter().filter(|job| compared(job) == 2).count();
            assert!((4..=8).contains(&n_canary), "the canary plays in all parts: {n_canary}");
            first = end;
        }
        // A base's block and the head's under the same chances are neighbours.
        let mut last: BTreeMap<_, usize> = BTreeMap::new();
        let mut n_pairs = 0;
        for (index, job) in jobs.iter().enumerate().filter(|(_, job)| compared(job) < 2) {
            if let Some(before) = last.insert((job.seed, job.rotation), index) {
                assert_eq!(index - before, 2, "{before} {index}");
                n_pairs += 1;
            }
        }
        assert_eq!(n_pairs, jobs.iter().filter(|job| compared(job) == 0).count());
    }
}
